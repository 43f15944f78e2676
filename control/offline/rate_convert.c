#include "control/offline/rate_convert.h"

#include <errno.h>
#include <samplerate.h>
#include <stdlib.h>

struct rate_convert {
	SRC_STATE *src;
	double ratio;
	float *in, *out;
	int16_t *pcm;
	size_t in_cap, out_cap;
};

int rate_convert_alloc(struct rate_convert **out, unsigned from, unsigned to, bool fine)
{
	struct rate_convert *r = calloc(1, sizeof *r);
	int err;

	if (!r)
		return ENOMEM;
	r->ratio = (double)to / from;
	r->src = src_new(fine ? SRC_SINC_MEDIUM_QUALITY : SRC_SINC_FASTEST, 1, &err);
	if (!r->src) {
		rate_convert_free(r);
		return ENOMEM;
	}
	*out = r;
	return 0;
}

struct rate_convert *rate_convert_free(struct rate_convert *r)
{
	if (!r)
		return NULL;
	if (r->src)
		src_delete(r->src);
	free(r->in);
	free(r->out);
	free(r->pcm);
	free(r);
	return NULL;
}

void rate_convert_reset(struct rate_convert *r)
{
	src_reset(r->src);
}

static int room(struct rate_convert *r, size_t n)
{
	size_t out = (size_t)((double)n * r->ratio) + 1024;
	void *p;

	if (n > r->in_cap) {
		p = realloc(r->in, n * sizeof *r->in);
		if (!p)
			return ENOMEM;
		r->in = p;
		r->in_cap = n;
	}
	if (out > r->out_cap) {
		p = realloc(r->out, out * sizeof *r->out);
		if (!p)
			return ENOMEM;
		r->out = p;
		p = realloc(r->pcm, out * sizeof *r->pcm);
		if (!p)
			return ENOMEM;
		r->pcm = p;
		r->out_cap = out;
	}
	return 0;
}

int rate_convert_run(struct rate_convert *r, const int16_t *in, size_t n, bool last,
		     const int16_t **out, size_t *out_n)
{
	SRC_DATA d = {.src_ratio = r->ratio, .end_of_input = last};
	size_t got = 0;
	int err = room(r, n);

	if (err)
		return err;
	src_short_to_float_array(in, r->in, (int)n);
	d.data_in = r->in;
	d.input_frames = (long)n;
	do {
		d.data_out = r->out + got;
		d.output_frames = (long)(r->out_cap - got);
		if (src_process(r->src, &d))
			return EIO;
		got += (size_t)d.output_frames_gen;
		d.data_in += d.input_frames_used;
		d.input_frames -= d.input_frames_used;
	} while (got < r->out_cap && (d.input_frames || (last && d.output_frames_gen)));
	src_float_to_short_array(r->out, r->pcm, (int)got);
	*out = r->pcm;
	*out_n = got;
	return 0;
}
