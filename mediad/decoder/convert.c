#include "mediad/decoder/convert.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavutil/common.h>
#include <libavutil/mathematics.h>
#include <stdlib.h>

#include "mediad/decoder/canvas.h"
#include "mediad/decoder/scale.h"
#include "mediad/decoder/vp8.h"
#include "mediad/video/codec.h"

/* No other decoder can be reached. */
#define DECODERS "h264,hevc,vp8,vp9,libdav1d,mpeg4"

enum {
	BAD_PACKETS = 300, /* in a row: the source is damaged */
	JITTER_US = 8000,  /* by which a frame may come early and is encoded all the same */
	FPS_MIN = 10,	   /* for the bitrate */
	BEHIND = 3,	   /* frames in a row that are far behind: time itself went back */
};
/* What no film lasts, in microseconds: a time beyond it is a damaged one. */
#define TIME_MAX (INT64_C(30) * 86400 * 1000000)
/* Microseconds by which one frame is far from the one before: its time may be wrong. */
#define FAR_US (INT64_C(10) * 1000000)
/* From one key frame to the next, at most, where key frames alone show anything. */
#define KEYS_NEAR_US (INT64_C(10) * 1000000)
/* Between two frames, as the encoder sees them: it would spend the bits of all of a long gap, as of
 * slides, on one. With this noise of 720p stays near 300 KB. */
#define STEP_MAX_US INT64_C(300000)
/* Before the start, in which all frames are decoded. */
#define NEAR_START_US (INT64_C(1) * 1000000)

struct convert {
	struct convert_conf conf;
	AVCodecContext *decoder, *encoder;
	AVFrame *frame;
	AVFrame *held; /* far ahead of those before, until the next one tells whether it is right */
	AVPacket *packet;
	struct canvas *canvas; /* NULL before the first frame */
	struct decoder_video video;
	enum lead_saving saving;
	bool waits;	       /* for a key frame: packets before it were left out */
	int64_t waits_us;      /* time of the first of them */
	int64_t key_packet_us; /* of the newest packet with a key frame; AV_NOPTS_VALUE: none */
	int64_t key_gap_us;    /* the largest from one to the next; 0: none is known */
	bool shown, sent;
	int64_t held_us;
	int64_t shift_us; /* to be added to times, since time went back */
	unsigned behind;
	int64_t shown_us; /* of the newest frame, encoded or not */
	int64_t next_us;  /* before which no frame is encoded */
	int64_t sent_us;  /* of the newest that was encoded */
	int64_t clock_us; /* the encoder's */
	int64_t key_us;	  /* of the newest key frame */
	unsigned bad;
};

static enum decoder_reason count_bad(struct convert *c)
{
	return ++c->bad > BAD_PACKETS ? DECODER_REASON_DAMAGED : DECODER_REASON_UNKNOWN;
}

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

/* Nothing is larger on its way through the decoder (max_pixels) or the scaling. */
static bool is_too_large(const AVCodecParameters *p)
{
	return p->width > SCALE_SIDE_MAX || p->height > SCALE_SIDE_MAX ||
	       (int64_t)p->width * p->height > CONVERT_SOURCE_PIXELS;
}

enum decoder_reason convert_open(struct convert **out, const struct convert_conf *conf)
{
	struct convert *c = calloc(1, sizeof *c);
	enum decoder_reason reason;

	*out = c;
	if (!c)
		return DECODER_REASON_LIMIT;
	c->conf = *conf;
	c->key_packet_us = AV_NOPTS_VALUE;
	c->frame = av_frame_alloc();
	c->held = av_frame_alloc();
	c->packet = av_packet_alloc();
	if (!c->frame || !c->held || !c->packet)
		return DECODER_REASON_LIMIT;
	if (is_too_large(conf->codec))
		return DECODER_REASON_VIDEO_SIZE;
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
	av_frame_free(&c->held);
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
		const struct video_unit unit = {.at_us = (uint64_t)c->sent_us,
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
	/* None is held back, so what comes out next is this one. */
	c->clock_us +=
		c->sent && at_us - c->sent_us < STEP_MAX_US ? at_us - c->sent_us : STEP_MAX_US;
	c->sent_us = at_us;
	drawn->pts = c->clock_us;
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

static int64_t step_of(const struct convert *c)
{
	return INT64_C(1000000) / (c->conf.fps ? c->conf.fps : 1);
}

/* In microseconds from the beginning of the source. */
static int64_t to_us(const struct convert *c, int64_t ts)
{
	return av_rescale_q(av_sat_sub64(ts, c->conf.origin), c->conf.time_base, AV_TIME_BASE_Q);
}

/* Where a frame has no time it follows the one before. */
static int64_t time_of(const struct convert *c)
{
	int64_t ts = c->frame->best_effort_timestamp;

	if (ts == AV_NOPTS_VALUE)
		return c->shown ? c->shown_us + step_of(c) : 0;
	return av_sat_add64(to_us(c, ts), c->shift_us);
}

static enum decoder_reason show_frame(struct convert *c, int64_t at_us)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;

	c->bad = c->behind = 0;
	c->shown = true;
	c->shown_us = at_us;
	if ((uint64_t)at_us < c->conf.start_us)
		return reason;
	if (!c->canvas)
		reason = open_encoder(c);
	return !reason && is_due(c, at_us) ? encode(c, at_us) : reason;
}

/* The one that was held is shown, or its time was wrong, because the next one is before it. */
static enum decoder_reason settle_held(struct convert *c, int64_t next_us)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	AVFrame *next = c->frame;

	if (!c->held->buf[0])
		return reason;
	if (next_us > c->held_us) {
		c->frame = c->held;
		reason = show_frame(c, c->held_us);
		c->frame = next;
	}
	av_frame_unref(c->held);
	return reason;
}

/* Joined recordings begin their times anew. Returns true if a next part of them begins; *at_us is
 * then its time behind the part before. */
static bool join_part(struct convert *c, int64_t *at_us)
{
	c->behind = c->shown_us - *at_us > FAR_US ? c->behind + 1 : 0;
	if (c->behind < BEHIND)
		return false;
	c->shift_us = av_sat_add64(c->shift_us, c->shown_us + step_of(c) - *at_us);
	*at_us = c->shown_us + step_of(c);
	return true;
}

/* What is before the beginning is not shown. */
static enum decoder_reason take_frame(struct convert *c)
{
	enum decoder_reason reason;
	int64_t at_us = time_of(c);

	if (!c->shown && at_us < 0)
		return DECODER_REASON_UNKNOWN;
	if (at_us > TIME_MAX || at_us < -TIME_MAX)
		return count_bad(c);
	reason = settle_held(c, at_us);
	if (reason)
		return reason;
	/* No damage: a part of joined recordings may have the times of a short one before it. How
	 * many there are is bounded, as of all packets that show nothing (film.c). */
	if (c->shown && at_us <= c->shown_us && !join_part(c, &at_us))
		return reason;
	if (!c->shown || at_us - c->shown_us <= FAR_US)
		return show_frame(c, at_us);
	av_frame_move_ref(c->held, c->frame);
	c->held_us = at_us;
	return DECODER_REASON_UNKNOWN;
}

static enum decoder_reason take_frames(struct convert *c)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	int err = 0;

	while (!reason && !(err = avcodec_receive_frame(c->decoder, c->frame))) {
		reason = take_frame(c);
		av_frame_unref(c->frame);
	}
	if (!reason && err == AVERROR(ENOMEM))
		reason = DECODER_REASON_LIMIT;
	else if (!reason && err != AVERROR(EAGAIN) && err != AVERROR_EOF)
		reason = count_bad(c);
	return reason;
}

static bool keys_are_near(const struct convert *c)
{
	return c->key_gap_us > 0 && c->key_gap_us <= KEYS_NEAR_US;
}

void convert_save(struct convert *c, enum lead_saving saving)
{
	c->saving = saving == LEAD_KEYS && !keys_are_near(c) ? LEAD_THIRD : saving;
}

void convert_give_up_start(struct convert *c)
{
	c->conf.start_us = 0;
}

static enum decoder_reason end(struct convert *c)
{
	enum decoder_reason reason;

	(void)!avcodec_send_packet(c->decoder, NULL);
	reason = take_frames(c);
	if (!reason)
		reason = settle_held(c, INT64_MAX);
	if (reason || !c->encoder)
		return reason;
	return avcodec_send_frame(c->encoder, NULL) ? DECODER_REASON_LIMIT : pass_packets(c);
}

static int64_t time_of_packet(const struct convert *c, const AVPacket *p)
{
	int64_t ts = p->pts != AV_NOPTS_VALUE ? p->pts : p->dts;

	return ts == AV_NOPTS_VALUE ? ts : to_us(c, ts);
}

/* Whatever the decoder holds back comes out, and it forgets what it would predict from: frames
 * that are shown before the key frame, but stored behind it, would refer to some that it lacks. */
static enum decoder_reason restart_decoder(struct convert *c)
{
	enum decoder_reason reason;

	(void)!avcodec_send_packet(c->decoder, NULL);
	reason = take_frames(c);
	avcodec_flush_buffers(c->decoder);
	return reason;
}

static enum decoder_reason take_key(struct convert *c, int64_t us)
{
	int64_t gap = us == AV_NOPTS_VALUE || c->key_packet_us == AV_NOPTS_VALUE
			      ? 0
			      : av_sat_sub64(us, c->key_packet_us);

	c->key_packet_us = us;
	c->key_gap_us = gap > c->key_gap_us ? gap : c->key_gap_us;
	if (!c->waits)
		return DECODER_REASON_UNKNOWN;
	c->waits = false;
	return restart_decoder(c);
}

/* Frames between key frames need those before them, so none is decoded until the next key frame
 * once some were left out. If that does not come it goes on without, and never waits again. Returns
 * true if it is left out. */
static bool leave_out(struct convert *c, int64_t us)
{
	if (!c->waits && c->saving == LEAD_KEYS) {
		c->waits = true;
		c->waits_us = us;
	}
	if (c->waits && (us == AV_NOPTS_VALUE || av_sat_sub64(us, c->waits_us) > KEYS_NEAR_US)) {
		c->waits = false;
		c->key_gap_us = INT64_MAX;
		c->decoder->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
	}
	return c->waits;
}

/* Frames that no other needs are not decoded while time is short, or long before the start. */
static void set_skips(struct convert *c, int64_t us)
{
	bool skips = c->saving >= LEAD_THIRD ||
		     (us != AV_NOPTS_VALUE &&
		      av_sat_add64(us, NEAR_START_US) < (int64_t)c->conf.start_us);

	c->decoder->skip_frame = skips ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
	c->decoder->skip_loop_filter = c->decoder->skip_frame;
}

enum decoder_reason convert_put(struct convert *c, const AVPacket *packet)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	int64_t us;
	int err;

	if (!packet)
		return end(c);
	us = time_of_packet(c, packet);
	if (packet->flags & AV_PKT_FLAG_KEY)
		reason = take_key(c, us);
	else if (leave_out(c, us))
		return reason;
	if (reason)
		return reason;
	set_skips(c, us);
	err = avcodec_send_packet(c->decoder, packet);
	if (err == AVERROR(ENOMEM))
		return DECODER_REASON_LIMIT;
	if (err)
		reason = count_bad(c);
	return reason ? reason : take_frames(c);
}
