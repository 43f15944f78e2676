/* One worker thread for speech synthesis, and a queue of lines to speak.
 *
 * All calls are made on the loop thread; sound comes as messages (mailbox.h), inside a step. The
 * caller chooses the ids. */
#ifndef OFFLINE_TALKING_H
#define OFFLINE_TALKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct speech_queue;

/* Sound of a line in order, 24 kHz s16 mono; piece: the words that begin here or "". After last
 * nothing follows; a line that could not be said ends with last and no sound. Borrowed. */
typedef void(speech_queue_h)(uint64_t id, const int16_t *pcm, size_t n, const char *piece,
			     bool last, void *arg);

/* ENOMEM. Caller owns *out. */
int speech_queue_alloc(struct speech_queue **out, struct env *env, speech_queue_h *h, void *arg);
struct speech_queue *speech_queue_free(struct speech_queue *t);
/* text and voice are copied. ENOMEM. */
int speech_queue_say(struct speech_queue *t, uint64_t id, const char *text, const char *voice,
		     double speed);
/* Stops the synthesis of a line; messages already posted may still arrive. */
void speech_queue_stop(struct speech_queue *t, uint64_t id);
/* The same for all lines whose id has this upper half. */
void speech_queue_stop_owner(struct speech_queue *t, uint32_t owner);

#endif
