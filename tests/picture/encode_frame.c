#include <string.h>

#include <libavcodec/avcodec.h>

#include "tests/picture/encode_frame.h"

static const struct {
	const char *name, *options;
} encoders[FRAME_CODECS] = {
	[FRAME_H264] = {"libx264", "preset=ultrafast:tune=zerolatency"},
	[FRAME_VP8] = {"libvpx", "deadline=realtime:cpu-used=8:lag-in-frames=0"},
	[FRAME_AV1] = {"libaom-av1", "usage=realtime:cpu-used=8:lag-in-frames=0"},
};

enum { CELLS = 16, BITS = CELLS - 2, WHITE = 235, BLACK = 16 };

/* The first cell is white, the last black. */
static uint8_t cell_of(unsigned number, int cell)
{
	bool white = cell == 0 || (cell < CELLS - 1 && number >> (BITS - cell) & 1);

	return white ? WHITE : BLACK;
}

static void paint(const AVFrame *f, const struct frame_scene *s, int at)
{
	for (int y = 0; y < f->height; y++)
		for (int x = 0; x < f->width; x++)
			f->data[0][y * f->linesize[0] + x] =
				s->number && y < f->height / 8
					? cell_of(s->number, x * CELLS / f->width)
				: x - at < f->width / 2 ? s->brightness
							: s->brightness / 4;
	for (int plane = 1; plane < 3; plane++)
		for (int y = 0; y < (f->height + 1) / 2; y++)
			memset(f->data[plane] + (ptrdiff_t)y * f->linesize[plane], 128,
			       (size_t)(f->width + 1) / 2);
}

/* The packet of the n-th frame, as encoders without delay give it. */
static size_t encode_until(AVCodecContext *c, AVFrame *f, const struct frame_scene *s, int n,
			   uint8_t *out)
{
	AVPacket *packet = av_packet_alloc();
	size_t size = 0;
	int got = 0;

	for (int i = 0; packet && got <= n && i <= n + 2; i++) {
		if (av_frame_make_writable(f))
			break;
		paint(f, s, i * 4);
		f->pts = i;
		if (avcodec_send_frame(c, f))
			break;
		while (avcodec_receive_packet(c, packet) == 0) {
			if (got++ == n && (size_t)packet->size <= FRAME_BYTES_MAX) {
				size = (size_t)packet->size;
				memcpy(out, packet->data, size);
			}
			av_packet_unref(packet);
		}
	}
	av_packet_free(&packet);
	return size;
}

size_t frame_encode(uint8_t *out, enum frame_codec codec, const struct frame_scene *scene, bool key)
{
	const AVCodec *encoder = avcodec_find_encoder_by_name(encoders[codec].name);
	AVCodecContext *c = encoder ? avcodec_alloc_context3(encoder) : NULL;
	AVFrame *f = av_frame_alloc();
	AVDictionary *options = NULL;
	size_t n = 0;

	if (!c || !f)
		goto out;
	c->width = f->width = (int)scene->width;
	c->height = f->height = (int)scene->height;
	c->pix_fmt = AV_PIX_FMT_YUV420P;
	f->format = AV_PIX_FMT_YUV420P;
	c->time_base = (AVRational){1, 30};
	c->gop_size = 100;
	c->thread_count = 1;
	c->bit_rate = 2000000;
	av_log_set_level(AV_LOG_QUIET);
	if (av_dict_parse_string(&options, encoders[codec].options, "=", ":", 0) >= 0 &&
	    avcodec_open2(c, encoder, &options) == 0 && av_frame_get_buffer(f, 0) == 0)
		n = encode_until(c, f, scene, key ? 0 : 1, out);
out:
	av_dict_free(&options);
	av_frame_free(&f);
	avcodec_free_context(&c);
	return n;
}
