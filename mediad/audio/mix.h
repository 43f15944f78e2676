/* The last step of a mix: sums become 16-bit samples without clipping.
 *
 * A peak limiter that looks ahead inside its frame: gain falls in time before a peak and comes back
 * over MIX_RELEASE_MS. What stays under MIX_CEILING passes bit for bit while the gain is 1; nothing
 * ever leaves above it. No delay. Plain memory of its owner; limiter_init before use. */
#ifndef MEDIAD_AUDIO_MIX_H
#define MEDIAD_AUDIO_MIX_H

#include <stddef.h>
#include <stdint.h>

enum {
	MIX_FRAME = 960,
	MIX_CEILING = 29203 /* -1 dBFS */,
	MIX_ATTACK_SAMPLES = 240,
	MIX_RELEASE_MS = 100
};

struct limiter {
	float gain;
};

void limiter_init(struct limiter *l);
/* acc: sums in units of a 16-bit sample. */
void limiter_run(struct limiter *l, const float acc[MIX_FRAME], int16_t out[MIX_FRAME]);

#endif
