#include "mediad/audio/resample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <samplerate.h>

#include "mediad/audio/upsampler.h"

enum { RATE_MIN = 8000, RATE_MAX = 48000, CHUNK = 480, CHUNK_OUT = CHUNK * (RATE_MAX / RATE_MIN) };

struct resample {
	SRC_STATE *src;		     /* NULL when the rates are equal or upsampler is used */
	struct upsampler *upsampler; /* when `to` is twice `from`, else NULL */
	uint32_t from, to;
	uint64_t in, out; /* samples so far */
	bool ended;
	float fin[CHUNK], fout[CHUNK_OUT];
	int16_t ready[CHUNK_OUT];
};

/* The output of one call. */
struct sink {
	int16_t *out;
	size_t n;
	uint64_t limit; /* upper bound of r->out: no sample beyond the end of the input */
};

int resample_alloc(struct resample **out, uint32_t from, uint32_t to)
{
	struct resample *r;
	int err = 0;

	if (from < RATE_MIN || from > RATE_MAX || to < RATE_MIN || to > RATE_MAX)
		return EINVAL;
	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	r->from = from;
	r->to = to;
	if (to == 2 * from) {
		r->upsampler = malloc(sizeof *r->upsampler);
		if (!r->upsampler) {
			resample_free(r);
			return ENOMEM;
		}
		upsampler_init(r->upsampler);
	} else if (from != to) {
		r->src = src_new(SRC_SINC_MEDIUM_QUALITY, 1, &err);
		if (!r->src) {
			resample_free(r);
			return ENOMEM;
		}
	}
	*out = r;
	return 0;
}

struct resample *resample_free(struct resample *r)
{
	if (!r)
		return NULL;
	if (r->src)
		src_delete(r->src);
	free(r->upsampler);
	free(r);
	return NULL;
}

uint64_t resample_scale(uint64_t out, uint32_t from, uint32_t to)
{
	return out * from / to;
}

uint64_t resample_input_of(const struct resample *r, uint64_t out)
{
	uint64_t in = resample_scale(out, r->from, r->to);

	return in < r->in ? in : r->in;
}

static uint64_t count_output(const struct resample *r, uint64_t in)
{
	return (in * r->to + r->from - 1) / r->from;
}

size_t resample_output_max(const struct resample *r, size_t n)
{
	return (size_t)(count_output(r, r->in + n) - r->out);
}

/* Appends n samples of r->ready. */
static void deliver_samples(struct resample *r, struct sink *to, size_t n)
{
	if (n > to->limit - r->out)
		n = (size_t)(to->limit - r->out);
	memcpy(to->out + to->n, r->ready, n * sizeof *to->out);
	to->n += n;
	r->out += n;
}

/* Converts n samples of fin; with `end` it runs until no more output comes. */
static int convert_chunk(struct resample *r, size_t n, bool end, struct sink *to)
{
	SRC_DATA d = {.data_in = r->fin,
		      .data_out = r->fout,
		      .input_frames = (long)n,
		      .output_frames = CHUNK_OUT,
		      .src_ratio = (double)r->to / r->from,
		      .end_of_input = end};

	do {
		if (src_process(r->src, &d))
			return EIO;
		src_float_to_short_array(r->fout, r->ready, (int)d.output_frames_gen);
		deliver_samples(r, to, (size_t)d.output_frames_gen);
		d.data_in += d.input_frames_used;
		d.input_frames -= d.input_frames_used;
	} while (d.input_frames > 0 || (end && d.output_frames_gen > 0));
	return 0;
}

static void pad_output(struct resample *r, struct sink *to)
{
	size_t n = (size_t)(to->limit - r->out);

	memset(to->out + to->n, 0, n * sizeof *to->out);
	to->n += n;
	r->out += n;
}

int resample_run(struct resample *r, const int16_t *in, size_t n, bool end, int16_t *out,
		 size_t cap, size_t *made)
{
	struct sink to = {.out = out, .limit = count_output(r, r->in + n)};
	int err = 0;

	if (r->ended)
		return EPIPE;
	if (cap < resample_output_max(r, n))
		return EMSGSIZE;
	r->in += n;
	r->ended = end;
	if (!r->src && !r->upsampler) {
		memcpy(out, in, n * sizeof *out);
		r->out += n;
		*made = n;
		return 0;
	}
	while (n && !err) {
		size_t k = n < CHUNK ? n : CHUNK;

		if (r->upsampler) {
			deliver_samples(r, &to, upsampler_run(r->upsampler, in, k, r->ready));
		} else {
			src_short_to_float_array(in, r->fin, (int)k);
			err = convert_chunk(r, k, false, &to);
		}
		in += k;
		n -= k;
	}
	if (end && r->upsampler)
		deliver_samples(r, &to,
				upsampler_flush(r->upsampler, UPSAMPLER_HALF_TAPS, r->ready));
	else if (end && !err)
		err = convert_chunk(r, 0, true, &to);
	if (err)
		return err;
	if (end)
		pad_output(r, &to);
	*made = to.n;
	return 0;
}
