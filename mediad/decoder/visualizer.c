#include "mediad/decoder/visualizer.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <stdlib.h>
#include <time.h>

#include "mediad/decoder/vp8.h"
#include "mediad/music/video_ring.h"
#include "mediad/video/codec.h"
#include "proto/base/time.h"

enum {
	LOOK_MS = 10,		  /* for the next analysis */
	STILL_MS = 500,		  /* until the same picture is sent again */
	GOP = 2 * VISUALIZER_FPS, /* viewers who come wait for a key frame */
};

struct visualizer {
	const struct visualizer_conf *conf;
	AVCodecContext *codec;
	AVFrame *frame;
	AVPacket *packet;
	uint64_t began, shown; /* ns: the start; when the last picture was sent */
	int64_t last_us;       /* of it */
	uint64_t fed;	       /* analyses that were taken */
	bool told;
	struct picture picture;
};

static uint64_t read_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

static enum decoder_reason open_codec(struct visualizer *v)
{
	const struct vp8_conf conf = {.width = PICTURE_WIDTH,
				      .height = PICTURE_HEIGHT,
				      .fps = VISUALIZER_FPS,
				      .bitrate = VISUALIZER_BITRATE,
				      .gop = GOP};
	int err = vp8_open(&v->codec, &conf);

	return !err		? DECODER_REASON_UNKNOWN
	       : err == ENOTSUP ? DECODER_REASON_VIDEO_CODEC
				: DECODER_REASON_LIMIT;
}

/* The planes of the frame are those of the picture. */
static enum decoder_reason open_frame(struct visualizer *v)
{
	v->frame = av_frame_alloc();
	v->packet = av_packet_alloc();
	if (!v->frame || !v->packet)
		return DECODER_REASON_LIMIT;
	v->frame->format = AV_PIX_FMT_YUV420P;
	v->frame->width = PICTURE_WIDTH;
	v->frame->height = PICTURE_HEIGHT;
	v->frame->data[0] = v->picture.y;
	v->frame->data[1] = v->picture.u;
	v->frame->data[2] = v->picture.v;
	v->frame->linesize[0] = PICTURE_WIDTH;
	v->frame->linesize[1] = v->frame->linesize[2] = PICTURE_WIDTH / 2;
	return DECODER_REASON_UNKNOWN;
}

static void report_opened(struct visualizer *v)
{
	const struct decoder_opened opened = {.video = {.codec = VIDEO_VP8,
							.fps = VISUALIZER_FPS,
							.width = PICTURE_WIDTH,
							.height = PICTURE_HEIGHT,
							.bitrate = VISUALIZER_BITRATE}};

	if (!v->told)
		v->conf->openedh(&opened, v->conf->arg);
	v->told = true;
}

/* While nobody takes them pictures are left out: what comes later is no longer heard. */
static void put_packet(struct visualizer *v)
{
	const struct video_unit unit = {.at_us = (uint64_t)v->packet->pts,
					.key = v->packet->flags & AV_PKT_FLAG_KEY,
					.n = (size_t)v->packet->size};

	if (unit.n && unit.n <= VIDEO_RING_UNIT_MAX)
		(void)video_ring_write(v->conf->ring, &unit, v->packet->data);
	report_opened(v);
}

static enum decoder_reason show(struct visualizer *v, uint64_t now)
{
	int64_t us = (int64_t)((now - v->began) / 1000);
	int err;

	v->shown = now;
	v->last_us = us > v->last_us ? us : v->last_us + 1;
	v->frame->pts = v->last_us;
	err = avcodec_send_frame(v->codec, v->frame);
	while (!err && !(err = avcodec_receive_packet(v->codec, v->packet))) {
		put_packet(v);
		av_packet_unref(v->packet);
	}
	return err && err != AVERROR(EAGAIN) ? DECODER_REASON_LIMIT : DECODER_REASON_UNKNOWN;
}

/* A key frame that found no room is missed by all that follow, so none is encoded then. */
static enum decoder_reason step(struct visualizer *v)
{
	const uint64_t now = read_clock();
	struct analysis a;
	bool news = false;

	while (video_ring_take(v->conf->ring, &v->fed, &a)) {
		picture_draw(&v->picture, &a);
		news = true;
	}
	if ((!news && v->shown && now - v->shown < STILL_MS * NS_PER_MS) ||
	    video_ring_rests(v->conf->ring))
		return DECODER_REASON_UNKNOWN;
	return show(v, now);
}

enum decoder_reason visualizer_run(const struct visualizer_conf *conf)
{
	const struct timespec pause = {0, LOOK_MS * (long)NS_PER_MS};
	struct visualizer *v = calloc(1, sizeof *v);
	enum decoder_reason reason;

	if (!v)
		return DECODER_REASON_LIMIT;
	v->conf = conf;
	v->began = read_clock();
	v->last_us = -1;
	picture_init(&v->picture, conf->mode);
	reason = open_codec(v);
	if (!reason)
		reason = open_frame(v);
	while (!reason) {
		reason = step(v);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	avcodec_free_context(&v->codec);
	av_frame_free(&v->frame);
	av_packet_free(&v->packet);
	free(v);
	return reason;
}
