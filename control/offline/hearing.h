/* Hearing: worker threads with an ear each, and a queue of utterances for them.
 *
 * An utterance takes an ear when one is free and is decoded while it is still being spoken; until
 * then its sound waits. One that gets no sound for a while gives its ear back to whoever waits, and
 * begins again later. All calls are made on the loop thread; results come as letters (mailbox.h),
 * inside a step. Ids are the caller's, unique. */
#ifndef OFFLINE_HEARING_H
#define OFFLINE_HEARING_H

#include "control/offline/ear.h"

struct env;
struct hearing;

/* heard is borrowed; NULL when the ear failed. */
typedef void(hearing_h)(uint64_t id, const struct ear_hearing *heard, void *arg);

struct hearing_conf {
	unsigned ears; /* threads, 1 … 8 */
	struct ear_conf ear;
	hearing_h *h;
	void *arg;
};

/* Loads the models, one ear a thread, in parallel. As ear_alloc; why as there. Caller owns *out. */
int hearing_alloc(struct hearing **out, struct env *env, const struct hearing_conf *conf,
		  const char **why);
struct hearing *hearing_free(struct hearing *h);

/* EEXIST, ENOMEM. */
int hearing_begin(struct hearing *h, uint64_t id);
/* 24 kHz s16 mono, copied. Sound past a minute is dropped. ENOENT, ENOMEM. */
int hearing_feed(struct hearing *h, uint64_t id, const int16_t *pcm, size_t n);
/* The handler is called once. ENOENT. */
int hearing_end(struct hearing *h, uint64_t id);
/* Forgets it; the handler is not called. */
void hearing_drop(struct hearing *h, uint64_t id);
/* Forgets all whose id has this high half. */
void hearing_drop_owner(struct hearing *h, uint32_t owner);

#endif
