/* Splits a stream of bytes into lines up to a stated length. A longer line is dropped and counted,
 * or cut, so a peer that never ends its line costs no more than the cap. */
#ifndef PROTO_BASE_LINES_H
#define PROTO_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
	char *text; /* owned; the line so far */
	size_t n, cap, max;
	bool cut;  /* hands over the first max bytes of a longer line instead of dropping it */
	bool over; /* the line so far is longer than max, or there was no memory for it */
	uint64_t dropped; /* lines that were longer than max, or met no memory */
};

/* line: without its newline, NUL-terminated (it may hold further NULs); borrowed until return. */
typedef void(lines_h)(const char *line, size_t len, void *arg);

void lines_init(struct lines *l, size_t max, bool cut);
/* Frees the buffer; the struct can be fed again. */
void lines_clear(struct lines *l);
/* Calls h for every line that ends in data. h must not feed or clear l. */
void lines_feed(struct lines *l, const void *data, size_t len, lines_h *h, void *arg);
/* The stream is over: a last line without a newline counts as one. */
void lines_end(struct lines *l, lines_h *h, void *arg);

#endif
