/* Vectors for the memory by a provider of role embed, in place of the embedded encoder.
 *
 *   state     input                                         next
 *   NEW       the timer                                     PROBING: one word of ours tells the
 *                                                           model's dimension
 *   PROBING   a vector                                      IDLE: the store gets the encoder's name
 *   IDLE      the timer, EMBEDDINGS_PAUSE_S after it        READING: asks the store for texts
 *             found none, or EMBEDDINGS_BATCH_S after a
 *             batch
 *   READING   texts                                         ASKED: one request with all of them
 *   READING   none                                          IDLE
 *   ASKED     vectors                                       KEEPING, then IDLE
 *   PROBING,  no answer                                     NEW or IDLE, after a backoff
 *   ASKED
 *
 * Texts are lines whose speakers had agreed to be remembered, and facts. Vectors of another model
 * or dimension than the probe's are not kept. Questions are asked beside, and their searches go on
 * with words alone when the vector is not there in time. Nothing is made without a provider of role
 * embed, or when the day's budget is spent. Everything runs on env's loop thread. */
#ifndef CONTROL_EMBEDDINGS_EMBEDDINGS_H
#define CONTROL_EMBEDDINGS_EMBEDDINGS_H

#include <stdbool.h>
#include <stdint.h>

struct bus;
struct embeddings_client;
struct env;
struct http;
struct ledger;
struct settings;
struct store;
struct ws_ctx;

enum {
	EMBEDDINGS_PAUSE_S = 5,
	EMBEDDINGS_BATCH_S = 1,
	EMBEDDINGS_QUESTION_MS = 2000, /* for a question that names no time */
	EMBEDDINGS_QUESTIONS = 8,      /* under way at once; others use words alone */
};

/* All is borrowed. */
struct embeddings_conf {
	struct env *env;
	struct http *http;
	struct ws_ctx *ws;
	const struct settings *settings;
	struct store *store;
	struct ledger *ledger; /* NULL: nobody counts */
	struct bus *bus;       /* where costs are told */
	/* Returns true if this person's words may be sent. NULL: everybody's. */
	bool (*allowsh)(uint64_t guild, uint64_t user, void *arg);
	void *arg;
};

/* *out stays NULL without a provider of role embed. ENOMEM. The caller owns *out and frees it
 * before the store. */
int embeddings_alloc(struct embeddings_client **out, const struct embeddings_conf *conf);
/* NULL accepted. */
struct embeddings_client *embeddings_free(struct embeddings_client *c);

#endif
