/* A fetcher: the process that reads one web source for one decoder process.
 *
 * It has the network and no secrets; the decoder has neither. It answers requests for bytes at
 * offsets (range_wire.h) from a window that it reads ahead, starts a new range request after a
 * seek, and connects again when a connection breaks. A source that is a playlist of segments (HLS)
 * is read as one of their bytes (segments.h), from the segment of the wanted frame on. http and
 * https alone, at most five redirects, and only addresses that web pages may have too
 * (ipc/http_guard.h), for each segment again; and a few requests a second, whatever playlists and
 * decoders ask for. Titles of radio streams go to its parent. */
#ifndef MEDIAD_DECODER_FETCHER_H
#define MEDIAD_DECODER_FETCHER_H

#include <stdint.h>
#include <sys/types.h>

struct http_guard;

/* A source that has played and broken is tried again; no sound is to be expected meanwhile. */
#define FETCHER_ALIVE "\0"
enum { FETCHER_ALIVE_SIZE = sizeof FETCHER_ALIVE };

struct fetcher_start {
	const char *url;
	const char *headers; /* lines that the URL's host wants (proto/http/stream_headers.h) */
	uint64_t start;	     /* frame that is wanted, of a stream in segments */
	const struct http_guard *guard;
	int requests; /* the fetcher's end of a SOCK_SEQPACKET pair to the decoder */
	int titles;   /* its end of a SOCK_SEQPACKET pair to the parent: each packet is a title with
			 its NUL, or FETCHER_ALIVE */
	void *rings;  /* memory that it unmaps */
	size_t rings_size;
	void *videos; /* the same; may be NULL */
	size_t videos_size;
};

/* Once per process, before the first fork. 0, or errno of a failure. */
int fetcher_prepare(void);
/* The descriptors stay the caller's. Errors of fork. */
int fetcher_fork(pid_t *pid, const struct fetcher_start *start);

#endif
