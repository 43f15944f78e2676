#include "control/engine/core/rate_change.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAPS = 32, ONE = 1 << 15, RATE_MIN = 8000, RATE_MAX = 48000, RATE_STEP = 50 };

struct rate_change {
	unsigned up, down;  /* to / from in lowest terms */
	unsigned phase;	    /* of the next output, in up-ths of an input sample */
	int16_t past[TAPS]; /* the last inputs, a ring */
	unsigned at;	    /* of the oldest of them */
	int32_t weight[];   /* up rows of TAPS, in ONE-ths */
};

static unsigned common_divisor(unsigned a, unsigned b)
{
	while (b) {
		unsigned rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* A sinc under a Blackman window, x input samples from its middle. */
static double weigh(double x, double cutoff)
{
	double u = x / TAPS + 0.5, sinc;

	if (u <= 0 || u >= 1)
		return 0;
	sinc = fabs(x) < 1e-9 ? cutoff : sin(M_PI * cutoff * x) / (M_PI * x);
	return sinc * (0.42 - 0.5 * cos(2 * M_PI * u) + 0.08 * cos(4 * M_PI * u));
}

/* Each row sums up to one, so that silence and constants stay what they are. */
static void fill_row(int32_t *row, double shift, double cutoff)
{
	double w[TAPS], sum = 0;

	for (unsigned i = 0; i < TAPS; i++)
		sum += w[i] = weigh((double)i - (TAPS - 1) / 2.0 - shift, cutoff);
	for (unsigned i = 0; i < TAPS; i++)
		row[i] = (int32_t)lrint(w[i] / sum * ONE);
}

int rate_change_alloc(struct rate_change **out, unsigned from, unsigned to)
{
	unsigned divisor, up, down;
	struct rate_change *r;

	if (from < RATE_MIN || from > RATE_MAX || to < RATE_MIN || to > RATE_MAX ||
	    from % RATE_STEP || to % RATE_STEP)
		return EINVAL;
	divisor = common_divisor(from, to);
	up = to / divisor;
	down = from / divisor;
	r = calloc(1, sizeof *r + (size_t)up * TAPS * sizeof r->weight[0]);
	if (!r)
		return ENOMEM;
	r->up = up;
	r->down = down;
	for (unsigned i = 0; i < up; i++)
		fill_row(r->weight + (size_t)i * TAPS, (double)i / up - 0.5,
			 up < down ? 0.92 * up / down : 0.92);
	*out = r;
	return 0;
}

struct rate_change *rate_change_free(struct rate_change *r)
{
	free(r);
	return NULL;
}

void rate_change_reset(struct rate_change *r)
{
	memset(r->past, 0, sizeof r->past);
	r->at = r->phase = 0;
}

size_t rate_change_most(const struct rate_change *r, size_t n)
{
	return 2 * (n / 2 * r->up / r->down + 1);
}

static int16_t filter(const struct rate_change *r)
{
	const int32_t *row = r->weight + (size_t)r->phase * TAPS;
	int64_t sum = ONE / 2;

	for (unsigned i = 0; i < TAPS; i++)
		sum += (int64_t)row[i] * r->past[(r->at + i) % TAPS];
	sum >>= 15;
	return (int16_t)(sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum);
}

size_t rate_change_run(struct rate_change *r, const uint8_t *in, size_t n, uint8_t *out)
{
	size_t bytes = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		r->past[r->at] = (int16_t)(in[i] | in[i + 1] << 8);
		r->at = (r->at + 1) % TAPS;
		for (; r->phase < r->up; r->phase += r->down) {
			int16_t v = filter(r);

			out[bytes++] = (uint8_t)v;
			out[bytes++] = (uint8_t)(v >> 8);
		}
		r->phase -= r->up;
	}
	return bytes;
}
