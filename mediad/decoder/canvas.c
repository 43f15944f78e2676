#include "mediad/decoder/canvas.h"

#include <errno.h>
#include <libavutil/avconfig.h>
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mediad/decoder/scale.h"

enum { PLANES = 3, GREY = 128, SIDE_MIN = 16, ASPECT_MAX = 16 };

struct canvas {
	struct canvas_conf conf;
	AVFrame *upright, *turned; /* turned: as the source is; NULL without turns */
	/* What the planes are scaled from. */
	int width, height, format;
	bool full;
	struct scale *planes[PLANES]; /* NULL: the source has no such plane */
};

static int round_up(int n, int bits)
{
	return -(-n >> bits);
}

/* Planes of bytes, or of words in this machine's order, and brightness first. */
static bool is_drawn(const AVPixFmtDescriptor *d)
{
	const uint64_t never = AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
			       AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_RGB |
			       AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER;

	if (!d || d->flags & never || d->nb_components == 2 || d->nb_components == 0)
		return false;
	for (int i = 0; i < d->nb_components; i++) {
		const AVComponentDescriptor *p = &d->comp[i];

		if (p->plane != i || p->offset || p->shift || p->depth < 8 ||
		    p->depth > SCALE_DEPTH_MAX || p->depth != d->comp[0].depth ||
		    p->step != (p->depth > 8 ? 2 : 1))
			return false;
	}
	return d->comp[0].depth == 8 || !(d->flags & AV_PIX_FMT_FLAG_BE) == !AV_HAVE_BIGENDIAN;
}

static bool is_full(const AVFrame *f)
{
	return f->color_range == AVCOL_RANGE_JPEG || f->format == AV_PIX_FMT_YUVJ420P ||
	       f->format == AV_PIX_FMT_YUVJ422P || f->format == AV_PIX_FMT_YUVJ444P ||
	       f->format == AV_PIX_FMT_YUVJ440P || f->format == AV_PIX_FMT_YUVJ411P;
}

/* ---- sizes ---- */

static AVRational pixel_of(const struct canvas_conf *conf, const AVFrame *f)
{
	AVRational a = f->sample_aspect_ratio.num > 0 && f->sample_aspect_ratio.den > 0
			       ? f->sample_aspect_ratio
			       : conf->aspect;

	if (a.num <= 0 || a.den <= 0 || a.num / a.den >= ASPECT_MAX || a.den / a.num >= ASPECT_MAX)
		a = (AVRational){1, 1};
	return a;
}

static int bring_even(double side)
{
	int n = ((int)(side + 1) / 2) * 2;

	return n < SIDE_MIN ? SIDE_MIN : n;
}

/* Pixels become square by losing some in one direction, never by making any up. */
static void find_size(const struct canvas_conf *conf, const AVFrame *f, int *width, int *height)
{
	const double pixel = av_q2d(pixel_of(conf, f));
	double w = f->width, h = f->height, factor;

	if (pixel < 1)
		w *= pixel;
	else
		h /= pixel;
	factor = w > h ? conf->max_long / w : conf->max_short / w;
	if (factor > (w > h ? conf->max_short / h : conf->max_long / h))
		factor = w > h ? conf->max_short / h : conf->max_long / h;
	if (factor > 1)
		factor = 1;
	*width = bring_even(w * factor);
	*height = bring_even(h * factor);
}

/* ---- memory ---- */

static AVFrame *make_frame(int width, int height)
{
	AVFrame *f = av_frame_alloc();

	if (!f)
		return NULL;
	f->format = AV_PIX_FMT_YUV420P;
	f->width = width;
	f->height = height;
	if (av_frame_get_buffer(f, 0))
		av_frame_free(&f);
	return f;
}

int canvas_alloc(struct canvas **out, const struct canvas_conf *conf, const AVFrame *first)
{
	struct canvas *c;
	int width, height;
	bool across = conf->quarters % 2;

	*out = NULL;
	if (!is_drawn(av_pix_fmt_desc_get(first->format)) || first->width < 1 || first->height < 1)
		return ENOTSUP;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->conf = *conf;
	c->format = AV_PIX_FMT_NONE;
	find_size(conf, first, &width, &height);
	c->upright = make_frame(across ? height : width, across ? width : height);
	if (conf->quarters % 4)
		c->turned = make_frame(width, height);
	if (!c->upright || (conf->quarters % 4 && !c->turned)) {
		canvas_free(c);
		return ENOMEM;
	}
	*out = c;
	return 0;
}

static void forget_scales(struct canvas *c)
{
	for (unsigned i = 0; i < PLANES; i++)
		c->planes[i] = scale_free(c->planes[i]);
	c->format = AV_PIX_FMT_NONE;
}

struct canvas *canvas_free(struct canvas *c)
{
	if (!c)
		return NULL;
	forget_scales(c);
	av_frame_free(&c->upright);
	av_frame_free(&c->turned);
	free(c);
	return NULL;
}

int canvas_width(const struct canvas *c)
{
	return c->upright->width;
}

int canvas_height(const struct canvas *c)
{
	return c->upright->height;
}

/* ---- drawing ---- */

static int prepare_plane(struct canvas *c, unsigned i, const AVFrame *in, const AVFrame *to,
			 const AVPixFmtDescriptor *d)
{
	int bits = i ? 1 : 0;
	const struct scale_conf conf = {
		.width = (unsigned)round_up(in->width, i ? d->log2_chroma_w : 0),
		.height = (unsigned)round_up(in->height, i ? d->log2_chroma_h : 0),
		.out_width = (unsigned)round_up(to->width, bits),
		.out_height = (unsigned)round_up(to->height, bits),
		.depth = (unsigned)d->comp[0].depth,
		.range = !c->full ? SCALE_AS_IT_IS
			 : i	  ? SCALE_CHROMA
				  : SCALE_LUMA};
	int err = scale_alloc(&c->planes[i], &conf);

	return err == EINVAL ? ENOTSUP : err;
}

/* Frames may change their size and layout in the middle of a source. */
static int prepare_scales(struct canvas *c, const AVFrame *in, const AVFrame *to)
{
	const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(in->format);
	bool full = is_full(in);
	int err = 0;

	if (in->width == c->width && in->height == c->height && in->format == c->format &&
	    full == c->full)
		return 0;
	forget_scales(c);
	if (!is_drawn(d) || in->width < 1 || in->height < 1)
		return ENOTSUP;
	c->full = full;
	for (unsigned i = 0; i < (d->nb_components == 1 ? 1 : PLANES) && !err; i++)
		err = prepare_plane(c, i, in, to, d);
	if (err) {
		forget_scales(c);
		return err;
	}
	c->width = in->width;
	c->height = in->height;
	c->format = in->format;
	return 0;
}

static void draw_plane(const struct canvas *c, unsigned i, const AVFrame *in, AVFrame *to)
{
	if (c->planes[i])
		scale_run(c->planes[i], in->data[i], in->linesize[i], to->data[i], to->linesize[i]);
	else
		memset(to->data[i], GREY, (size_t)to->linesize[i] * (size_t)(to->height / 2));
}

static void turn_planes(const struct canvas *c)
{
	for (unsigned i = 0; i < PLANES; i++)
		scale_turn(c->turned->data[i], c->turned->linesize[i],
			   (unsigned)(c->turned->width / (i ? 2 : 1)),
			   (unsigned)(c->turned->height / (i ? 2 : 1)), c->conf.quarters,
			   c->upright->data[i], c->upright->linesize[i]);
}

int canvas_draw(struct canvas *c, AVFrame *in, AVFrame **out)
{
	AVFrame *to = c->turned ? c->turned : c->upright;
	int err;

	if (in->format == AV_PIX_FMT_YUV420P && !is_full(in) && !c->turned &&
	    in->width == to->width && in->height == to->height) {
		*out = in;
		return 0;
	}
	err = prepare_scales(c, in, to);
	if (!err && (av_frame_make_writable(c->upright) < 0 || av_frame_make_writable(to) < 0))
		err = ENOMEM;
	if (err)
		return err;
	for (unsigned i = 0; i < PLANES; i++)
		draw_plane(c, i, in, to);
	if (c->turned)
		turn_planes(c);
	*out = c->upright;
	return 0;
}
