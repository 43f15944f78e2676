/* The parts of a fetcher: fetcher.c, the process and what the decoder asks for; transfer.c, the
 * requests of one transfer after the other; response.c, what comes back. For these three only. */
#ifndef MEDIAD_DECODER_FETCHER_INSIDE_H
#define MEDIAD_DECODER_FETCHER_INSIDE_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/http_guard.h"
#include "mediad/decoder/fetcher.h"
#include "mediad/decoder/range_wire.h"
#include "mediad/decoder/retry.h"
#include "mediad/decoder/segments.h"
#include "mediad/music/decoder_wire.h"
#include "proto/base/rate_limit.h"
#include "proto/http/icy.h"
#include "proto/http/validators.h"

enum {
	REQUESTS_FD = 0,
	TITLES_FD = 1,
	WINDOW = 256 << 10,
	HEAD = 64 << 10, /* bytes at the beginning that are kept */
	TITLES_KEPT = 8,
	TAIL = 128 << 10, /* and behind a place that the decoder has sought: an index at the end */
};

/* What a transfer reads. */
enum reads { READS_SOURCE, READS_LIST, READS_SEGMENT };

struct fetcher {
	const struct fetcher_start *start;
	CURLM *multi;
	CURL *easy;
	bool running;
	struct curl_slist *headers, *aliases;
	struct http_guard_watch watch;
	char url[DECODER_PATH_MAX + 1];	  /* after redirects */
	char named[DECODER_PATH_MAX + 1]; /* before them */
	unsigned redirects, retries;
	struct rate_limit rate;	 /* of all requests */
	struct rate_limit parts; /* of playlists and segments */
	enum reads reads;

	/* The window: source bytes [offset, offset + n). */
	uint64_t offset;
	uint64_t from; /* where the present response was asked to begin */
	size_t n;
	uint8_t bytes[WINDOW];
	bool paused, ended;
	enum decoder_reason failure;
	/* Demuxers look at the end of a source and come back, twice in mp4: no other request is
	 * needed then. */
	uint8_t head[HEAD], tail[TAIL];
	size_t n_head, n_tail;
	uint64_t tail_at; /* offset of the tail; 0: there is none */

	/* The source. */
	bool known; /* a response has come */
	bool live;  /* a radio station */
	bool seekable;
	bool again; /* it was read from its beginning once more */
	int64_t size;
	struct validators first, present; /* of the first response and this one */
	struct icy icy;
	char title[ICY_TITLE_MAX]; /* newest that has come */
	/* Of a station that sent sound ahead, they wait for what is before them to be read. */
	struct {
		uint64_t at; /* offset */
		char text[ICY_TITLE_MAX];
	} titles[TITLES_KEPT];
	unsigned n_titles;

	/* A stream in segments. */
	struct segments *segments; /* NULL: it is none */
	struct segments_next part; /* the segment under way */
	uint64_t part_got;	   /* bytes of it */
	uint64_t drop;	/* bytes that come before the next one that is wanted, of any source */
	unsigned empty; /* segments in a row without sound */

	struct retry retry; /* of a source that has broken */
	uint64_t moved;	    /* ns: when bytes came last */
	uint64_t alive_at;  /* ns: when the parent heard that we wait for a source */
	uint64_t look_at;   /* when there may be more to read; 0: at once */

	bool asked;
	struct range_request ask;
	struct range_answer answer;
};

/* ---- response.c ---- */
uint64_t fetcher_clock(void);
/* The status of the running transfer's response. */
long fetcher_status(const struct fetcher *f);
/* True for the status of a response that carries what was asked for. */
bool fetcher_is_sound(long status);
/* Sends the titles that are before what the decoder asks for. */
void fetcher_send_titles(struct fetcher *f);
/* Callbacks of curl; arg is the fetcher. */
size_t fetcher_on_header(char *line, size_t one, size_t n, void *arg);
size_t fetcher_on_bytes(char *data, size_t one, size_t n, void *arg);

/* ---- transfer.c ---- */
/* Requests the source from an offset on. */
void fetcher_start_transfer(struct fetcher *f, uint64_t offset);
/* Reads what has come. */
void fetcher_run_transfer(struct fetcher *f);
/* Tries a source that has broken again once that is due. */
void fetcher_try_again(struct fetcher *f);
/* Reads on in a stream of segments once there is room. */
void fetcher_read_segments(struct fetcher *f);
/* True if it would, were it time to look. */
bool fetcher_wants_segments(const struct fetcher *f);

#endif
