/* The limiter, the last step of the mix: sums of lanes become 16-bit samples without clipping.
 *
 * It is a peak limiter that looks ahead within its frame: gain falls before a peak and recovers
 * over MIX_RELEASE_MS, as far as the peaks of this frame and the one before it allow: a tone that
 * stands keeps its gain from peak to peak, and no frame begins with a step down to it. While the
 * gain is 1, samples below MIX_CEILING pass bit for bit; no sample ever leaves above it. It adds no
 * delay. Plain memory of its owner; call limiter_init before use.
 */
#ifndef MEDIAD_AUDIO_LIMITER_H
#define MEDIAD_AUDIO_LIMITER_H

#include <stddef.h>
#include <stdint.h>

enum {
	MIX_FRAME = 960,
	MIX_CEILING = 29203, /* -1 dBFS */
	MIX_ATTACK_SAMPLES = 240,
	MIX_RELEASE_MS = 100
};

struct limiter {
	float gain;
	float least; /* that the last frame needed */
};

void limiter_init(struct limiter *l);
/* acc: the sums, in units of a 16-bit sample. */
void limiter_run(struct limiter *l, const float acc[MIX_FRAME], int16_t out[MIX_FRAME]);
/* The same for stereo, interleaved in out: one gain for both channels, so the image stays in place.
 */
void limiter_run_stereo(struct limiter *l, const float left[MIX_FRAME],
			const float right[MIX_FRAME], int16_t out[2 * MIX_FRAME]);

#endif
