#include "control/engine/core/downsampler.h"

/* A sinc of 7.3 kHz under a Kaiser window (beta 6.5), each phase normalised to 1 in 1/32768. */
static const int16_t taps[2 * DOWNSAMPLER_TAPS] = {
	-6,    -9,    2,     24,   36,	  10,	 -51,	-96,   -56,  75,    198,   166,	  -65,
	-336,  -373,  -31,   488,  709,	  285,	 -596,	-1202, -808, 566,   1897,  1811,  -203,
	-2962, -3995, -1157, 5597, 13683, 19169, 19169, 13683, 5597, -1157, -3995, -2962, -203,
	1811,  1897,  566,   -808, -1202, -596,	 285,	709,   488,  -31,   -373,  -336,  -65,
	166,   198,   75,    -56,  -96,	  -51,	 10,	36,    24,   2,	    -9,	   -6};

static int16_t filter(const struct downsampler *d, unsigned phase)
{
	int32_t sum = 1 << 14;

	for (unsigned i = 0; i < DOWNSAMPLER_TAPS; i++)
		sum += taps[phase + 2 * i] * d->past[(d->at - i) % DOWNSAMPLER_TAPS];
	sum >>= 15;
	return (int16_t)(sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum);
}

size_t downsampler_run(struct downsampler *d, const uint8_t *in, size_t n, uint8_t *out)
{
	size_t w = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		d->at++;
		d->past[d->at % DOWNSAMPLER_TAPS] = (int16_t)(in[i] | in[i + 1] << 8);
		if (d->phase < 2) {
			uint16_t v = (uint16_t)filter(d, d->phase);

			out[w++] = (uint8_t)v;
			out[w++] = (uint8_t)(v >> 8);
		}
		d->phase = (d->phase + 1) % 3;
	}
	return w;
}
