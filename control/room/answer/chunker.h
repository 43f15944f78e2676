/* Cuts an answer that is still being written into pieces that can be spoken: whole sentences, the
 * first of them soon.
 *
 *   so far                                          a piece ends
 *   `sentences` sentences, and for the first piece   at the end of the last of them
 *     at least `eager` bytes
 *   no sentence, with sentences = 1                 after `;` or `:`, under the same conditions
 *   `max` bytes                                     at the last blank before; without any, after a
 * whole character the end                                         there
 *
 * A sentence ends with . ! ? and the quotes and brackets that close behind it, before a blank; not
 * after an initial or a common abbreviation. A later piece of fewer than 24 bytes and fewer than 4
 * words waits for the next. Nothing is cut inside [[ ]]. Pieces are trimmed, never empty, and valid
 * UTF-8 whatever came. No allocation. */
#ifndef CONTROL_ROOM_ANSWER_CHUNKER_H
#define CONTROL_ROOM_ANSWER_CHUNKER_H

#include <stdbool.h>
#include <stddef.h>

enum {
	ROOM_CHUNK_MAX = 800, /* bytes: the most that `max` may be */
	ROOM_CHUNK_TINY = 24,
	ROOM_CHUNK_TINY_WORDS = 4,
};

/* text is terminated and borrowed for the call. */
typedef void(room_chunk_h)(const char *text, size_t n, void *arg);

struct room_chunker {
	unsigned sentences, eager, max;
	bool later;	/* the first piece is out */
	unsigned ended; /* sentences in buf */
	size_t end;	/* of the last of them, or of a clause */
	size_t n;
	char buf[ROOM_CHUNK_MAX + 4];
};

void room_chunker_init(struct room_chunker *c, unsigned sentences, unsigned eager, unsigned max);
void room_chunker_add(struct room_chunker *c, const char *text, size_t n, room_chunk_h *h,
		      void *arg);
/* All that is left, now. The next piece counts as a later one. */
void room_chunker_flush(struct room_chunker *c, room_chunk_h *h, void *arg);

#endif
