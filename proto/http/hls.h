/* Playlists of HTTP Live Streaming (RFC 8216): which parts of a stream there are, and where.
 *
 * A master playlist lists variants of one stream, of which hls_choose finds the one for a listener;
 * a media playlist lists segments, which hls_next walks through. Segments that are encrypted are
 * none of ours. What the text does not say as the RFC wants it is left out. Everything borrows the
 * text, which strangers wrote. Pure. */
#ifndef PROTO_HTTP_HLS_H
#define PROTO_HTTP_HLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/cursor.h"

enum {
	HLS_TEXT_MAX = 4 << 20, /* bytes of a playlist */
	HLS_SEGMENTS_MAX = 20000,
	HLS_SEGMENT_MAX_S = 3600,
	HLS_SOUND_BITS = 320000,   /* bits a second of a variant of sound alone, at most */
	HLS_PICTURE_BITS = 1000000 /* of one with a picture, which is not looked at */
};

/* Bytes of a resource: all of it if length is 0. */
struct hls_part {
	struct slice uri;
	uint64_t from, length;
};

struct hls_segment {
	struct hls_part part;
	struct hls_part map;   /* what precedes the first segment after it; no uri: nothing does */
	uint64_t sequence;     /* number of the segment in its stream */
	uint64_t microseconds; /* that it lasts */
	bool gap;	       /* it is missing */
};

struct hls {
	struct slice text;
	bool master;
	bool ended;	    /* no segment will follow */
	unsigned segments;  /* of a media playlist */
	uint64_t sequence;  /* of the first segment */
	uint64_t us;	    /* that all segments last */
	uint64_t target_us; /* that a segment lasts at most */
	/* The walk. */
	struct slice rest;
	uint64_t next;
	struct hls_part map, before;
};

/* True if a source that begins so may be such a playlist. */
bool hls_begins(const uint8_t *head, size_t n);
/* Reads a playlist and stands before its first segment. EMSGSIZE: too long; EBADMSG: it is none, or
 * lists nothing; ENOTSUP: its segments are encrypted. */
int hls_open(struct hls *h, struct slice text);
/* The next segment of a media playlist; false behind the last. */
bool hls_next(struct hls *h, struct hls_segment *out);
/* The address of a master's variant or rendition that is to be heard: of sound alone if there is
 * one, of the most bits that the limits above allow, or else of the fewest. False: there is none.
 */
bool hls_choose(const struct hls *h, struct slice *uri);

#endif
