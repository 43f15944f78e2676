/* The thread that embeds texts, and the texts on their way to it and back. For embedding.c. */
#ifndef CONTROL_STORE_EMBEDDING_QUEUE_H
#define CONTROL_STORE_EMBEDDING_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/memory/vectors.h"

struct embedding_queue;

struct embedding_item {
	struct embedding_item *next;
	int kind;
	uint64_t id;
	bool found; /* vector is set; otherwise the text has none */
	struct vector vector;
	char text[];
};

/* Wipes the text. */
void embedding_item_free(struct embedding_item *item);

/* bytes: the encoder's file, borrowed. Errors of embedder_alloc, EAGAIN. The caller owns *out. */
int embedding_queue_alloc(struct embedding_queue **out, const uint8_t *bytes, size_t n);
/* Waits for the text that is being embedded. NULL accepted. */
struct embedding_queue *embedding_queue_free(struct embedding_queue *q);
/* Copies the text; "" comes back without a vector. ENOMEM. */
int embedding_queue_put(struct embedding_queue *q, int kind, uint64_t id, const char *text);
/* Takes the finished items, in the order in which they were put. The caller owns the list. */
struct embedding_item *embedding_queue_take(struct embedding_queue *q);
/* Items that were put and not taken. */
size_t embedding_queue_count(struct embedding_queue *q);
/* Until all that was put is ready. */
void embedding_queue_wait(struct embedding_queue *q);

#endif
