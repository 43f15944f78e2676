#include "mediad/decoder/analyser.h"

#include <errno.h>
#include <libavutil/mem.h>
#include <libavutil/tx.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mediad/music/track_ring.h"

enum {
	WINDOWS = 2,
	LONG = 8192,
	SHORT = 2048,
	HALF = LONG / 2, /* frames of sound that are needed at either side */
	SHOWN = ANALYSIS_POINTS * ANALYSIS_POINT_FRAMES,
	TRIGGER = 1024, /* frames in which the wave may begin later */
	FULL_SCALE = 32768,
	SHORT_FROM_HZ = 400, /* bands from here on use the short window */
};
#define HANN_LEAKS 1.5 /* the squares of a sine's three bins, over that of the middle one */
#define NARROWEST  1.5 /* bins at each side of a band's middle */

/* One length of the transform. */
struct window {
	unsigned n;
	AVTXContext *tx;
	av_tx_fn transform;
	float *hann;
};

struct band {
	const struct window *window;
	unsigned first, last; /* bins */
	float middle, width;  /* bins, width at each side */
};

struct analyser {
	struct track_ring *ring;
	uint64_t next; /* frame */
	struct window windows[WINDOWS];
	struct band bands[ANALYSIS_BANDS];
	AVComplexFloat *in, *out[WINDOWS]; /* left is the real part, right the imaginary one */
	int16_t pcm[LONG * TRACK_RING_CHANNELS];
};

/* ---- making and freeing ---- */

static int prepare_window(struct window *w, unsigned n)
{
	const float scale = 1;

	w->n = n;
	w->hann = calloc(n, sizeof *w->hann);
	if (!w->hann ||
	    av_tx_init(&w->tx, &w->transform, AV_TX_FLOAT_FFT, 0, (int)n, &scale, 0) < 0)
		return ENOMEM;
	for (unsigned i = 0; i < n; i++)
		w->hann[i] = (float)(0.5 - 0.5 * cos(2 * M_PI * i / n));
	return 0;
}

static void prepare_band(struct analyser *a, unsigned b)
{
	const double hz = ANALYSIS_LOWEST * pow(2, (double)b / ANALYSIS_BANDS_AN_OCTAVE);
	const struct window *w = &a->windows[hz >= SHORT_FROM_HZ];
	const double bin = (double)TRACK_RING_RATE / w->n, middle = hz / bin;
	const double q = middle * (pow(2, 1.0 / ANALYSIS_BANDS_AN_OCTAVE) - 1);
	const double width = q > NARROWEST ? q : NARROWEST;

	a->bands[b] = (struct band){.window = w,
				    .first = (unsigned)fmax(1, ceil(middle - width)),
				    .last = (unsigned)fmin(w->n / 2.0 - 1, floor(middle + width)),
				    .middle = (float)middle,
				    .width = (float)width};
}

int analyser_alloc(struct analyser **out, struct track_ring *ring)
{
	struct analyser *a = calloc(1, sizeof *a);
	int err = a ? prepare_window(&a->windows[0], LONG) : ENOMEM;

	if (!err)
		err = prepare_window(&a->windows[1], SHORT);
	/* As wide vectors want it. */
	if (!err && (!(a->in = av_malloc_array(LONG, sizeof *a->in)) ||
		     !(a->out[0] = av_malloc_array(LONG, sizeof *a->in)) ||
		     !(a->out[1] = av_malloc_array(SHORT, sizeof *a->in))))
		err = ENOMEM;
	if (err) {
		analyser_free(a);
		return err;
	}
	a->ring = ring;
	for (unsigned b = 0; b < ANALYSIS_BANDS; b++)
		prepare_band(a, b);
	*out = a;
	return 0;
}

struct analyser *analyser_free(struct analyser *a)
{
	if (!a)
		return NULL;
	for (unsigned i = 0; i < WINDOWS; i++) {
		free(a->windows[i].hann);
		av_tx_uninit(&a->windows[i].tx);
		av_free(a->out[i]);
	}
	av_free(a->in);
	free(a);
	return NULL;
}

/* ---- one analysis ---- */

static void transform(struct analyser *a, unsigned i)
{
	const struct window *w = &a->windows[i];
	const int16_t *pcm = a->pcm + (size_t)(LONG - w->n) / 2 * TRACK_RING_CHANNELS;

	for (unsigned k = 0; k < w->n; k++) {
		a->in[k].re = w->hann[k] * pcm[2 * k];
		a->in[k].im = w->hann[k] * pcm[2 * k + 1];
	}
	w->transform(w->tx, a->out[i], a->in, sizeof *a->in);
}

/* The mean square magnitude of both channels at bin k: the transform of L + iR has that of L and R
 * in its bins k and -k. */
static float power_at(const AVComplexFloat *bins, unsigned n, unsigned k)
{
	const AVComplexFloat p = bins[k], m = bins[n - k];

	return (p.re * p.re + p.im * p.im + m.re * m.re + m.im * m.im) / 4;
}

static uint8_t measure_band(const struct analyser *a, const struct band *b)
{
	const struct window *w = b->window;
	const AVComplexFloat *bins = a->out[w - a->windows];
	const double full = (double)FULL_SCALE * w->n / 4;
	double sum = 0, db;

	for (unsigned k = b->first; k <= b->last; k++) {
		const float off = fabsf((float)k - b->middle) / b->width;

		sum += (double)(power_at(bins, w->n, k) * (1 - off * off));
	}
	if (sum <= 0)
		return 0;
	db = 10 * log10(sum / (HANN_LEAKS * full * full));
	db = 255 * (1 - db / ANALYSIS_FLOOR_DB);
	return (uint8_t)(db < 0 ? 0 : db > 255 ? 255 : lround(db));
}

static int mid_of(const struct analyser *a, unsigned frame)
{
	return (a->pcm[2 * frame] + a->pcm[2 * frame + 1]) / 2;
}

static int8_t byte_of(int sample)
{
	return (int8_t)(sample / (FULL_SCALE / 128));
}

/* The wave stands still on the screen if it always begins alike. */
static unsigned find_crossing(const struct analyser *a, unsigned from)
{
	for (unsigned i = from; i < from + TRIGGER; i++)
		if (mid_of(a, i - 1) < 0 && mid_of(a, i) >= 0)
			return i;
	return from;
}

static void draw_points(const struct analyser *a, struct analysis *out)
{
	const unsigned from = HALF - SHOWN / 2, wave = find_crossing(a, from);

	for (unsigned i = 0; i < ANALYSIS_POINTS; i++) {
		const unsigned at = from + i * ANALYSIS_POINT_FRAMES;

		out->wave[i] = byte_of(mid_of(a, wave + i * ANALYSIS_POINT_FRAMES));
		out->scope[i][0] = byte_of((a->pcm[2 * at + 1] - a->pcm[2 * at]) / 2);
		out->scope[i][1] = byte_of(mid_of(a, at));
	}
}

/* Copies the sound around a frame. What is not in the ring, or no longer, is silence. */
static void copy_sound(struct analyser *a, uint64_t at)
{
	const uint64_t written = track_ring_written(a->ring),
		       oldest = written > TRACK_RING_FRAMES ? written - TRACK_RING_FRAMES : 0;
	const size_t before = at < oldest + HALF ? (size_t)(oldest + HALF - at) : 0;
	size_t n = before;

	memset(a->pcm, 0, before * TRACK_RING_CHANNELS * sizeof *a->pcm);
	n += track_ring_copy(a->ring, at + before - HALF, a->pcm + 2 * before, LONG - before);
	memset(a->pcm + 2 * n, 0, (LONG - n) * TRACK_RING_CHANNELS * sizeof *a->pcm);
}

static void analyse(struct analyser *a, uint64_t at)
{
	struct analysis out;

	copy_sound(a, at);
	for (unsigned i = 0; i < WINDOWS; i++)
		transform(a, i);
	for (unsigned b = 0; b < ANALYSIS_BANDS; b++)
		out.bands[b] = measure_band(a, &a->bands[b]);
	draw_points(a, &out);
	track_ring_put_analysis(a->ring, at, &out);
}

void analyser_run(struct analyser *a, bool ended)
{
	const uint64_t written = track_ring_written(a->ring),
		       ready = ended		 ? written
			       : written >= HALF ? written - HALF
						 : 0,
		       taken = track_ring_taken(a->ring);

	if (a->next < taken)
		a->next = (taken + ANALYSIS_STEP - 1) / ANALYSIS_STEP * ANALYSIS_STEP;
	for (; a->next < ready; a->next += ANALYSIS_STEP)
		analyse(a, a->next);
}
