/* The audio of one utterance, kept until its transcript is there, and how much of it was sent
 * (transcribe_session.h).
 *
 * Lists are the owner's: next is for it alone. Each function takes `total`, the bytes that all
 * utterances together hold, which it keeps up to date. */
#ifndef CONTROL_ENGINE_UTTERANCE_AUDIO_H
#define CONTROL_ENGINE_UTTERANCE_AUDIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTTERANCE_AUDIO_MAX = 60 * 48000 /* bytes: a minute at 24 kHz */ };

struct utterance_audio {
	struct utterance_audio *next;
	uint32_t utterance;
	uint8_t *pcm;
	size_t n, cap, sent;
	bool begun, ended, committed; /* ended: it is to be committed, committed: it was */
};

/* At the end of the list. NULL without memory. */
struct utterance_audio *utterance_audio_alloc(struct utterance_audio **list, uint32_t utterance);
/* Takes *at out of its list. */
void utterance_audio_free(struct utterance_audio **at, size_t *total);
/* Beyond UTTERANCE_AUDIO_MAX the oldest second goes. ENOMEM; ENOBUFS: all together would hold more
 * than `most`. */
int utterance_audio_append(struct utterance_audio *x, const uint8_t *pcm, size_t n, size_t *total,
			   size_t most);
/* Drops the oldest n bytes, or all; how many. */
size_t utterance_audio_drop(struct utterance_audio *x, size_t n);
/* Nothing of it was sent. */
void utterance_audio_rewind(struct utterance_audio *x);

#endif
