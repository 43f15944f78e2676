#include "mediad/decoder/scale.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Shares of a result have 12 bits, and rows between the two passes 8 behind the point. */
enum { SHARE_BITS = 12, ROW_BITS = 8, SHARE = 1 << SHARE_BITS };

/* The samples of the source that one of the result is made of. */
struct span {
	unsigned first, n;
	size_t at; /* of its shares */
};

struct axis {
	struct span *spans;
	uint16_t *shares;
};

struct scale {
	struct scale_conf conf;
	struct axis across, down;
	uint32_t *sum; /* of a row of the source's width */
	uint16_t *row;
	uint8_t levels[256];
};

/* The shares of a span have the sum SHARE: what rounding leaves belongs to the first. */
static void share_out(const struct axis *a, struct span *s, uint64_t from, uint64_t to, unsigned in,
		      unsigned out)
{
	unsigned left = SHARE;

	for (unsigned i = 0; i < s->n; i++) {
		uint64_t begin = (uint64_t)(s->first + i) * out, end = begin + out;
		uint64_t part = (end < to ? end : to) - (begin > from ? begin : from);

		a->shares[s->at + i] = (uint16_t)(part * SHARE / in);
		left -= a->shares[s->at + i];
	}
	a->shares[s->at] = (uint16_t)(a->shares[s->at] + left);
}

/* Places are in units of 1/(in × out) of the side, in which both kinds of samples have whole
 * borders. */
static int fill_axis(struct axis *a, unsigned in, unsigned out)
{
	size_t n = 0;

	a->spans = calloc(out, sizeof *a->spans);
	/* Neighbours have one sample of the source in common at most. */
	a->shares = calloc((size_t)in + 2 * (size_t)out, sizeof *a->shares);
	if (!a->spans || !a->shares)
		return ENOMEM;
	for (unsigned i = 0; i < out; i++) {
		struct span *s = &a->spans[i];
		uint64_t from = (uint64_t)i * in, to = from + in;

		s->first = (unsigned)(from / out);
		s->n = (unsigned)((to + out - 1) / out) - s->first;
		s->at = n;
		n += s->n;
		share_out(a, s, from, to, in, out);
	}
	return 0;
}

/* Full range to that of streams (ITU-R BT.601): 16 to 235, or 240. */
static void fill_levels(struct scale *s)
{
	for (int i = 0; i < 256; i++) {
		int v = i;

		if (s->conf.range == SCALE_LUMA)
			v = 16 + (i * 219 + 127) / 255;
		else if (s->conf.range == SCALE_CHROMA)
			v = 128 + ((i - 128) * 224 + (i < 128 ? -127 : 127)) / 255;
		s->levels[i] = (uint8_t)v;
	}
}

static bool is_side(unsigned n)
{
	return n >= 1 && n <= SCALE_SIDE_MAX;
}

int scale_alloc(struct scale **out, const struct scale_conf *conf)
{
	struct scale *s;
	int err;

	*out = NULL;
	if (!is_side(conf->width) || !is_side(conf->height) || !is_side(conf->out_width) ||
	    !is_side(conf->out_height) || conf->depth < 8 || conf->depth > SCALE_DEPTH_MAX)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->conf = *conf;
	err = fill_axis(&s->across, conf->width, conf->out_width);
	if (!err)
		err = fill_axis(&s->down, conf->height, conf->out_height);
	s->sum = calloc(conf->width, sizeof *s->sum);
	s->row = calloc(conf->width, sizeof *s->row);
	if (err || !s->sum || !s->row) {
		scale_free(s);
		return ENOMEM;
	}
	fill_levels(s);
	*out = s;
	return 0;
}

struct scale *scale_free(struct scale *s)
{
	if (!s)
		return NULL;
	free(s->across.spans);
	free(s->across.shares);
	free(s->down.spans);
	free(s->down.shares);
	free(s->sum);
	free(s->row);
	free(s);
	return NULL;
}

static void add_bytes(uint32_t *restrict sum, const uint8_t *restrict p, size_t n, uint32_t share)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += p[i] * share;
}

/* Bits above the depth are none that a decoder gives. */
static void add_words(uint32_t *restrict sum, const uint8_t *restrict p, size_t n, uint32_t share,
		      uint16_t most)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t v;

		memcpy(&v, p + 2 * i, sizeof v);
		sum[i] += (v < most ? v : most) * share;
	}
}

/* Makes a row of the source's width for this row of the result. */
static void scale_down(const struct scale *s, const uint8_t *in, ptrdiff_t stride, unsigned y)
{
	const struct span *span = &s->down.spans[y];
	const unsigned shift = SHARE_BITS - ROW_BITS + s->conf.depth - 8;
	const size_t n = s->conf.width;

	memset(s->sum, 0, n * sizeof *s->sum);
	for (unsigned i = 0; i < span->n; i++) {
		const uint8_t *p = in + (ptrdiff_t)(span->first + i) * stride;

		if (s->conf.depth == 8)
			add_bytes(s->sum, p, n, s->down.shares[span->at + i]);
		else
			add_words(s->sum, p, n, s->down.shares[span->at + i],
				  (uint16_t)((1u << s->conf.depth) - 1));
	}
	for (size_t i = 0; i < n; i++)
		s->row[i] = (uint16_t)(s->sum[i] >> shift);
}

static void scale_across(const struct scale *s, uint8_t *out)
{
	for (unsigned x = 0; x < s->conf.out_width; x++) {
		const struct span *span = &s->across.spans[x];
		const uint16_t *share = s->across.shares + span->at;
		uint32_t sum = 1u << (SHARE_BITS + ROW_BITS - 1);

		for (unsigned i = 0; i < span->n; i++)
			sum += (uint32_t)s->row[span->first + i] * share[i];
		sum >>= SHARE_BITS + ROW_BITS;
		out[x] = s->levels[sum < 255 ? sum : 255];
	}
}

void scale_run(const struct scale *s, const uint8_t *in, ptrdiff_t stride, uint8_t *out,
	       ptrdiff_t out_stride)
{
	for (unsigned y = 0; y < s->conf.out_height; y++) {
		scale_down(s, in, stride, y);
		scale_across(s, out + (ptrdiff_t)y * out_stride);
	}
}

void scale_turn(const uint8_t *in, ptrdiff_t stride, unsigned width, unsigned height,
		unsigned quarters, uint8_t *out, ptrdiff_t out_stride)
{
	for (unsigned y = 0; y < height; y++) {
		const uint8_t *p = in + (ptrdiff_t)y * stride;

		for (unsigned x = 0; x < width; x++) {
			unsigned to_x = x, to_y = y;

			if (quarters % 4 == 1)
				to_x = height - 1 - y, to_y = x;
			else if (quarters % 4 == 2)
				to_x = width - 1 - x, to_y = height - 1 - y;
			else if (quarters % 4 == 3)
				to_x = y, to_y = width - 1 - x;
			out[(ptrdiff_t)to_y * out_stride + to_x] = p[x];
		}
	}
}
