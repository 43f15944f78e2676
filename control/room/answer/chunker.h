/* Cuts an answer that is still being generated into chunks for text-to-speech: whole sentences,
 * with a short first chunk for low latency.
 *
 *   text so far                                     a chunk ends
 *   `sentences` sentences, and for the first chunk  at the end of the last of them
 *   at least `eager` bytes
 *   no sentence, with sentences = 1                 after `;` or `:`, under the same conditions
 *   the first chunk is late (relaxed)               after any sentence or `,` `;` `:`, from 8 bytes
 * on `max` bytes                                     at the last blank; without any, after a
 *                                                   character
 *   the answer is complete                          there
 *
 * A sentence ends with . ! ? and the closing quotes and brackets behind it, before a blank; not
 * after an initial or a common abbreviation. A later chunk of fewer than 24 bytes and fewer than 4
 * words waits for the next one. Nothing is cut inside [[ ]]. Chunks are trimmed, have a letter or a
 * digit, and are valid UTF-8 for any input; smileys and dots alone are left out. No allocation. */
#ifndef CONTROL_ROOM_ANSWER_CHUNKER_H
#define CONTROL_ROOM_ANSWER_CHUNKER_H

#include <stdbool.h>
#include <stddef.h>

enum {
	ROOM_CHUNK_MAX = 800, /* bytes, the upper limit of `max` */
	ROOM_CHUNK_TINY = 24,
	ROOM_CHUNK_TINY_WORDS = 4,
	ROOM_CHUNK_RELAXED = 8, /* bytes that a first chunk has at least when it is late */
};

/* text is terminated and borrowed for the call. */
typedef void(room_chunk_h)(const char *text, size_t n, void *arg);

struct room_chunker {
	unsigned sentences, eager, max;
	bool later;	/* the first chunk was emitted */
	bool relaxed;	/* it is late */
	unsigned ended; /* sentences in buf */
	size_t end;	/* end of the last sentence or clause, in buf */
	size_t n;
	char buf[ROOM_CHUNK_MAX + 4];
};

void room_chunker_init(struct room_chunker *c, unsigned sentences, unsigned eager, unsigned max);
/* The first chunk is late: it ends as early as it can be read out. */
void room_chunker_relax(struct room_chunker *c);
void room_chunker_add(struct room_chunker *c, const char *text, size_t n, room_chunk_h *h,
		      void *arg);
/* Emits the rest at once. The next chunk counts as a later one. */
void room_chunker_flush(struct room_chunker *c, room_chunk_h *h, void *arg);

#endif
