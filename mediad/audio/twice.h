/* A stream of samples at twice its rate: each as it is, and between two of them what a windowed
 * sinc of TWICE_SIDE samples on either side makes of them. 24 kHz, at which speech is made, to 48
 * kHz at a tenth of what a converter of any rates costs.
 *
 * Samples in the units of s16, as float. The last TWICE_SIDE samples in are withheld until more
 * come. Plain memory of its owner; twice_init before use. */
#ifndef MEDIAD_AUDIO_TWICE_H
#define MEDIAD_AUDIO_TWICE_H

#include <stddef.h>
#include <stdint.h>

enum { TWICE_SIDE = 40, TWICE_MOST = 480 };

struct twice {
	float half[TWICE_SIDE]; /* the filter's one side, nearest first */
	float line[2 * TWICE_SIDE + TWICE_MOST +
		   16]; /* what came last; 16: read in lumps, beyond the end */
	size_t kept;	/* samples at the line's start that are there from before */
};

void twice_init(struct twice *t);
/* n samples in, at most TWICE_MOST; returns how many came out, at most 2 * n. */
size_t twice_run(struct twice *t, const int16_t *in, size_t n, int16_t *out);
/* The end: n zeros in, as above. */
size_t twice_flush(struct twice *t, size_t n, int16_t *out);

#endif
