/* The order in which a fetcher reads a stream in segments (HLS, proto/http/hls.h): its playlists,
 * and then one segment after the other, so that their bytes are one source.
 *
 * A stream that has ended begins at the segment of a wanted place, and lasts a known time. A live
 * one begins three segments before its end, and its playlist is read again as it grows; segments
 * that have left it are passed over. Does no I/O: the caller reads what segments_next names. */
#ifndef MEDIAD_DECODER_SEGMENTS_H
#define MEDIAD_DECODER_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mediad/music/decoder_wire.h"

struct segments;

enum segments_what {
	SEGMENTS_LIST,	/* read a playlist: segments_add_text, then segments_end_text */
	SEGMENTS_SOUND, /* read a part of the source */
	SEGMENTS_LATER, /* ask again at this time */
	SEGMENTS_OVER,	/* the source has ended */
};

struct segments_next {
	enum segments_what what;
	char url[DECODER_PATH_MAX + 1];
	uint64_t from, length; /* bytes of it; length 0: to its end */
	uint64_t at;	       /* ns, of LATER */
};

/* start: the frame that is wanted. ENOMEM. Caller owns *out. */
int segments_alloc(struct segments **out, uint64_t start);
struct segments *segments_free(struct segments *s);

/* A playlist's bytes. EMSGSIZE: there are too many. */
int segments_add_text(struct segments *s, const void *data, size_t n);
/* The playlist is whole, read at this URL, where it is the answer to one that was `named`. Returns
 * DECODER_REASON_UNKNOWN, or why the stream cannot be played. */
enum decoder_reason segments_end_text(struct segments *s, const char *named, const char *url,
				      uint64_t now);
/* The playlist was not read: what was added of it is forgotten. */
void segments_drop_text(struct segments *s);
/* What is to be read next. Returns DECODER_REASON_UNKNOWN, or a failure: an address that is too
 * long or malformed. */
enum decoder_reason segments_next(struct segments *s, uint64_t now, struct segments_next *out);

/* Frame of the stream at which the first segment begins. */
uint64_t segments_begin(const struct segments *s);
/* Frames of the whole stream; 0: it is live. */
uint64_t segments_length(const struct segments *s);

#endif
