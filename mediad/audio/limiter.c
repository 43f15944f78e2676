#include "mediad/audio/limiter.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "proto/base/not_cleared.h"

void limiter_init(struct limiter *l)
{
	l->gain = l->least = 1;
}

/* Without branches the compiler vectorizes this loop and those of round_sample. */
static bool passes_unchanged(const float *acc)
{
	int over = 0;

	for (int i = 0; i < MIX_FRAME; i++)
		over |= fabsf(acc[i]) > MIX_CEILING;
	return !over;
}

/* Rounds as lrintf does. The last binary digit of a float near 1.5 * 2^23 is worth 1, so the sum is
 * rounded to an integer, whose last 16 bits are those of x. */
static int16_t round_sample(float x)
{
	const float sum = x + 12582912;
	uint32_t bits;

	memcpy(&bits, &sum, sizeof bits);
	return (int16_t)bits;
}

/* Works out the gain of each sample. Backwards from the end: no sample may exceed the ceiling, and
 * the gain ramps down to each peak. A peak at the very start of the frame gets a drop instead of a
 * ramp. */
static void plan_gain(struct limiter *l, const float *a, const float *b, float gain[MIX_FRAME])
{
	const float attack = 1.0f / MIX_ATTACK_SAMPLES, release = 1.0f / (48 * MIX_RELEASE_MS);
	float ahead = 1, least = 1, most;

	for (int i = MIX_FRAME - 1; i >= 0; i--) {
		float peak = fmaxf(fabsf(a[i]), fabsf(b[i]));
		float need = peak > MIX_CEILING ? MIX_CEILING / peak : 1;

		least = fminf(least, need);
		ahead = fminf(need, ahead + attack);
		gain[i] = ahead;
	}
	most = fminf(least, l->least);
	for (int i = 0; i < MIX_FRAME; i++) {
		l->gain = fminf(gain[i], fmaxf(l->gain, fminf(most, l->gain + release)));
		gain[i] = l->gain;
	}
	l->least = least;
}

void limiter_run(struct limiter *l, const float acc[MIX_FRAME], int16_t out[MIX_FRAME])
{
	float gain[MIX_FRAME] NOT_CLEARED;

	if (l->gain >= 1 && passes_unchanged(acc)) {
		for (int i = 0; i < MIX_FRAME; i++)
			out[i] = round_sample(acc[i]);
		l->least = 1;
		return;
	}
	plan_gain(l, acc, acc, gain);
	for (int i = 0; i < MIX_FRAME; i++)
		out[i] = round_sample(acc[i] * gain[i]);
}

void limiter_run_stereo(struct limiter *l, const float left[MIX_FRAME],
			const float right[MIX_FRAME], int16_t out[2 * MIX_FRAME])
{
	float gain[MIX_FRAME] NOT_CLEARED;

	if (l->gain >= 1 && passes_unchanged(left) && passes_unchanged(right)) {
		for (int i = 0; i < MIX_FRAME; i++) {
			out[2 * i] = round_sample(left[i]);
			out[2 * i + 1] = round_sample(right[i]);
		}
		l->least = 1;
		return;
	}
	plan_gain(l, left, right, gain);
	for (int i = 0; i < MIX_FRAME; i++) {
		out[2 * i] = round_sample(left[i] * gain[i]);
		out[2 * i + 1] = round_sample(right[i] * gain[i]);
	}
}
