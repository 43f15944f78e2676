#include "mediad/audio/limiter.h"

#include <math.h>
#include <stdbool.h>

void limiter_init(struct limiter *l)
{
	l->gain = 1;
}

static bool passes_unchanged(const struct limiter *l, const float *acc)
{
	if (l->gain < 1)
		return false;
	for (int i = 0; i < MIX_FRAME; i++)
		if (fabsf(acc[i]) > MIX_CEILING)
			return false;
	return true;
}

void limiter_run(struct limiter *l, const float acc[MIX_FRAME], int16_t out[MIX_FRAME])
{
	const float attack = 1.0f / MIX_ATTACK_SAMPLES, release = 1.0f / (48 * MIX_RELEASE_MS);
	float allowed[MIX_FRAME], ahead = 1;

	if (passes_unchanged(l, acc)) {
		for (int i = 0; i < MIX_FRAME; i++)
			out[i] = (int16_t)lrintf(acc[i]);
		return;
	}
	/* Backwards from the end: no sample may exceed the ceiling, and the gain ramps down to each
	 * peak. A peak at the very start of the frame gets a drop instead of a ramp. */
	for (int i = MIX_FRAME - 1; i >= 0; i--) {
		float peak = fabsf(acc[i]);
		float need = peak > MIX_CEILING ? MIX_CEILING / peak : 1;

		ahead = fminf(need, ahead + attack);
		allowed[i] = ahead;
	}
	for (int i = 0; i < MIX_FRAME; i++) {
		l->gain = fminf(allowed[i], fminf(1, l->gain + release));
		out[i] = (int16_t)lrintf(acc[i] * l->gain);
	}
}
