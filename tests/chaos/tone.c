#include "tests/chaos/tone.h"

#include <math.h>

static const double hertz[CHAOS_PEOPLE] = {400, 700, 1150};

enum { LOUD = 6000, AUDIBLE = 500 };

void tone_make(int16_t *out, size_t n, uint32_t rate, enum chaos_who who, uint64_t from)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (int16_t)(LOUD * sin(2 * M_PI * hertz[who] * (double)(from + i) / rate));
}

/* The share of the power that lies at this frequency, by Goertzel's recursion. */
static double share(const int16_t *pcm, size_t n, uint32_t rate, double f, double power)
{
	double c = 2 * cos(2 * M_PI * f / rate), a = 0, b = 0;

	for (size_t i = 0; i < n; i++) {
		double s = pcm[i] + c * a - b;

		b = a;
		a = s;
	}
	return 2 * (a * a + b * b - c * a * b) / ((double)n * power);
}

enum chaos_who tone_whose(const int16_t *pcm, size_t n, uint32_t rate, bool *loud)
{
	double power = 0;

	for (size_t i = 0; i < n; i++)
		power += (double)pcm[i] * pcm[i];
	*loud = n && power > (double)n * AUDIBLE * AUDIBLE;
	for (unsigned w = 0; *loud && w < CHAOS_PEOPLE; w++)
		if (share(pcm, n, rate, hertz[w], power) > 0.6)
			return (enum chaos_who)w;
	return CHAOS_ALL;
}
