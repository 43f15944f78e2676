#include "control/agent/ulaw.h"

#include <string.h>

enum { BIAS = 0x84, CLIP = 32635 };

static uint8_t encode_sample(int16_t in)
{
	int sign = in < 0 ? 0x80 : 0, v = in < 0 ? -(int)in : in, exponent = 7;

	v = (v > CLIP ? CLIP : v) + BIAS;
	for (int bit = 0x4000; exponent > 0 && !(v & bit); bit >>= 1)
		exponent--;
	return (uint8_t) ~(sign | exponent << 4 | (v >> (exponent + 3) & 0x0f));
}

size_t ulaw_encode(struct slice pcm, uint8_t *out)
{
	size_t n = pcm.n / 2;

	for (size_t i = 0; i < n; i++) {
		int16_t sample;

		memcpy(&sample, pcm.p + 2 * i, sizeof sample);
		out[i] = encode_sample(sample);
	}
	return n;
}
