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

struct embeddings_client;
struct model_conf;

enum {
	EMBEDDINGS_PAUSE_S = 5,
	EMBEDDINGS_BATCH_S = 1,
	EMBEDDINGS_QUESTION_MS = 2000, /* for a question that names no time */
	EMBEDDINGS_QUESTIONS = 8,      /* under way at once; others use words alone */
};

/* *out stays NULL without a provider of role embed. ENOMEM. conf is copied, its pointers are
 * borrowed. The caller owns *out and frees it before the store. */
int embeddings_alloc(struct embeddings_client **out, const struct model_conf *conf);
/* NULL accepted. */
struct embeddings_client *embeddings_free(struct embeddings_client *c);

#endif
