#include "tests/chaos/tone.h"

#include <math.h>

static const double hertz[CHAOS_PEOPLE] = {400, 700, 1150};
/* Multiples of 50 Hz, so that a frame of 20 ms and a step hold whole periods. */
enum { TRACKS_FROM = 1450, TRACK_APART = 450, STEP_APART = 50 };

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

static double step_hertz(enum chaos_who who, unsigned track, unsigned step)
{
	return TRACKS_FROM + (double)TRACK_APART * (who * TONE_TRACKS + track) +
	       (double)STEP_APART * step;
}

void tone_make_track(int16_t *out, size_t n, uint32_t rate, enum chaos_who who, unsigned track,
		     uint64_t from)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t at = from + i;
		unsigned step = (unsigned)(at * 1000 / rate / TONE_STEP_MS % TONE_STEPS);

		make(out + i, 1, rate, step_hertz(who, track, step), at);
	}
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
		     unsigned track, unsigned *step)
{
	double most = 0;

	*step = 0;
	for (unsigned i = 0; n && i < TONE_STEPS; i++) {
		double power = squared(pcm, n, rate, step_hertz(who, track, i));

		if (power <= most)
			continue;
		most = power;
		*step = i;
	}
	return sqrt(most);
}

double tone_foreign(const int16_t *pcm, size_t n, uint32_t rate, enum chaos_who who)
{
	double power = power_of(pcm, n), own = 0;

	if (power <= (double)n * AUDIBLE * AUDIBLE)
		return -1;
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++)
		own += share(pcm, n, rate, hertz[w], power);
	for (unsigned i = 0; i < TONE_TRACKS * TONE_STEPS; i++)
		own += share(pcm, n, rate, step_hertz(who, i / TONE_STEPS, i % TONE_STEPS), power);
	return own < 1 ? 1 - own : 0;
}
