#include "mediad/decoder/film.h"

#include <errno.h>
#include <libavformat/avformat.h>
#include <libavutil/mathematics.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "mediad/decoder/format.h"
#include "mediad/decoder/input.h"
#include "mediad/decoder/tags.h"
#include "mediad/music/track_ring.h"
#include "mediad/music/video_ring.h"
#include "mediad/video/stored.h"
#include "proto/base/time.h"

#define DEMUXERS "mov,matroska"

enum {
	LEAD = 16, /* frames in the ring before it counts as open: their order shows by then */
	REFILL_MS = 50,
	STRAY_MAX = 20000, /* packets in a row that are no frame to be sent */
	WIDTH_MAX = 4096,
	HEIGHT_MAX = 4096,
	FPS = 30, /* where the source tells none */
	FPS_MAX = 60,
	BITRATE_MIN = 1000000, /* for pacing */
	BITRATE_MAX = 20000000,
};

struct film {
	const struct film_conf *conf;
	struct input *input;
	AVFormatContext *fmt;
	AVStream *stream;
	AVPacket *packet;
	struct stored_video stored;
	struct decoder_opened opened;
	uint64_t at_us; /* of the newest frame */
	unsigned frames, strays;
	bool told, begun; /* begun: with a key frame */
	uint8_t unit[VIDEO_RING_UNIT_MAX];
};

static enum decoder_reason explain(const struct film *f, int err, enum decoder_reason otherwise)
{
	if (input_failure(f->input))
		return input_failure(f->input);
	return err == AVERROR(ENOMEM) ? DECODER_REASON_LIMIT : otherwise;
}

/* ---- opening ---- */

/* Frames stay as they are stored: no parser of libav looks into them. */
static enum decoder_reason open_format(struct film *f)
{
	AVDictionary *options = NULL;
	int err;

	f->fmt = avformat_alloc_context();
	if (!f->fmt)
		return DECODER_REASON_LIMIT;
	format_prepare(f->fmt, f->input, DEMUXERS, &options);
	f->fmt->flags |= AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN;
	err = avformat_open_input(&f->fmt, NULL, format_find(f->fmt, f->input, f->conf->kind),
				  &options);
	av_dict_free(&options);
	input_end_index(f->input);
	return err ? explain(f, err, DECODER_REASON_UNKNOWN_FORMAT) : DECODER_REASON_UNKNOWN;
}

static enum video_codec codec_of(enum AVCodecID id)
{
	return id == AV_CODEC_ID_H264  ? VIDEO_H264
	       : id == AV_CODEC_ID_VP8 ? VIDEO_VP8
	       : id == AV_CODEC_ID_AV1 ? VIDEO_AV1
				       : VIDEO_NONE;
}

/* Covers of music are no video. */
static enum decoder_reason find_stream(struct film *f)
{
	for (unsigned i = 0; i < f->fmt->nb_streams; i++) {
		AVStream *s = f->fmt->streams[i];

		if (!f->stream && s->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
		    !(s->disposition & AV_DISPOSITION_ATTACHED_PIC))
			f->stream = s;
		else
			s->discard = AVDISCARD_ALL;
	}
	return f->stream ? DECODER_REASON_UNKNOWN : DECODER_REASON_NO_VIDEO;
}

static enum decoder_reason set_codec(struct film *f)
{
	const AVCodecParameters *p = f->stream->codecpar;
	const struct slice config = {p->extradata,
				     p->extradata_size > 0 ? (size_t)p->extradata_size : 0};
	int err = stored_video_set(&f->stored, codec_of(p->codec_id), config);

	if (err)
		return err == ENOTSUP ? DECODER_REASON_VIDEO_CODEC : DECODER_REASON_DAMAGED;
	if (p->width < 1 || p->width > WIDTH_MAX || p->height < 1 || p->height > HEIGHT_MAX)
		return DECODER_REASON_VIDEO_CODEC;
	/* By the table of an MP4 file. One without it shows its order only by its frames. */
	return p->video_delay > 0 ? DECODER_REASON_VIDEO_ORDER : DECODER_REASON_UNKNOWN;
}

/* The beginning of the source, in its time base. */
static int64_t first_timestamp(const struct film *f)
{
	return f->stream->start_time == AV_NOPTS_VALUE ? 0 : f->stream->start_time;
}

static enum decoder_reason seek_start(struct film *f)
{
	int64_t at = av_rescale_q((int64_t)f->conf->start, (AVRational){1, TRACK_RING_RATE},
				  f->stream->time_base);

	if (!f->conf->start)
		return DECODER_REASON_UNKNOWN;
	if (!input_seekable(f->input) ||
	    av_seek_frame(f->fmt, f->stream->index, first_timestamp(f) + at, AVSEEK_FLAG_BACKWARD) <
		    0)
		return DECODER_REASON_NOT_SEEKABLE;
	return DECODER_REASON_UNKNOWN;
}

static enum decoder_reason open_source(struct film *f)
{
	enum decoder_reason reason;

	f->packet = av_packet_alloc();
	if (!f->packet || input_alloc(&f->input, f->conf->fd, f->conf->kind))
		return DECODER_REASON_LIMIT;
	reason = input_failure(f->input);
	if (!reason)
		reason = open_format(f);
	if (!reason)
		reason = find_stream(f);
	if (!reason)
		reason = set_codec(f);
	return reason ? reason : seek_start(f);
}

/* ---- what a stream says of it ---- */

static uint64_t find_duration(const struct film *f)
{
	int64_t us = f->fmt->duration;

	if (f->stream->duration > 0)
		us = av_rescale_q(f->stream->duration, f->stream->time_base, AV_TIME_BASE_Q);
	us = us > 0 ? av_rescale(us, TRACK_RING_RATE, AV_TIME_BASE) : 0;
	return us > 0 && us <= DECODER_FRAMES_MAX ? (uint64_t)us : 0;
}

static uint32_t find_bitrate(const struct film *f, uint64_t duration)
{
	int64_t rate = f->stream->codecpar->bit_rate, size = avio_size(f->fmt->pb);

	if (rate <= 0 && size > 0 && duration)
		rate = av_rescale(size, 8LL * TRACK_RING_RATE, (int64_t)duration);
	if (rate < BITRATE_MIN)
		rate = BITRATE_MIN;
	return rate > BITRATE_MAX ? BITRATE_MAX : (uint32_t)rate;
}

static uint8_t find_fps(const struct film *f)
{
	AVRational rate = f->stream->avg_frame_rate;
	double fps = rate.den > 0 && rate.num > 0 ? av_q2d(rate) : FPS;

	return fps < 1 ? 1 : fps > FPS_MAX ? FPS_MAX : (uint8_t)lround(fps);
}

static void report_opened(struct film *f)
{
	struct decoder_opened *o = &f->opened;

	if (f->told)
		return;
	f->told = true;
	tags_read(o, f->fmt->metadata, f->stream);
	o->duration = find_duration(f);
	o->start = f->conf->start;
	o->seekable = input_seekable(f->input);
	o->video.codec = (uint8_t)f->stored.codec;
	o->video.fps = find_fps(f);
	o->video.width = (uint16_t)f->stream->codecpar->width;
	o->video.height = (uint16_t)f->stream->codecpar->height;
	o->video.bitrate = find_bitrate(f, o->duration);
	f->conf->openedh(o, f->conf->arg);
}

/* ---- frames ---- */

/* Where neither time is stored a frame follows the one before. */
static uint64_t find_time(const struct film *f)
{
	int64_t ts = f->packet->pts != AV_NOPTS_VALUE ? f->packet->pts : f->packet->dts, us;

	if (ts == AV_NOPTS_VALUE)
		return f->at_us + (f->frames ? AV_TIME_BASE / find_fps(f) : 0);
	us = av_rescale_q(ts - first_timestamp(f), f->stream->time_base, AV_TIME_BASE_Q);
	return us > 0 ? (uint64_t)us : 0;
}

static void put_unit(struct film *f, const struct video_unit *unit)
{
	const struct timespec pause = {0, REFILL_MS * (long)NS_PER_MS};

	while (!video_ring_write(f->conf->ring, unit, f->unit)) {
		report_opened(f);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	if (++f->frames >= LEAD)
		report_opened(f);
}

/* Before the first key frame nobody can decode anything. */
static enum decoder_reason put_packet(struct film *f)
{
	struct video_unit unit = {.at_us = find_time(f)};
	const struct slice frame = {f->packet->data, (size_t)f->packet->size};
	int err =
		stored_video_write(&f->stored, frame, f->unit, sizeof f->unit, &unit.n, &unit.key);

	if (err)
		return err == EMSGSIZE ? DECODER_REASON_VIDEO_FRAME : DECODER_REASON_DAMAGED;
	f->begun = f->begun || unit.key;
	if (!unit.n || !f->begun)
		return ++f->strays > STRAY_MAX ? DECODER_REASON_DAMAGED : DECODER_REASON_UNKNOWN;
	if (f->frames && unit.at_us < f->at_us)
		return DECODER_REASON_VIDEO_ORDER;
	f->at_us = unit.at_us;
	f->strays = 0;
	put_unit(f, &unit);
	return DECODER_REASON_UNKNOWN;
}

static enum decoder_reason read_packet(struct film *f)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	int err = av_read_frame(f->fmt, f->packet);

	if (err == AVERROR_EOF && !input_failure(f->input))
		return f->frames ? DECODER_REASON_END : DECODER_REASON_DAMAGED;
	if (err)
		return explain(f, err, DECODER_REASON_DAMAGED);
	if (f->packet->stream_index == f->stream->index && f->packet->size > 0)
		reason = put_packet(f);
	else if (++f->strays > STRAY_MAX)
		reason = DECODER_REASON_DAMAGED;
	av_packet_unref(f->packet);
	return reason;
}

enum decoder_reason film_run(const struct film_conf *conf)
{
	struct film *f = calloc(1, sizeof *f);
	enum decoder_reason reason;

	if (!f)
		return DECODER_REASON_LIMIT;
	f->conf = conf;
	reason = open_source(f);
	while (!reason)
		reason = read_packet(f);
	if (reason == DECODER_REASON_END)
		report_opened(f);
	avformat_close_input(&f->fmt);
	av_packet_free(&f->packet);
	input_free(f->input);
	free(f);
	return reason;
}
