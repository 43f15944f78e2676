/* Upsampler by 2: every input sample passes unchanged, and one more is interpolated between each
 * pair by a windowed sinc with UPSAMPLER_HALF_TAPS taps on either side. It converts speech from 24
 * to 48 kHz at a tenth of the cost of a general converter.
 *
 * Samples are in units of s16, as float. The last UPSAMPLER_HALF_TAPS samples are withheld until
 * more arrive. Plain memory of its owner; call upsampler_init before use. */
#ifndef MEDIAD_AUDIO_UPSAMPLER_H
#define MEDIAD_AUDIO_UPSAMPLER_H

#include <stddef.h>
#include <stdint.h>

enum { UPSAMPLER_HALF_TAPS = 40, UPSAMPLER_INPUT_MAX = 480 };

struct upsampler {
	float taps[UPSAMPLER_HALF_TAPS]; /* one side of the filter, nearest first */
	/* The newest input; 16: the inner loop reads blocks beyond the end. */
	float history[2 * UPSAMPLER_HALF_TAPS + UPSAMPLER_INPUT_MAX + 16];
	size_t kept; /* samples at the start of history that are kept from before */
};

void upsampler_init(struct upsampler *t);
/* Takes n samples, at most UPSAMPLER_INPUT_MAX. Returns how many were written to out, at most
 * 2 * n. */
size_t upsampler_run(struct upsampler *t, const int16_t *in, size_t n, int16_t *out);
/* Ends the stream: takes n zeros, as above. */
size_t upsampler_flush(struct upsampler *t, size_t n, int16_t *out);

#endif
