/* Keeps the sound of utterances until their turn is over, so that a voice that hears can be sent
 * the sound of the admitted speaker (reply path native).
 *
 * Memory is capped: beyond UTTERANCE_SOUND_BYTES the oldest utterances go, and one that would be
 * alone beyond it keeps its beginning. Pure; everything is copied. */
#ifndef CONTROL_AGENT_UTTERANCE_SOUND_H
#define CONTROL_AGENT_UTTERANCE_SOUND_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/cursor.h"

struct utterance_sound;

enum { UTTERANCE_SOUND_BYTES = 4 << 20, UTTERANCE_SOUNDS = 64 };

/* ENOMEM. Caller owns *out. */
int utterance_sound_alloc(struct utterance_sound **out);
struct utterance_sound *utterance_sound_free(struct utterance_sound *s);
/* More of an utterance (never 0). What there is no memory for is dropped. */
void utterance_sound_add(struct utterance_sound *s, uint32_t utterance, struct slice pcm);
/* All of it so far, borrowed until the next call of add or drop; empty when it is not kept. */
struct slice utterance_sound_get(const struct utterance_sound *s, uint32_t utterance);
void utterance_sound_drop(struct utterance_sound *s, uint32_t utterance);

#endif
