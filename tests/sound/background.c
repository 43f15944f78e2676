#include "tests/sound/background.h"

#include <math.h>
#include <stdlib.h>

enum { RATE = 24000, VOICES = 3 };

static double uniform(uint64_t *random, double from, double to)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return from + (to - from) * (double)(*random >> 33) / 2147483648.0;
}

static double noise(uint64_t *random)
{
	return uniform(random, -1, 1) + uniform(random, -1, 1) + uniform(random, -1, 1);
}

static void make_hiss(double *x, size_t n, uint64_t *random)
{
	for (size_t i = 0; i < n; i++)
		x[i] = noise(random);
}

/* Noise below about 400 Hz with some hiss, a hum of the blades, and a slow swell. */
static void make_fan(double *x, size_t n, uint64_t *random)
{
	double low = 0, hum = uniform(random, 80, 140);

	for (size_t i = 0; i < n; i++) {
		double t = (double)i / RATE, white = noise(random);

		low += 0.1 * (white - low);
		x[i] = (low + 0.03 * white + 0.1 * sin(2 * M_PI * hum * t)) *
		       (1 + 0.15 * sin(2 * M_PI * t / 4));
	}
}

/* Voices of notes that are struck and decay, each at its own pace. */
static void make_music(double *x, size_t n, uint64_t *random)
{
	for (unsigned v = 0; v < VOICES; v++) {
		double beat = uniform(random, 0.2, 0.6), decay = uniform(random, 0.3, 1.2);
		double pitch = 0, loud = 0;
		size_t struck = 0, length = 0;

		for (size_t i = 0; i < n; i++) {
			double t;

			if (i >= struck + length) {
				struck = i;
				length =
					(size_t)(beat * RATE) * (1 + (size_t)uniform(random, 0, 2));
				pitch = 110 * pow(2, floor(uniform(random, 0, 36)) / 12);
				loud = uniform(random, 0.4, 1);
			}
			t = (double)(i - struck) / RATE;
			x[i] += loud * exp(-t / decay) * fmin(1, t / 0.01) *
				(sin(2 * M_PI * pitch * t) + 0.5 * sin(4 * M_PI * pitch * t));
		}
	}
}

int16_t *background_make(enum background kind, size_t n, double dbfs, uint64_t seed)
{
	double *x = calloc(n, sizeof *x), sum = 0, by;
	int16_t *out = malloc(n * sizeof *out);

	if (!x || !out) {
		free(x);
		free(out);
		return NULL;
	}
	if (kind == BACKGROUND_FAN)
		make_fan(x, n, &seed);
	else if (kind == BACKGROUND_MUSIC)
		make_music(x, n, &seed);
	else if (kind == BACKGROUND_HISS)
		make_hiss(x, n, &seed);
	for (size_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	by = sum > 0 ? 32768 * pow(10, dbfs / 20) / sqrt(sum / (double)n) : 0;
	for (size_t i = 0; i < n; i++)
		out[i] = (int16_t)fmax(-32768, fmin(32767, x[i] * by));
	free(x);
	return out;
}
