#include "mediad/audio/twice.h"

#include <math.h>
#include <string.h>

enum { LUMP = 8 };

/* Kaiser's window at 100 dB: 0.1102 * (100 - 8.7). */
#define BETA 10.06

/* Modified Bessel function of the first kind, order 0: its series. */
static double bessel(double x)
{
	double term = 1, sum = 1;

	for (int k = 1; k < 40; k++) {
		term *= x / 2 / k;
		sum += term * term;
	}
	return sum;
}

void twice_init(struct twice *t)
{
	double sum = 0;

	memset(t, 0, sizeof *t);
	for (int k = 0; k < TWICE_SIDE; k++) {
		double x = k + 0.5, r = x / TWICE_SIDE;

		t->half[k] = (float)(sin(M_PI * x) / (M_PI * x) * bessel(BETA * sqrt(1 - r * r)) /
				     bessel(BETA));
		sum += 2 * t->half[k];
	}
	/* What does not move is to stay where it is. */
	for (int k = 0; k < TWICE_SIDE; k++)
		t->half[k] = (float)(t->half[k] / sum);
	/* Before the first sample there was silence. */
	t->kept = TWICE_SIDE - 1;
}

static int16_t round_off(float x)
{
	if (x > INT16_MAX)
		return INT16_MAX;
	return x < INT16_MIN ? INT16_MIN : (int16_t)lrintf(x);
}

/* Between x[0] and x[1], x[1] and x[2], … LUMP of them: eight sums that do not wait for one
 * another. */
static void between(const struct twice *t, const float *x, float sum[LUMP])
{
	memset(sum, 0, LUMP * sizeof *sum);
	for (int k = TWICE_SIDE - 1; k >= 0; k--)
		for (int i = 0; i < LUMP; i++)
			sum[i] += t->half[k] * (x[i - k] + x[i + 1 + k]);
}

/* The line holds `have` samples; those with TWICE_SIDE behind and before them go out. */
static size_t step(struct twice *t, size_t have, int16_t *out)
{
	size_t first = TWICE_SIDE - 1,
	       n = have > first + TWICE_SIDE ? have - first - TWICE_SIDE : 0, keep;

	for (size_t at = 0; at < n; at += LUMP) {
		const float *x = t->line + first + at;
		float sum[LUMP];

		between(t, x, sum);
		for (size_t i = 0; i < LUMP && at + i < n; i++) {
			out[2 * (at + i)] = (int16_t)x[i];
			out[2 * (at + i) + 1] = round_off(sum[i]);
		}
	}
	keep = have - n;
	memmove(t->line, t->line + n, keep * sizeof t->line[0]);
	t->kept = keep;
	return 2 * n;
}

size_t twice_run(struct twice *t, const int16_t *in, size_t n, int16_t *out)
{
	for (size_t i = 0; i < n; i++)
		t->line[t->kept + i] = in[i];
	return step(t, t->kept + n, out);
}

size_t twice_flush(struct twice *t, size_t n, int16_t *out)
{
	memset(t->line + t->kept, 0, n * sizeof t->line[0]);
	return step(t, t->kept + n, out);
}
