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

_Static_assert((int)CHAOS_PEOPLE <= TONE_STEPS, "the voices of all people fit in one call");

/* The squared amplitudes at these frequencies, by Goertzel's recursion. They are computed side by
 * side, because each step of one waits for the step before. */
static void square(const int16_t *pcm, size_t n, uint32_t rate, const double f[TONE_STEPS],
		   double out[TONE_STEPS])
{
	double c[TONE_STEPS], a[TONE_STEPS] = {0}, b[TONE_STEPS] = {0};

	for (unsigned k = 0; k < TONE_STEPS; k++)
		c[k] = 2 * cos(2 * M_PI * f[k] / rate);
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < TONE_STEPS; k++) {
			double s = pcm[i] + c[k] * a[k] - b[k];

			b[k] = a[k];
			a[k] = s;
		}
	for (unsigned k = 0; k < TONE_STEPS; k++)
		out[k] = 4 * (a[k] * a[k] + b[k] * b[k] - c[k] * a[k] * b[k]) /
			 ((double)n * (double)n);
}

static void square_people(const int16_t *pcm, size_t n, uint32_t rate, double out[TONE_STEPS])
{
	double f[TONE_STEPS] = {0};

	for (unsigned w = 0; w < CHAOS_PEOPLE; w++)
		f[w] = hertz[w];
	square(pcm, n, rate, f, out);
}

static void square_track(const int16_t *pcm, size_t n, uint32_t rate, enum chaos_who who,
			 unsigned track, double out[TONE_STEPS])
{
	double f[TONE_STEPS];

	for (unsigned i = 0; i < TONE_STEPS; i++)
		f[i] = step_hertz(who, track, i);
	square(pcm, n, rate, f, out);
}

static double power_of(const int16_t *pcm, size_t n)
{
	double power = 0;

	for (size_t i = 0; i < n; i++)
		power += (double)pcm[i] * pcm[i];
	return power;
}

/* The share of the power that lies at a frequency. */
static double share(double squared, size_t n, double power)
{
	return squared * (double)n / (2 * power);
}

enum chaos_who tone_whose(const int16_t *pcm, size_t n, uint32_t rate, bool *loud)
{
	double power = power_of(pcm, n), at[TONE_STEPS];

	*loud = n && power > (double)n * AUDIBLE * AUDIBLE;
	if (*loud)
		square_people(pcm, n, rate, at);
	for (unsigned w = 0; *loud && w < CHAOS_PEOPLE; w++)
		if (share(at[w], n, power) > 0.6)
			return (enum chaos_who)w;
	return CHAOS_ALL;
}

double tone_of_track(const int16_t *pcm, size_t n, uint32_t rate, enum chaos_who who,
		     unsigned track, unsigned *step)
{
	double most = 0, at[TONE_STEPS];

	*step = 0;
	if (!n)
		return 0;
	square_track(pcm, n, rate, who, track, at);
	for (unsigned i = 0; i < TONE_STEPS; i++) {
		if (at[i] <= most)
			continue;
		most = at[i];
		*step = i;
	}
	return sqrt(most);
}

double tone_foreign(const int16_t *pcm, size_t n, uint32_t rate, enum chaos_who who)
{
	double power = power_of(pcm, n), own = 0, at[TONE_STEPS];

	if (power <= (double)n * AUDIBLE * AUDIBLE)
		return -1;
	square_people(pcm, n, rate, at);
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++)
		own += share(at[w], n, power);
	for (unsigned track = 0; track < TONE_TRACKS; track++) {
		square_track(pcm, n, rate, who, track, at);
		for (unsigned i = 0; i < TONE_STEPS; i++)
			own += share(at[i], n, power);
	}
	return own < 1 ? 1 - own : 0;
}
