#include "mediad/decoder/convert.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavutil/common.h>
#include <libavutil/mathematics.h>
#include <stdlib.h>

#include "mediad/decoder/canvas.h"
#include "mediad/decoder/vp8.h"
#include "mediad/video/codec.h"

/* No other decoder can be reached. */
#define DECODERS "h264,hevc,vp8,vp9,libdav1d,mpeg4"

enum {
	BAD_PACKETS = 300, /* in a row: the source is damaged */
	JITTER_US = 8000,  /* by which a frame may come early and is encoded all the same */
	FPS_MIN = 10,	   /* for the bitrate */
};
/* What no film lasts, in microseconds: a time beyond it is a damaged one. */
#define TIME_MAX (INT64_C(30) * 86400 * 1000000)

struct convert {
	struct convert_conf conf;
	AVCodecContext *decoder, *encoder;
	AVFrame *frame;
	AVPacket *packet;
	struct canvas *canvas; /* NULL before the first frame */
	struct decoder_video video;
	enum lead_saving saving;
	bool waits; /* for a key frame: packets before it were left out */
	bool shown, sent;
	int64_t shown_us; /* of the newest frame, encoded or not */
	int64_t next_us;  /* before which no frame is encoded */
	int64_t key_us;	  /* of the newest key frame */
	unsigned bad;
};

/* ---- opening ---- */

static const AVCodec *find_decoder(enum AVCodecID id)
{
	return avcodec_find_decoder_by_name(id == AV_CODEC_ID_H264    ? "h264"
					    : id == AV_CODEC_ID_HEVC  ? "hevc"
					    : id == AV_CODEC_ID_VP8   ? "vp8"
					    : id == AV_CODEC_ID_VP9   ? "vp9"
					    : id == AV_CODEC_ID_AV1   ? "libdav1d"
					    : id == AV_CODEC_ID_MPEG4 ? "mpeg4"
								      : "");
}

/* Where nothing tells in which order frames are shown, an H.264 decoder would guess by the first
 * ones; as strictly as the standard has it, it holds as many back as there may be. */
static enum decoder_reason open_decoder(struct convert *c)
{
	const AVCodec *codec = find_decoder(c->conf.codec->codec_id);
	AVCodecContext *d = codec ? avcodec_alloc_context3(codec) : NULL;
	int err;

	c->decoder = d;
	if (!d)
		return codec ? DECODER_REASON_LIMIT : DECODER_REASON_VIDEO_CODEC;
	if (avcodec_parameters_to_context(d, c->conf.codec) < 0)
		return DECODER_REASON_LIMIT;
	d->thread_count = 1;
	d->max_pixels = CONVERT_SOURCE_PIXELS;
	d->pkt_timebase = c->conf.time_base;
	d->codec_whitelist = av_strdup(DECODERS);
	if (!c->conf.order_is_told)
		d->strict_std_compliance = FF_COMPLIANCE_STRICT;
	err = d->codec_whitelist ? avcodec_open2(d, codec, NULL) : AVERROR(ENOMEM);
	return !err			? DECODER_REASON_UNKNOWN
	       : err == AVERROR(ENOMEM) ? DECODER_REASON_LIMIT
					: DECODER_REASON_DAMAGED;
}

enum decoder_reason convert_open(struct convert **out, const struct convert_conf *conf)
{
	struct convert *c = calloc(1, sizeof *c);
	enum decoder_reason reason;

	*out = c;
	if (!c)
		return DECODER_REASON_LIMIT;
	c->conf = *conf;
	c->frame = av_frame_alloc();
	c->packet = av_packet_alloc();
	if (!c->frame || !c->packet)
		return DECODER_REASON_LIMIT;
	reason = open_decoder(c);
	c->conf.codec = NULL;
	return reason;
}

struct convert *convert_free(struct convert *c)
{
	if (!c)
		return NULL;
	canvas_free(c->canvas);
	avcodec_free_context(&c->decoder);
	avcodec_free_context(&c->encoder);
	av_frame_free(&c->frame);
	av_packet_free(&c->packet);
	free(c);
	return NULL;
}

static uint32_t choose_bitrate(int width, int height, unsigned fps)
{
	double share = (double)width * height / (CONVERT_LONG * CONVERT_SHORT) *
		       (fps < FPS_MIN ? FPS_MIN : fps) / CONVERT_FPS;
	double rate = CONVERT_BITRATE_MAX * share;

	return rate < CONVERT_BITRATE_MIN ? CONVERT_BITRATE_MIN : (uint32_t)rate;
}

/* The first frame is there: only now is it sure how large they are. */
static enum decoder_reason open_encoder(struct convert *c)
{
	const struct canvas_conf canvas = {.max_long = CONVERT_LONG,
					   .max_short = CONVERT_SHORT,
					   .aspect = c->conf.aspect,
					   .quarters = c->conf.quarters};
	struct vp8_conf conf = {.fps = c->conf.fps < CONVERT_FPS ? c->conf.fps : CONVERT_FPS,
				.even = true};
	int err = canvas_alloc(&c->canvas, &canvas, c->frame);

	if (err)
		return err == ENOTSUP ? DECODER_REASON_VIDEO_CODEC : DECODER_REASON_LIMIT;
	conf.fps = conf.fps ? conf.fps : 1;
	conf.width = canvas_width(c->canvas);
	conf.height = canvas_height(c->canvas);
	conf.bitrate = choose_bitrate(conf.width, conf.height, conf.fps);
	conf.gop = CONVERT_FPS * CONVERT_KEY_MS / 1000;
	c->video = (struct decoder_video){.codec = VIDEO_VP8,
					  .fps = (uint8_t)conf.fps,
					  .width = (uint16_t)conf.width,
					  .height = (uint16_t)conf.height,
					  .bitrate = conf.bitrate};
	err = vp8_open(&c->encoder, &conf);
	return !err ? DECODER_REASON_UNKNOWN
		    : (err == ENOTSUP ? DECODER_REASON_VIDEO_CODEC : DECODER_REASON_LIMIT);
}

void convert_describe(const struct convert *c, struct decoder_video *out)
{
	*out = c->video;
}

/* ---- encoding ---- */

static enum decoder_reason pass_packets(struct convert *c)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	int err = 0;

	while (!reason && !(err = avcodec_receive_packet(c->encoder, c->packet))) {
		const struct video_unit unit = {.at_us = (uint64_t)c->packet->pts,
						.key = c->packet->flags & AV_PKT_FLAG_KEY,
						.n = (size_t)c->packet->size};

		if (unit.n > VIDEO_RING_UNIT_MAX)
			reason = DECODER_REASON_VIDEO_FRAME;
		else if (unit.n)
			reason = c->conf.unith(&unit, c->packet->data, c->conf.arg);
		av_packet_unref(c->packet);
	}
	if (!reason && err != AVERROR(EAGAIN) && err != AVERROR_EOF)
		reason = DECODER_REASON_LIMIT;
	return reason;
}

static enum decoder_reason encode(struct convert *c, int64_t at_us)
{
	AVFrame *drawn = NULL;
	int err = canvas_draw(c->canvas, c->frame, &drawn);

	if (err)
		return err == ENOTSUP ? DECODER_REASON_VIDEO_CODEC : DECODER_REASON_LIMIT;
	drawn->pts = at_us;
	drawn->pict_type = AV_PICTURE_TYPE_NONE;
	if (!c->sent || at_us - c->key_us >= CONVERT_KEY_MS * INT64_C(1000)) {
		drawn->pict_type = AV_PICTURE_TYPE_I;
		c->key_us = at_us;
	}
	c->sent = true;
	if (avcodec_send_frame(c->encoder, drawn))
		return DECODER_REASON_LIMIT;
	return pass_packets(c);
}

/* ---- frames ---- */

static bool is_due(struct convert *c, int64_t at_us)
{
	static const int64_t parts[] = {
		[LEAD_ALL] = 1, [LEAD_HALF] = 2, [LEAD_THIRD] = 3, [LEAD_KEYS] = 1};
	const int64_t step = INT64_C(1000000) * parts[c->saving] / CONVERT_FPS;

	if (c->sent && at_us + JITTER_US < c->next_us)
		return false;
	c->next_us += step;
	if (!c->sent || c->next_us < at_us)
		c->next_us = at_us + step;
	return true;
}

/* Where a frame has no time it follows the one before. */
static int64_t time_of(const struct convert *c)
{
	int64_t ts = c->frame->best_effort_timestamp, us;

	if (ts == AV_NOPTS_VALUE)
		return c->shown ? c->shown_us + INT64_C(1000000) / (c->conf.fps ? c->conf.fps : 1)
				: 0;
	us = av_rescale_q(av_sat_sub64(ts, c->conf.origin), c->conf.time_base, AV_TIME_BASE_Q);
	return us > 0 ? us : 0;
}

static enum decoder_reason show_frame(struct convert *c)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	int64_t at_us = time_of(c);

	if (at_us > TIME_MAX || (c->shown && at_us <= c->shown_us))
		return ++c->bad > BAD_PACKETS ? DECODER_REASON_DAMAGED : DECODER_REASON_UNKNOWN;
	c->bad = 0;
	c->shown = true;
	c->shown_us = at_us;
	if ((uint64_t)at_us < c->conf.start_us)
		return reason;
	if (!c->canvas)
		reason = open_encoder(c);
	return !reason && is_due(c, at_us) ? encode(c, at_us) : reason;
}

static enum decoder_reason take_frames(struct convert *c)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	int err = 0;

	while (!reason && !(err = avcodec_receive_frame(c->decoder, c->frame))) {
		reason = show_frame(c);
		av_frame_unref(c->frame);
	}
	if (!reason && err == AVERROR(ENOMEM))
		reason = DECODER_REASON_LIMIT;
	else if (!reason && err != AVERROR(EAGAIN) && err != AVERROR_EOF && ++c->bad > BAD_PACKETS)
		reason = DECODER_REASON_DAMAGED;
	return reason;
}

void convert_save(struct convert *c, enum lead_saving saving)
{
	c->saving = saving;
	c->decoder->skip_frame = saving >= LEAD_THIRD ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
	c->decoder->skip_loop_filter = c->decoder->skip_frame;
}

static enum decoder_reason end(struct convert *c)
{
	enum decoder_reason reason;

	(void)!avcodec_send_packet(c->decoder, NULL);
	reason = take_frames(c);
	if (reason || !c->encoder)
		return reason;
	return avcodec_send_frame(c->encoder, NULL) ? DECODER_REASON_LIMIT : pass_packets(c);
}

/* Frames between key frames need those before them, so none is decoded until the next key frame
 * once some were left out. */
enum decoder_reason convert_put(struct convert *c, const AVPacket *packet)
{
	int err;

	if (!packet)
		return end(c);
	if (packet->flags & AV_PKT_FLAG_KEY)
		c->waits = false;
	else if (c->saving == LEAD_KEYS)
		c->waits = true;
	if (c->waits)
		return DECODER_REASON_UNKNOWN;
	err = avcodec_send_packet(c->decoder, packet);
	if (err == AVERROR(ENOMEM))
		return DECODER_REASON_LIMIT;
	if (err && ++c->bad > BAD_PACKETS)
		return DECODER_REASON_DAMAGED;
	return take_frames(c);
}
