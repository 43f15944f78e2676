#include "mediad/decoder/vp8.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>

enum {
	SPEED = 8,
	/* Of an even rate: a key frame may have so much of what is due to a frame, and none is
	 * finer than anybody sees. */
	INTRA_PERCENT = 600,
	QUANTIZER_MIN = 10,
};

int vp8_open(AVCodecContext **out, const struct vp8_conf *conf)
{
	const AVCodec *codec = avcodec_find_encoder_by_name("libvpx");
	AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;

	*out = NULL;
	if (!c)
		return codec ? ENOMEM : ENOTSUP;
	c->width = conf->width;
	c->height = conf->height;
	c->pix_fmt = AV_PIX_FMT_YUV420P;
	c->time_base = (AVRational){1, VP8_CLOCK};
	c->framerate = (AVRational){(int)conf->fps, 1};
	c->bit_rate = conf->bitrate;
	if (conf->even) {
		c->rc_min_rate = c->rc_max_rate = c->bit_rate;
		c->rc_buffer_size = (int)conf->bitrate;
		c->qmin = QUANTIZER_MIN;
		av_opt_set_int(c->priv_data, "max-intra-rate", INTRA_PERCENT, 0);
	}
	c->gop_size = (int)conf->gop;
	c->thread_count = 1;
	av_opt_set(c->priv_data, "deadline", "realtime", 0);
	av_opt_set_int(c->priv_data, "cpu-used", SPEED, 0);
	av_opt_set_int(c->priv_data, "lag-in-frames", 0, 0);
	av_opt_set_int(c->priv_data, "auto-alt-ref", 0, 0);
	if (avcodec_open2(c, codec, NULL)) {
		avcodec_free_context(&c);
		return ENOMEM;
	}
	*out = c;
	return 0;
}
