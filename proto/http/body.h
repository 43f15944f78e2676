/* The body of an HTTP/1.1 request as it comes (RFC 9112 sections 6 and 7): by length, or in chunks.
 *
 * A decoder takes any cut of the bytes and says which of them are body. Chunk sizes are at most 8
 * hexadecimal digits and nothing else; extensions are skipped and trailer fields dropped, both
 * together up to a cap; lines end in CRLF only. The decoder stops at the end of the body: what
 * follows belongs to the next request. */
#ifndef PROTO_HTTP_BODY_H
#define PROTO_HTTP_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_BODY_EXTRA = 4096 /* bytes of extensions and trailer fields */ };

struct http_body {
	enum http_body_state {
		HTTP_BODY_DATA, /* `left` bytes of the body, or of a chunk */
		HTTP_BODY_DATA_CR,
		HTTP_BODY_DATA_LF,
		HTTP_BODY_SIZE,
		HTTP_BODY_EXTENSION,
		HTTP_BODY_SIZE_LF,
		HTTP_BODY_TRAILER, /* at the start of a line */
		HTTP_BODY_TRAILER_FIELD,
		HTTP_BODY_TRAILER_LF,
		HTTP_BODY_LAST_LF,
		HTTP_BODY_END,
	} state;
	bool chunked;
	unsigned digits;
	unsigned extra;
	uint64_t left;
};

void http_body_init(struct http_body *b, bool chunked, uint64_t length);
/* Takes bytes up to the end of the next run of body bytes, which *data and *n tell (0 bytes: none
 * in these). Returns how many of len were taken, or -1: malformed. To be called again while it
 * takes any. */
long http_body_feed(struct http_body *b, const uint8_t *p, size_t len, const uint8_t **data,
		    size_t *n);
static inline bool http_body_ended(const struct http_body *b)
{
	return b->state == HTTP_BODY_END;
}

#endif
