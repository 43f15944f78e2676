/* Talking: one worker thread with the voice, and a queue of lines to say.
 *
 * All calls are made on the loop thread; sound comes as letters (mailbox.h), inside a step. Ids are
 * the caller's. */
#ifndef OFFLINE_TALKING_H
#define OFFLINE_TALKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct talking;

/* Sound of a line in order, 24 kHz s16 mono; piece: the words that begin here or "". After last
 * nothing follows; a line that could not be said ends with last and no sound. Borrowed. */
typedef void(talking_h)(uint64_t id, const int16_t *pcm, size_t n, const char *piece, bool last,
			void *arg);

/* ENOMEM. Caller owns *out. */
int talking_alloc(struct talking **out, struct env *env, talking_h *h, void *arg);
struct talking *talking_free(struct talking *t);
/* text and voice are copied. ENOMEM. */
int talking_say(struct talking *t, uint64_t id, const char *text, const char *voice, double speed);
/* What is still to come of it is not made; letters on their way may still arrive. */
void talking_stop(struct talking *t, uint64_t id);
/* The same for all whose id has this high half. */
void talking_stop_owner(struct talking *t, uint32_t owner);

#endif
