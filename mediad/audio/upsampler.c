#include "mediad/audio/upsampler.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 8 };

/* Kaiser window at 100 dB: 0.1102 * (100 - 8.7). */
#define BETA 10.06

/* Modified Bessel function of the first kind, order 0, by its series. */
static double bessel_i0(double x)
{
	double term = 1, sum = 1;

	for (int k = 1; k < 40; k++) {
		term *= x / 2 / k;
		sum += term * term;
	}
	return sum;
}

void upsampler_init(struct upsampler *t)
{
	double sum = 0;

	memset(t, 0, sizeof *t);
	for (int k = 0; k < UPSAMPLER_HALF_TAPS; k++) {
		double x = k + 0.5, r = x / UPSAMPLER_HALF_TAPS;

		t->taps[k] = (float)(sin(M_PI * x) / (M_PI * x) *
				     bessel_i0(BETA * sqrt(1 - r * r)) / bessel_i0(BETA));
		sum += 2 * t->taps[k];
	}
	/* Normalizes the gain at 0 Hz to 1. */
	for (int k = 0; k < UPSAMPLER_HALF_TAPS; k++)
		t->taps[k] = (float)(t->taps[k] / sum);
	/* The stream starts after silence. */
	t->kept = UPSAMPLER_HALF_TAPS - 1;
}

static int16_t round_sample(float x)
{
	if (x > INT16_MAX)
		return INT16_MAX;
	return x < INT16_MIN ? INT16_MIN : (int16_t)lrintf(x);
}

/* Interpolates between x[0] and x[1], x[1] and x[2], …, BLOCK values at once: independent sums,
 * which the compiler vectorizes. */
static void interpolate(const struct upsampler *t, const float *x, float sum[BLOCK])
{
	memset(sum, 0, BLOCK * sizeof *sum);
	for (int k = UPSAMPLER_HALF_TAPS - 1; k >= 0; k--)
		for (int i = 0; i < BLOCK; i++)
			sum[i] += t->taps[k] * (x[i - k] + x[i + 1 + k]);
}

/* The history holds `have` samples; emits those with UPSAMPLER_HALF_TAPS samples on both sides. */
static size_t emit_samples(struct upsampler *t, size_t have, int16_t *out)
{
	size_t first = UPSAMPLER_HALF_TAPS - 1,
	       n = have > first + UPSAMPLER_HALF_TAPS ? have - first - UPSAMPLER_HALF_TAPS : 0,
	       keep;

	for (size_t at = 0; at < n; at += BLOCK) {
		const float *x = t->history + first + at;
		float sum[BLOCK];

		interpolate(t, x, sum);
		for (size_t i = 0; i < BLOCK && at + i < n; i++) {
			out[2 * (at + i)] = (int16_t)x[i];
			out[2 * (at + i) + 1] = round_sample(sum[i]);
		}
	}
	keep = have - n;
	memmove(t->history, t->history + n, keep * sizeof t->history[0]);
	t->kept = keep;
	return 2 * n;
}

size_t upsampler_run(struct upsampler *t, const int16_t *in, size_t n, int16_t *out)
{
	for (size_t i = 0; i < n; i++)
		t->history[t->kept + i] = in[i];
	return emit_samples(t, t->kept + n, out);
}

size_t upsampler_flush(struct upsampler *t, size_t n, int16_t *out)
{
	memset(t->history + t->kept, 0, n * sizeof t->history[0]);
	return emit_samples(t, t->kept + n, out);
}
