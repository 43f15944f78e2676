/* Ducking: music is lowered while speech sounds, and before it does.
 *
 * The gain falls to its depth in the time of the attack once speech is about to play. It stays
 * there for the time of the hold after the last speech, so that the music does not rise between two
 * sentences, and then returns in the time of the release; both ramps are straight in dB. Speech
 * that begins over music waits until the gain has arrived. While no music sounds the gain moves at
 * once. Plain memory of its owner; call duck_init before use. */
#ifndef MEDIAD_AUDIO_DUCK_H
#define MEDIAD_AUDIO_DUCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DUCK_UNITY = 1000,
	DUCK_ATTACK_MAX_MS = 1000,
	DUCK_HOLD_MAX_MS = 5000,
	DUCK_RELEASE_MAX_MS = 10000,
};

struct duck_conf {
	uint16_t depth; /* thousandths, 0..DUCK_UNITY; DUCK_UNITY leaves music as it is */
	uint16_t attack_ms, hold_ms, release_ms; /* 0: at the next sample, or not at all */
};
/* What duck_init sets: -16.5 dB. */
#define DUCK_DEFAULT                                                                               \
	((struct duck_conf){.depth = 150, .attack_ms = 80, .hold_ms = 600, .release_ms = 600})

struct duck {
	float gain, depth, attack, release; /* attack, release: factor a sample */
	unsigned hold;			    /* frames */
	unsigned quiet;			    /* frames since the last speech, as far as hold */
	float gain_before;		    /* gain and quiet, before the last frame */
	unsigned quiet_before;
	bool down, holds;
};

void duck_init(struct duck *d);
/* Clamped to the limits above. */
void duck_set(struct duck *d, const struct duck_conf *conf);
/* A frame begins. speech: some plays in it or waits to. music: some sounded in the last frame. */
void duck_begin_frame(struct duck *d, bool speech, bool music);
/* True if music is not down yet where the frame begins: speech that has not begun waits. */
bool duck_holds_speech(const struct duck *d);
/* Applies the gain to n samples of each channel. */
void duck_run(struct duck *d, float *left, float *right, size_t n);
/* Takes back the last frame. */
void duck_undo(struct duck *d);

#endif
