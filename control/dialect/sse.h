/* Server-sent events, as the HTML standard reads them, from bytes that come in any pieces: lines
 * end with LF, CR or both, the data lines of an event are joined, an empty line ends it. Names, ids
 * and comments are passed over. */
#ifndef CONTROL_DIALECT_SSE_H
#define CONTROL_DIALECT_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SSE_MAX = 1 << 20 }; /* of one event's data */

struct sse {
	char *data;
	size_t n, cap;
	char field[8]; /* the name of the line's field, as far as it matters */
	size_t name;   /* of its bytes */
	enum { SSE_NAME, SSE_BLANK, SSE_VALUE, SSE_SKIP } at;
	bool has;   /* there were data lines */
	bool after; /* a CR, with which an LF is one */
	unsigned bom;
};

/* The data of one event, borrowed until return. False: nothing more is wanted. */
typedef bool(sse_h)(const uint8_t *data, size_t n, void *arg);

/* A struct of zeros is ready. EMSGSIZE an event is too big, ENOMEM, ECANCELED the handler wants no
 * more; after each the rest means nothing. */
int sse_feed(struct sse *s, const void *bytes, size_t n, sse_h *h, void *arg);
void sse_clear(struct sse *s);

#endif
