/* A pool of worker threads with a recogniser each, and a queue of utterances for them.
 *
 * An utterance takes a free recogniser and is decoded while it is being spoken; until then its
 * sound waits. An utterance without sound for a while gives its recogniser to a waiting one and
 * starts over later. All calls are made on the loop thread; results come as messages (mailbox.h),
 * inside a step. The caller chooses unique ids. */
#ifndef OFFLINE_HEARING_H
#define OFFLINE_HEARING_H

#include "control/offline/recogniser.h"

struct env;
struct recogniser_pool;

/* heard is borrowed; NULL when the recogniser failed. */
typedef void(recogniser_pool_h)(uint64_t id, const struct recognition *heard, void *arg);

struct recogniser_pool_conf {
	unsigned recognisers; /* threads, 1 … 8 */
	struct recogniser_conf recogniser;
	recogniser_pool_h *h;
	void *arg;
};

/* Loads the models in parallel, one recogniser per thread. Errors and why: see recogniser_alloc.
 * Caller owns *out. */
int recogniser_pool_alloc(struct recogniser_pool **out, struct env *env,
			  const struct recogniser_pool_conf *conf, const char **why);
struct recogniser_pool *recogniser_pool_free(struct recogniser_pool *h);

/* EEXIST, ENOMEM. */
int recogniser_pool_begin(struct recogniser_pool *h, uint64_t id);
/* 24 kHz s16 mono, copied. Sound past a minute is dropped. ENOENT, ENOMEM. */
int recogniser_pool_feed(struct recogniser_pool *h, uint64_t id, const int16_t *pcm, size_t n);
/* The handler is called once. ENOENT. */
int recogniser_pool_end(struct recogniser_pool *h, uint64_t id);
/* Drops the utterance; the handler is not called. */
void recogniser_pool_drop(struct recogniser_pool *h, uint64_t id);
/* Drops all utterances whose id has this upper half. */
void recogniser_pool_drop_owner(struct recogniser_pool *h, uint32_t owner);

#endif
