/* Ducking: music is lowered while speech sounds, and before it does.
 *
 * The gain falls to its depth in DUCK_ATTACK_MS once speech is about to play. It stays there for
 * DUCK_HOLD_MS after the last speech, so that the music does not rise between two sentences, and
 * then returns in DUCK_RELEASE_MS; both ramps are straight in dB. Speech that begins over
 * music waits until the gain has arrived. While no music sounds the gain moves at once. Plain
 * memory of its owner; call duck_init before use. */
#ifndef MEDIAD_AUDIO_DUCK_H
#define MEDIAD_AUDIO_DUCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DUCK_DEPTH = 150, /* thousandths: -16.5 dB */
	DUCK_UNITY = 1000,
	DUCK_ATTACK_MS = 80,
	DUCK_HOLD_MS = 600,
	DUCK_RELEASE_MS = 600,
};

struct duck {
	float gain, depth, attack, release; /* attack, release: factor a sample */
	unsigned quiet;	   /* frames since the last speech, as far as DUCK_HOLD_MS */
	float gain_before; /* gain and quiet, before the last frame */
	unsigned quiet_before;
	bool down, holds;
};

void duck_init(struct duck *d);
/* Thousandths, 0..DUCK_UNITY, clamped; DUCK_UNITY leaves music as it is. */
void duck_set_depth(struct duck *d, uint16_t depth);
/* A frame begins. speech: some plays in it or waits to. music: some sounded in the last frame. */
void duck_begin_frame(struct duck *d, bool speech, bool music);
/* True if music is not down yet where the frame begins: speech that has not begun waits. */
bool duck_holds_speech(const struct duck *d);
/* Applies the gain to n samples of each channel. */
void duck_run(struct duck *d, float *left, float *right, size_t n);
/* Takes back the last frame. */
void duck_undo(struct duck *d);

#endif
