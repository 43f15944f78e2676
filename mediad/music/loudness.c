#include "mediad/music/loudness.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum {
	RATE = 48000,
	STEP = RATE / 10, /* frames from one block to the next */
	STEPS = 4,	  /* of a block */
	CHANNELS = 2,
	BINS = 750, /* of 0.1 LU, from the absolute gate to +5 LUFS */
	FULL_SCALE = 32768,
};

#define GATE_LUFS   -70.0
#define GATE_LU	    -10.0
#define BINS_PER_LU 10.0
#define OFFSET_LUFS -0.691

/* A value of each channel: the filters of both run side by side. */
typedef double pair __attribute__((vector_size(CHANNELS * sizeof(double))));

/* A second-order filter; z: its state. */
struct biquad {
	double b[3], a[2];
};
struct state {
	pair z[2];
};

/* BS.1770-4, tables 1 and 2: the effect of the head, and the high-pass. */
static const struct biquad stages[2] = {
	{{1.53512485958697, -2.69169618940638, 1.19839281085285},
	 {-1.69065929318241, 0.73248077421585}},
	{{1, -2, 1}, {-1.99004745483398, 0.99007225036621}},
};

struct loudness {
	struct state filters[2];
	double sums[STEPS]; /* of squares, of the last steps; the present one is at n_steps % 4 */
	unsigned in_step;   /* frames of the present one */
	unsigned n_steps;   /* whole ones since the beginning or a break; stays below 2 STEPS */
	uint64_t frames;
	int peak;
	uint64_t blocks[BINS];
};

int loudness_alloc(struct loudness **out)
{
	*out = calloc(1, sizeof **out);
	return *out ? 0 : ENOMEM;
}

struct loudness *loudness_free(struct loudness *l)
{
	free(l);
	return NULL;
}

static inline pair run_stage(const struct biquad *f, struct state *s, pair x)
{
	pair y = f->b[0] * x + s->z[0];

	s->z[0] = f->b[1] * x - f->a[0] * y + s->z[1];
	s->z[1] = f->b[2] * x - f->a[1] * y;
	return y;
}

static double lufs_of(double power)
{
	return OFFSET_LUFS + 10 * log10(power);
}

static double power_of_bin(unsigned bin)
{
	return pow(10, (GATE_LUFS + (bin + 0.5) / BINS_PER_LU - OFFSET_LUFS) / 10);
}

/* Counts the block of the last STEPS steps. */
static void count_block(struct loudness *l)
{
	double power = 0, bin;

	for (unsigned i = 0; i < STEPS; i++)
		power += l->sums[i] / (STEP * STEPS);
	bin = power > 0 ? floor((lufs_of(power) - GATE_LUFS) * BINS_PER_LU) : -1;
	if (bin >= 0)
		l->blocks[bin < BINS ? (unsigned)bin : BINS - 1]++;
}

static void end_step(struct loudness *l)
{
	l->in_step = 0;
	if (++l->n_steps >= STEPS)
		count_block(l);
	if (l->n_steps == 2 * STEPS)
		l->n_steps = STEPS;
	l->sums[l->n_steps % STEPS] = 0;
}

/* Returns the sum of the squares of n filtered frames, over both channels. */
static double sum_squares(struct loudness *l, const int16_t *pcm, size_t n)
{
	/* Copies, which the compiler can keep in registers. */
	struct state head = l->filters[0], high = l->filters[1];
	pair sum = {0, 0};
	int peak = l->peak;

	for (size_t i = 0; i < n; i++) {
		int left = pcm[CHANNELS * i], right = pcm[CHANNELS * i + 1];
		pair x = {left, right};

		peak = abs(left) > peak ? abs(left) : peak;
		peak = abs(right) > peak ? abs(right) : peak;
		x = run_stage(&stages[0], &head, x / FULL_SCALE);
		x = run_stage(&stages[1], &high, x);
		sum += x * x;
	}
	l->filters[0] = head;
	l->filters[1] = high;
	l->peak = peak;
	return sum[0] + sum[1];
}

void loudness_add(struct loudness *l, const int16_t *pcm, size_t frames)
{
	l->frames += frames;
	while (frames) {
		size_t left = STEP - l->in_step, n = frames < left ? frames : left;

		l->sums[l->n_steps % STEPS] += sum_squares(l, pcm, n);
		pcm += CHANNELS * n;
		frames -= n;
		l->in_step += (unsigned)n;
		if (l->in_step == STEP)
			end_step(l);
	}
}

void loudness_break(struct loudness *l)
{
	l->filters[0] = l->filters[1] = (struct state){0};
	l->in_step = l->n_steps = 0;
	l->sums[0] = 0;
}

uint64_t loudness_frames(const struct loudness *l)
{
	return l->frames;
}

/* Returns the mean power of the blocks from a bin on; 0: there are none. */
static double mean_power(const struct loudness *l, unsigned from)
{
	double sum = 0;
	uint64_t n = 0;

	for (unsigned i = from; i < BINS; i++) {
		n += l->blocks[i];
		if (l->blocks[i])
			sum += (double)l->blocks[i] * power_of_bin(i);
	}
	return n ? sum / (double)n : 0;
}

bool loudness_integrated(const struct loudness *l, double *lufs)
{
	double power = mean_power(l, 0), gate;

	if (power <= 0)
		return false;
	gate = (lufs_of(power) + GATE_LU - GATE_LUFS) * BINS_PER_LU;
	*lufs = lufs_of(mean_power(l, gate > 0 ? (unsigned)gate : 0));
	return true;
}

double loudness_peak(const struct loudness *l)
{
	return 20 * log10((double)l->peak / FULL_SCALE);
}
