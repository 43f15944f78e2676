#include "tests/chaos/tone.h"

#include <math.h>

static const double hertz[CHAOS_PEOPLE] = {400, 700, 1150};
/* Multiples of 50 Hz, so that a frame of 20 ms holds whole periods; none is a multiple of a voice.
 */
static const double tracks[CHAOS_PEOPLE][TONE_TRACKS] = {
	{1450, 1850, 2250}, {1600, 2000, 2400}, {1750, 2150, 2550}};

enum { LOUD = 6000, AUDIBLE = 500 };

static void make(int16_t *out, size_t n, uint32_t rate, double f, uint64_t from)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (int16_t)(LOUD * sin(2 * M_PI * f * (double)(from + i) / rate));
}

void tone_make(int16_t *out, size_t n, uint32_t rate, enum chaos_who who, uint64_t from)
{
	make(out, n, rate, hertz[who], from);
}

void tone_make_track(int16_t *out, size_t n, uint32_t rate, enum chaos_who who, unsigned track)
{
	make(out, n, rate, tracks[who][track], 0);
}

/* The squared amplitude at this frequency, by Goertzel's recursion. */
static double squared(const int16_t *pcm, size_t n, uint32_t rate, double f)
{
	double c = 2 * cos(2 * M_PI * f / rate), a = 0, b = 0;

	for (size_t i = 0; i < n; i++) {
		double s = pcm[i] + c * a - b;

		b = a;
		a = s;
	}
	return 4 * (a * a + b * b - c * a * b) / ((double)n * (double)n);
}

static double power_of(const int16_t *pcm, size_t n)
{
	double power = 0;

	for (size_t i = 0; i < n; i++)
		power += (double)pcm[i] * pcm[i];
	return power;
}

/* The share of the power that lies at this frequency. */
static double share(const int16_t *pcm, size_t n, uint32_t rate, double f, double power)
{
	return squared(pcm, n, rate, f) * (double)n / (2 * power);
}

enum chaos_who tone_whose(const int16_t *pcm, size_t n, uint32_t rate, bool *loud)
{
	double power = power_of(pcm, n);

	*loud = n && power > (double)n * AUDIBLE * AUDIBLE;
	for (unsigned w = 0; *loud && w < CHAOS_PEOPLE; w++)
		if (share(pcm, n, rate, hertz[w], power) > 0.6)
			return (enum chaos_who)w;
	return CHAOS_ALL;
}

double tone_of_track(const int16_t *pcm, size_t n, uint32_t rate, enum chaos_who who,
		     unsigned track)
{
	return n ? sqrt(squared(pcm, n, rate, tracks[who][track])) : 0;
}

double tone_foreign(const int16_t *pcm, size_t n, uint32_t rate, enum chaos_who who)
{
	double power = power_of(pcm, n), own;

	if (power <= (double)n * AUDIBLE * AUDIBLE)
		return 0;
	own = share(pcm, n, rate, hertz[who], power);
	for (unsigned t = 0; t < TONE_TRACKS; t++)
		own += share(pcm, n, rate, tracks[who][t], power);
	return own < 1 ? 1 - own : 0;
}
