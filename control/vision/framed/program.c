/* framed: key frames of videos, by libav. */
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/cpu.h>

#include "control/vision/imaged/decode.h"
#include "control/vision/imaged/program.h"

/* No other decoder can be reached. */
static const char *const decoders[FRAME_CODECS] = {
	[FRAME_H264] = "h264", [FRAME_VP8] = "vp8", [FRAME_AV1] = "libdav1d"};

static void ignore_log(void *context, int level, const char *format, va_list list)
{
	(void)context, (void)level, (void)format, (void)list;
}

static void prepare(void)
{
	av_log_set_callback(ignore_log);
	av_cpu_count();
	av_get_cpu_flags();
}

static uint8_t clip(int v)
{
	return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* ITU-R BT.601 and BT.709 in 1/1024; larger pictures that do not say are BT.709. */
struct matrix {
	int luma, red_v, green_u, green_v, blue_u, black;
};

static struct matrix choose_matrix(const AVFrame *f)
{
	static const struct matrix matrices[2][2] = {
		{{1192, 1634, 401, 832, 2066, 16}, {1024, 1436, 352, 731, 1815, 0}},
		{{1192, 1836, 218, 546, 2163, 16}, {1024, 1613, 192, 479, 1900, 0}}};
	bool full = f->color_range == AVCOL_RANGE_JPEG || f->format == AV_PIX_FMT_YUVJ420P;
	bool hd = f->colorspace == AVCOL_SPC_BT709 ||
		  (f->colorspace == AVCOL_SPC_UNSPECIFIED && f->height >= 720);

	return matrices[hd][full];
}

static void convert_row(const AVFrame *f, int y, const struct matrix *m, uint8_t *out)
{
	const uint8_t *luma = f->data[0] + (ptrdiff_t)y * f->linesize[0];
	const uint8_t *u = NULL, *v = NULL;

	if (f->format != AV_PIX_FMT_GRAY8) {
		u = f->data[1] + (ptrdiff_t)(y / 2) * f->linesize[1];
		v = f->data[2] + (ptrdiff_t)(y / 2) * f->linesize[2];
	}
	for (int x = 0; x < f->width; x++, out += 3) {
		int l = (luma[x] - m->black) * m->luma + 512;
		int du = u ? u[x / 2] - 128 : 0, dv = v ? v[x / 2] - 128 : 0;

		out[0] = clip((l + dv * m->red_v) / 1024);
		out[1] = clip((l - du * m->green_u - dv * m->green_v) / 1024);
		out[2] = clip((l + du * m->blue_u) / 1024);
	}
}

/* libav reads a few bytes past the end of a packet. */
static AVPacket *make_packet(struct slice in)
{
	AVPacket *packet = av_packet_alloc();

	if (!packet || av_new_packet(packet, (int)in.n) < 0)
		decode_fail(IMAGE_NO_MEMORY);
	memcpy(packet->data, in.p, in.n);
	packet->flags |= AV_PKT_FLAG_KEY;
	return packet;
}

static AVFrame *decode_packet(AVCodecContext *c, const AVPacket *packet)
{
	AVFrame *f = av_frame_alloc();
	int err = f ? 0 : AVERROR(ENOMEM);

	if (!err)
		err = avcodec_send_packet(c, packet);
	if (!err)
		err = avcodec_send_packet(c, NULL);
	if (!err)
		err = avcodec_receive_frame(c, f);
	if (err)
		decode_fail(err == AVERROR(ENOMEM) ? IMAGE_NO_MEMORY : IMAGE_DAMAGED);
	return f;
}

static void decode_key_frame(struct slice in, const struct image_header *h,
			     const struct image_limits *limits, struct pixels *out)
{
	const AVCodec *codec =
		limits->codec ? avcodec_find_decoder_by_name(decoders[limits->codec]) : NULL;
	AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
	struct matrix matrix;
	AVFrame *f;

	if (!c)
		decode_fail(IMAGE_UNSUPPORTED);
	c->thread_count = 1;
	c->max_pixels = FRAME_PIXELS_MAX;
	if (avcodec_open2(c, codec, NULL))
		decode_fail(IMAGE_NO_MEMORY);
	f = decode_packet(c, make_packet(in));
	if (f->width != (int)h->width || f->height != (int)h->height)
		decode_fail(IMAGE_DAMAGED);
	if (f->format != AV_PIX_FMT_YUV420P && f->format != AV_PIX_FMT_YUVJ420P &&
	    f->format != AV_PIX_FMT_GRAY8)
		decode_fail(IMAGE_UNSUPPORTED);
	matrix = choose_matrix(f);
	*out = (struct pixels){h->width, h->height, 3,
			       decode_alloc((size_t)h->width * h->height * 3)};
	for (int y = 0; y < f->height; y++)
		convert_row(f, y, &matrix, out->p + (size_t)y * h->width * 3);
}

const struct image_program image_program = {.name = "framed",
					    .what = "key frames of H.264, VP8 and AV1",
					    .decode = decode_key_frame,
					    .prepare = prepare};
