/* Finds the tracks that somebody asks for: by words in the music library or by the user's own
 * yt-dlp, by an address of the web, and the stream of a page when it is to be played.
 *
 *   request                            found
 *   words, a library                   its hits, the best first
 *   words, without a hit there         hits of YouTube, if music_downloader names a program
 *   - or none with MUSIC_MATCH_SURE    both, the best first; without an answer those of the library
 *   words for youtube, soundcloud      hits of that site alone
 *   an address of sound                one track: a file, or a radio station without an end
 *   an address of a playlist           its tracks (control/music/playlist.h)
 *   an address of segments (HLS)       one track: a file, or a stream without an end
 *   an address of a page               what the program finds there; without one the clause
 *                                      MUSIC_NO_DOWNLOADER, if the page is of a site that it visits
 *   a track whose reference is a page  the address of its stream
 *
 * An address is http or https and goes past the guard (ipc/http_guard.h) with each redirect; only
 * its first bytes are read, a playlist whole, all in MUSIC_LOOK_MS. Without music_web an address
 * goes to the program alone, if it is of a site that it visits. The program runs in the sandbox
 * (control/jail) with the network, MUSIC_DOWNLOADS at once, one for each person, and for
 * MUSIC_DOWNLOAD_MS at most; what it found stays known for MUSIC_KNOWN_S. It is off unless the
 * settings name it. Everything runs on env's loop thread.
 */
#ifndef CONTROL_MUSIC_SOURCES_MUSIC_SOURCES_H
#define CONTROL_MUSIC_SOURCES_MUSIC_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/library/index.h"

struct env;
struct library;
struct media_folder;
struct music_request;
struct music_sources;
struct settings;

enum {
	MUSIC_REQUESTS = 32,	  /* words and addresses; streams have places of their own */
	MUSIC_GUILD_REQUESTS = 8, /* of one server, of words and of addresses each */
	MUSIC_USER_REQUESTS = 4,  /* of one person */
	MUSIC_ADDRESS_MAX = 2048,
	MUSIC_PROBE_MS = 8000, /* for one answer */
	MUSIC_LOOK_MS = 15000, /* for what is behind an address, redirects and all */
	MUSIC_REDIRECTS = 5,
	MUSIC_DOWNLOADS = 2,
	MUSIC_DOWNLOAD_MS = 15000,	/* of a program that runs */
	MUSIC_DOWNLOAD_WAIT_MS = 45000, /* for its turn */
	MUSIC_KNOWN_S = 300,
};

/* Why neither the page of such a site nor a track of one can be played. */
#define MUSIC_NO_DOWNLOADER "there is no downloader for its site"

enum music_platform { MUSIC_ANYWHERE, MUSIC_LIBRARY, MUSIC_YOUTUBE, MUSIC_SOUNDCLOUD };

struct music_found {
	const char *why; /* NULL: found; else a clause for people: "no track fits" */
	bool machine;	 /* why is about this machine: no other page of a program would be found */
	bool passes;	 /* why is about the way to the site: the same may be found later */
	const struct library_hit *hits;
	size_t n;
	bool list;	     /* they are the entries of a playlist, in its order */
	const char *stream;  /* of music_sources_stream: its address, and the header lines ... */
	const char *headers; /* ... that its server wants (proto/http/stream_headers.h); or "" */
};
/* Everything is borrowed until return. Other requests may be made and cancelled in it. */
typedef void(music_found_h)(const struct music_found *found, void *arg);

/* env, library (NULL: none) and settings are borrowed. ENOMEM. The caller owns *out and frees it
 * before the library. */
int music_sources_alloc(struct music_sources **out, struct env *env, struct library *library,
			const struct settings *settings);
/* No handler is called any more. NULL accepted. */
struct music_sources *music_sources_free(struct music_sources *s);
/* As library_folder. */
const struct media_folder *music_sources_folder(const struct music_sources *s, unsigned root);
/* True if the settings allow that this address is read. */
bool music_sources_may_read(const struct music_sources *s, const char *url);
/* True if words can be searched for; if addresses of the web can be played. */
bool music_sources_search(const struct music_sources *s);
bool music_sources_web(const struct music_sources *s);

/* Who asks. user: 0 is the bot itself, without a limit of its own. */
struct music_asker {
	uint64_t guild, user;
};
struct music_words {
	struct music_asker asker;
	const char *words;
	enum music_platform platform;
	size_t most;  /* tracks that are told */
	bool doubted; /* the best of the library is not enough unless it is sure */
};
/* Each of them: the handler is called once, never from inside. ENOSPC: MUSIC_REQUESTS or
 * MUSIC_GUILD_REQUESTS are under way; EDQUOT: MUSIC_USER_REQUESTS of this user are; ENOTSUP: the
 * settings have no such source; EINVAL, ENAMETOOLONG, ENOMEM. *out is valid until the handler is
 * called. */
int music_sources_words(struct music_request **out, struct music_sources *s,
			const struct music_words *wanted, music_found_h *h, void *arg);
int music_sources_address(struct music_request **out, struct music_sources *s,
			  struct music_asker asker, const char *url, music_found_h *h, void *arg);
/* A room waits for it: it is in none of these limits. track: YOUTUBE, SOUNDCLOUD, or another page
 * of the program's. */
int music_sources_stream(struct music_request **out, struct music_sources *s,
			 const struct track *track, music_found_h *h, void *arg);
/* The stream that is known of this page does not work any more. */
void music_sources_forget(struct music_sources *s, const struct track *track);
/* Its handler is not called any more. NULL accepted. */
void music_request_cancel(struct music_request *r);

#endif
