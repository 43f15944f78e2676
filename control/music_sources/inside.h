/* The parts of music_sources.h: music_sources.c, requests and the library; address.c, what is
 * behind an address; download.c, the user's program. For control/music_sources only. */
#ifndef CONTROL_MUSIC_SOURCES_INSIDE_H
#define CONTROL_MUSIC_SOURCES_INSIDE_H

#include "control/music/ytdlp.h"
#include "control/music_sources/music_sources.h"

struct child;
struct http;
struct http_guard;
struct http_req;
struct reaper;
struct sandbox;
struct tmr;

enum { MUSIC_WHY_MAX = 160, MUSIC_KNOWN = 32 };

struct music_request {
	struct music_sources *s;
	struct music_request *next;
	music_found_h *h;
	void *arg;
	struct tmr *timer; /* ends it: at once with `why`, or as too late */
	enum music_request_kind { REQUEST_WORDS, REQUEST_ADDRESS, REQUEST_STREAM } kind;
	enum music_platform platform;
	struct music_asker asker;
	size_t most;
	char text[MUSIC_ADDRESS_MAX]; /* the words, or the address */
	char why[MUSIC_WHY_MAX];      /* "": it is under way */
	bool machine;		      /* why is the fault of this machine */
	bool passes;		      /* why is the fault of the way to the site */

	struct library_hit *hits; /* found so far */
	size_t n, room;
	size_t unsure; /* hits of the library that are told if nothing else is found */
	bool doubted, list;
	char stream[YTDLP_ADDRESS_MAX], headers[STREAM_HEADERS_MAX + 1];

	/* address.c */
	struct http_req *http;
	char at[MUSIC_ADDRESS_MAX]; /* after redirects */
	unsigned redirects;
	char *body; /* of a playlist */
	size_t body_n;
	char station[TRACK_TITLE_MAX];
	bool playlist;
	bool variant; /* of a stream in segments: its master playlist has been read */

	/* download.c */
	bool waits; /* for the sandbox, or for another download to end */
	struct child *child;
	size_t read; /* bytes of its output */
	char errors[1024];
};

struct music_sources {
	struct env *env;
	struct library *library;
	const struct settings *settings;
	struct music_request *requests; /* the newest first */
	struct http_guard *guard; /* these two: made for the first address, and anew for others */
	struct http *http;
	struct sandbox *sandbox; /* these two: made for the first download */
	struct reaper *reaper;
	bool missing_told; /* the log has that the downloader is not there */
	struct music_known {
		uint64_t until; /* 0: a free place */
		char page[TRACK_REFERENCE_MAX];
		char stream[YTDLP_ADDRESS_MAX], headers[STREAM_HEADERS_MAX + 1];
	} * known; /* MUSIC_KNOWN streams; NULL until the first */
};

/* ---- music_sources.c ---- */
/* Ends it: with what was found so far, or (why not NULL) with nothing. The request is gone. */
void music_request_end(struct music_request *r, const char *why);
/* The same where nothing more comes: with the unsure hits of the library, or (none) with nothing.
 */
void music_request_lose(struct music_request *r, const char *why);
/* A copy of the track becomes another hit. ENOMEM. */
int music_request_add(struct music_request *r, const struct track *track, unsigned score);
/* The same end once the running event is over. */
void music_request_fail(struct music_request *r, const char *why);

/* ---- address.c ---- */
void music_address_begin(struct music_request *r);
void music_address_clear(struct music_request *r);

/* ---- download.c ---- */
/* True if the settings name a program. */
bool music_download_wanted(const struct music_sources *s);
/* True for an address of a site that the program visits. */
bool music_download_visits(const char *url);
void music_download_begin(struct music_request *r);
void music_download_clear(struct music_request *r);

#endif
