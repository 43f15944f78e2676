#include "control/offline/front_end.h"

#include <errno.h>
#include <math.h>
#include <pocketsphinx.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK = 64,	/* frames computed at a time */
	HOLD_LOUD = 28, /* loud frames that settle the mean */
	HOLD_WORD = 8,	/* a word's worth of them, when it was quiet for so long after it: */
	HOLD_QUIET = 12,
	PRIOR_FRAMES = 20,
	HOLD_MAX = 1000, /* frames that wait at most; a long silence is not speech */
	SHIFT = 160,	 /* samples a frame */
};

/* A frame this far below the loudest one (in c0, about 30 dB) does not count as speech. */
static const float LOUD_RANGE = 20;

/* cmninit of the model's feat.params. */
static const double prior[FRONT_END_DIM] = {41.00, -5.29, -0.12, 5.09,	2.48,  -4.07, -1.37,
					    -1.78, -5.08, -2.05, -6.45, -1.42, 1.17};

struct front_end {
	front_end_h *h;
	void *arg;
	fe_t *fe;
	cmd_ln_t *config;
	float held[HOLD_MAX][FRONT_END_DIM];
	unsigned n_held, n_quiet; /* n_quiet: frames since the last loud one */
	bool open;		  /* the mean is settled */
	double sum[FRONT_END_DIM];
	unsigned n_loud;
	float loudest, quietest;
	float rows[BLOCK][FRONT_END_DIM];
	float *row_of[BLOCK];
};

int front_end_alloc(struct front_end **out, front_end_h *h, void *arg)
{
	struct front_end *f = calloc(1, sizeof *f);

	if (!f)
		return ENOMEM;
	f->h = h;
	f->arg = arg;
	/* As the acoustic model's feat.params says; the recognisers' own front ends are not used.
	 */
	f->config = cmd_ln_init(NULL, ps_args(), TRUE, "-lowerf", "130", "-upperf", "6800",
				"-nfilt", "25", "-transform", "dct", "-lifter", "22",
				"-remove_silence", "no", "-remove_noise", "no", NULL);
	f->fe = f->config ? fe_init_auto_r(f->config) : NULL;
	if (!f->fe || fe_get_output_size(f->fe) != FRONT_END_DIM) {
		front_end_free(f);
		return ENOMEM;
	}
	*out = f;
	return 0;
}

struct front_end *front_end_free(struct front_end *f)
{
	if (!f)
		return NULL;
	if (f->fe)
		fe_free(f->fe);
	if (f->config)
		cmd_ln_free_r(f->config);
	free(f);
	return NULL;
}

int front_end_start(struct front_end *f)
{
	f->n_held = f->n_loud = f->n_quiet = 0;
	f->open = false;
	f->loudest = -INFINITY;
	f->quietest = INFINITY;
	memset(f->sum, 0, sizeof f->sum);
	fe_start_stream(f->fe);
	return fe_start_utt(f->fe) < 0 ? EIO : 0;
}

static void count(struct front_end *f, const float *row)
{
	for (unsigned k = 0; k < FRONT_END_DIM; k++)
		f->sum[k] += row[k];
	f->n_loud++;
}

/* Measures all waiting frames: which ones are loud is known only relative to the loudest. */
static void settle(struct front_end *f)
{
	f->n_loud = 0;
	memset(f->sum, 0, sizeof f->sum);
	for (unsigned i = 0; i < f->n_held; i++)
		if (f->held[i][0] > f->loudest - LOUD_RANGE)
			count(f, f->held[i]);
}

/* A short word is too short for a mean, so the model's training mean is weighted in, except for the
 * level. */
static void normalise(struct front_end *f, float *row)
{
	for (unsigned k = 0; k < FRONT_END_DIM && f->n_loud; k++) {
		unsigned weight = k ? PRIOR_FRAMES : 0;

		row[k] -= (float)((f->sum[k] + weight * prior[k]) / (f->n_loud + weight));
	}
}

static int send(struct front_end *f, float (*rows)[FRONT_END_DIM], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		f->row_of[i] = rows[i];
	return n ? f->h(f->row_of, (int)n, f->arg) : 0;
}

static int release(struct front_end *f)
{
	int err = 0;

	settle(f);
	for (unsigned i = 0; i < f->n_held; i++)
		normalise(f, f->held[i]);
	for (unsigned i = 0; i < f->n_held && !err; i += BLOCK)
		err = send(f, f->held + i, f->n_held - i < BLOCK ? f->n_held - i : BLOCK);
	f->n_held = 0;
	f->open = true;
	return err;
}

/* Takes one frame before the mean has settled. The faint noise before every utterance is the
 * reference for silence. */
static int hold(struct front_end *f, const float *row)
{
	memcpy(f->held[f->n_held++], row, sizeof f->held[0]);
	if (row[0] > f->loudest)
		f->loudest = row[0];
	if (row[0] < f->quietest)
		f->quietest = row[0];
	f->n_quiet = row[0] > f->loudest - LOUD_RANGE ? 0 : f->n_quiet + 1;
	if (f->n_held == HOLD_MAX)
		return release(f);
	if (f->n_held % 5 || f->loudest < f->quietest + LOUD_RANGE)
		return 0;
	settle(f);
	if (f->n_loud >= HOLD_LOUD || (f->n_loud >= HOLD_WORD && f->n_quiet >= HOLD_QUIET))
		return release(f);
	return 0;
}

static int frames(struct front_end *f, int n)
{
	int err = 0, from = 0;

	for (int i = 0; i < n && !err; i++) {
		float *row = f->rows[i];

		if (!f->open) {
			err = hold(f, row);
			from = i + 1;
			continue;
		}
		if (row[0] > f->loudest)
			f->loudest = row[0];
		if (row[0] > f->loudest - LOUD_RANGE)
			count(f, row);
		normalise(f, row);
	}
	return err ? err : send(f, f->rows + from, (unsigned)(n - from));
}

int front_end_feed(struct front_end *f, const int16_t *pcm, size_t n)
{
	int err = 0;

	while (n && !err) {
		mfcc_t *rows[BLOCK];
		int32 got = BLOCK;
		size_t part = n < SHIFT * (BLOCK - 2) ? n : SHIFT * (BLOCK - 2), left = part;
		const int16 *p = pcm;

		for (unsigned i = 0; i < BLOCK; i++)
			rows[i] = f->rows[i];
		if (fe_process_frames(f->fe, &p, &left, rows, &got, NULL) < 0)
			return EIO;
		err = frames(f, got);
		pcm += part - left;
		n -= part - left;
		if (left == part)
			break;
	}
	return err;
}

int front_end_finish(struct front_end *f)
{
	mfcc_t row[FRONT_END_DIM];
	int32 got = 0;
	int err = 0;

	if (fe_end_utt(f->fe, row, &got) < 0)
		return EIO;
	if (got > 0) {
		memcpy(f->rows[0], row, sizeof row);
		err = frames(f, 1);
	}
	return !err && !f->open ? release(f) : err;
}
