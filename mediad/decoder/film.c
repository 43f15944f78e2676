#include "mediad/decoder/film.h"

#include <errno.h>
#include <libavformat/avformat.h>
#include <libavutil/common.h>
#include <libavutil/mathematics.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "mediad/decoder/convert.h"
#include "mediad/decoder/format.h"
#include "mediad/decoder/input.h"
#include "mediad/decoder/lead.h"
#include "mediad/decoder/sendable.h"
#include "mediad/decoder/tags.h"
#include "mediad/music/track_ring.h"
#include "mediad/music/video_ring.h"
#include "mediad/video/stored.h"
#include "proto/base/time.h"

#define DEMUXERS "mov,matroska"

enum {
	LEAD = 16,	/* frames in the ring before it counts as open: their order shows by then */
	OPEN_MS = 6000, /* of work, after which one that is encoded counts as open all the same */
	APART_S = 10,	/* of sound and picture, at the beginning, at most */
	REFILL_MS = 50,
	WATCH_MS = 1000,
	STRAY_MAX = 20000, /* packets in a row that are no frame to be sent */
	FPS = 30,	   /* where the source tells none */
	FPS_MAX = 60,
	BITRATE_MIN = 1000000, /* for pacing */
	BITRATE_MAX = 20000000,
};

struct film_job {
	const struct film_conf *conf;
	struct input *input;
	AVFormatContext *fmt;
	AVStream *stream, *sound; /* sound: NULL without */
	AVPacket *packet;
	AVPacket *ahead[LEAD]; /* packets that were read to judge by, and are not shown yet */
	unsigned n_ahead, n_taken;
	int64_t origin; /* the beginning of the source, in its time base */
	struct stored_video stored;
	struct convert *convert; /* NULL: it is sent as it is stored */
	struct lead lead;	 /* of one that is converted */
	uint64_t began;		 /* ns */
	/* Since when, in ns, and for how long of that it has been waiting for its source. */
	uint64_t watched, read;
	bool waits; /* most of the time, of late */
	struct decoder_opened opened;
	uint64_t at_us; /* of the newest frame */
	unsigned frames, strays;
	bool told, begun; /* begun: with a key frame */
	uint8_t unit[VIDEO_RING_UNIT_MAX];
};

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ns_of_timespec(&ts);
}

static enum decoder_reason explain(const struct film_job *f, int err, enum decoder_reason otherwise)
{
	if (input_failure(f->input))
		return input_failure(f->input);
	return err == AVERROR(ENOMEM) ? DECODER_REASON_LIMIT : otherwise;
}

/* ---- opening ---- */

/* Frames stay as they are stored: no parser of libav looks into them. */
static enum decoder_reason open_format(struct film_job *f)
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
static enum decoder_reason find_stream(struct film_job *f)
{
	for (unsigned i = 0; i < f->fmt->nb_streams; i++) {
		AVStream *s = f->fmt->streams[i];

		if (!f->stream && s->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
		    !(s->disposition & AV_DISPOSITION_ATTACHED_PIC)) {
			f->stream = s;
			continue;
		}
		if (!f->sound && s->codecpar->codec_type == AVMEDIA_TYPE_AUDIO)
			f->sound = s;
		s->discard = AVDISCARD_ALL;
	}
	return f->stream ? DECODER_REASON_UNKNOWN : DECODER_REASON_NO_VIDEO;
}

/* Positions of the sound begin with its first sample (decode.c), and so do those of the picture,
 * which may begin a little later: otherwise they would be apart by that. */
static void find_origin(struct film_job *f)
{
	const int64_t most = av_rescale_q(APART_S, (AVRational){1, 1}, f->stream->time_base);
	int64_t picture = f->stream->start_time, sound, apart;

	if (picture == AV_NOPTS_VALUE && f->n_ahead)
		picture = f->ahead[0]->pts;
	f->origin = picture == AV_NOPTS_VALUE ? 0 : picture;
	if (!f->sound)
		return;
	sound = f->sound->start_time == AV_NOPTS_VALUE || f->sound->start_time < 0
			? 0
			: av_rescale_q(f->sound->start_time, f->sound->time_base,
				       f->stream->time_base);
	apart = av_sat_sub64(f->origin, sound);
	if (apart <= most && apart >= -most)
		f->origin = sound;
}

static enum decoder_reason seek_start(struct film_job *f)
{
	int64_t at = av_rescale_q((int64_t)f->conf->start, (AVRational){1, TRACK_RING_RATE},
				  f->stream->time_base);

	find_origin(f);
	if (!f->conf->start)
		return DECODER_REASON_UNKNOWN;
	if (!input_seekable(f->input) ||
	    av_seek_frame(f->fmt, f->stream->index, av_sat_add64(f->origin, at),
			  AVSEEK_FLAG_BACKWARD) < 0)
		return DECODER_REASON_NOT_SEEKABLE;
	return DECODER_REASON_UNKNOWN;
}

static enum decoder_reason open_source(struct film_job *f)
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
	return reason ? reason : seek_start(f);
}

/* ---- what a stream says of it ---- */

static uint64_t find_duration(const struct film_job *f)
{
	int64_t us = f->fmt->duration;

	if (f->stream->duration > 0)
		us = av_rescale_q(f->stream->duration, f->stream->time_base, AV_TIME_BASE_Q);
	us = us > 0 ? av_rescale(us, TRACK_RING_RATE, AV_TIME_BASE) : 0;
	return us > 0 && us <= DECODER_FRAMES_MAX ? (uint64_t)us : 0;
}

/* On the average, in bit/s; 0: not known. */
static uint64_t find_bitrate(const struct film_job *f)
{
	int64_t rate = f->stream->codecpar->bit_rate, size = avio_size(f->fmt->pb);
	uint64_t duration = find_duration(f);

	if (rate <= 0 && size > 0 && duration)
		rate = av_rescale(size, 8LL * TRACK_RING_RATE, (int64_t)duration);
	return rate > 0 ? (uint64_t)rate : 0;
}

static uint32_t pace_bitrate(uint64_t rate)
{
	if (rate < BITRATE_MIN)
		rate = BITRATE_MIN;
	return rate > BITRATE_MAX ? BITRATE_MAX : (uint32_t)rate;
}

static uint8_t find_fps(const struct film_job *f)
{
	AVRational rate = f->stream->avg_frame_rate;
	double fps = rate.den > 0 && rate.num > 0 ? av_q2d(rate) : FPS;

	return fps < 1 ? 1 : fps > FPS_MAX ? FPS_MAX : (uint8_t)lround(fps);
}

static void report_opened(struct film_job *f)
{
	struct decoder_opened *o = &f->opened;

	if (f->told)
		return;
	f->told = true;
	tags_read(o, f->fmt->metadata, f->stream);
	o->duration = find_duration(f);
	o->start = f->conf->start;
	o->seekable = input_seekable(f->input);
	if (f->convert) {
		convert_describe(f->convert, &o->video);
	} else {
		o->video.codec = (uint8_t)f->stored.codec;
		o->video.fps = find_fps(f);
		o->video.width = (uint16_t)f->stream->codecpar->width;
		o->video.height = (uint16_t)f->stream->codecpar->height;
		o->video.bitrate = pace_bitrate(find_bitrate(f));
	}
	f->conf->openedh(o, f->conf->arg);
}

/* ---- frames ---- */

/* Where neither time is stored a frame follows the one before. */
static uint64_t find_time(const struct film_job *f, const AVPacket *packet)
{
	int64_t ts = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts, us;

	if (ts == AV_NOPTS_VALUE)
		return f->at_us + (f->frames ? AV_TIME_BASE / find_fps(f) : 0);
	us = av_rescale_q(av_sat_sub64(ts, f->origin), f->stream->time_base, AV_TIME_BASE_Q);
	return us > 0 ? (uint64_t)us : 0;
}

static void put_unit(struct film_job *f, const struct video_unit *unit, const uint8_t *bytes)
{
	const struct timespec pause = {0, REFILL_MS * (long)NS_PER_MS};

	while (!video_ring_write(f->conf->ring, unit, bytes)) {
		report_opened(f);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	f->frames++;
	f->at_us = unit->at_us;
	f->strays = 0;
}

/* Before the first key frame nobody can decode anything. */
static enum decoder_reason put_stored(struct film_job *f, const AVPacket *packet)
{
	struct video_unit unit = {.at_us = find_time(f, packet)};
	const struct slice frame = {packet->data, (size_t)packet->size};
	int err =
		stored_video_write(&f->stored, frame, f->unit, sizeof f->unit, &unit.n, &unit.key);

	if (err)
		return err == EMSGSIZE ? DECODER_REASON_VIDEO_FRAME : DECODER_REASON_DAMAGED;
	f->begun = f->begun || unit.key;
	if (!unit.n || !f->begun)
		return ++f->strays > STRAY_MAX ? DECODER_REASON_DAMAGED : DECODER_REASON_UNKNOWN;
	if (f->frames && unit.at_us < f->at_us)
		return DECODER_REASON_VIDEO_ORDER;
	put_unit(f, &unit, f->unit);
	if (f->frames >= LEAD)
		report_opened(f);
	return DECODER_REASON_UNKNOWN;
}

/* A frame that was encoded. */
static enum decoder_reason on_unit(const struct video_unit *unit, const uint8_t *bytes, void *arg)
{
	struct film_job *f = arg;

	put_unit(f, unit, bytes);
	lead_wrote(&f->lead, video_ring_written(f->conf->ring), unit->at_us);
	if (lead_ms(&f->lead, video_ring_taken(f->conf->ring)) >= LEAD_OPEN_MS ||
	    read_clock(CLOCK_MONOTONIC) - f->began > OPEN_MS * NS_PER_MS)
		report_opened(f);
	return DECODER_REASON_UNKNOWN;
}

/* NULL: the last one was put. */
static enum decoder_reason put_packet(struct film_job *f, const AVPacket *packet)
{
	uint64_t cpu;

	if (!f->convert)
		return packet ? put_stored(f, packet) : DECODER_REASON_UNKNOWN;
	if (packet && ++f->strays > STRAY_MAX)
		return DECODER_REASON_DAMAGED;
	cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID) / NS_PER_MS;
	convert_save(f->convert,
		     lead_saving(&f->lead, video_ring_taken(f->conf->ring), cpu, f->waits));
	return convert_put(f->convert, packet);
}

static int read_frame(struct film_job *f, AVPacket *packet)
{
	uint64_t before = read_clock(CLOCK_MONOTONIC), now;
	int err = av_read_frame(f->fmt, packet);

	now = read_clock(CLOCK_MONOTONIC);
	f->read += now - before;
	if (now - f->watched >= WATCH_MS * NS_PER_MS) {
		f->waits = f->read > (now - f->watched) / 2;
		f->watched = now;
		f->read = 0;
	}
	return err;
}

/* Reads the next packet of the video to `packet`. DECODER_REASON_END: there is none. */
static enum decoder_reason read_packet(struct film_job *f, AVPacket *packet)
{
	int err = read_frame(f, packet);

	while (!err && (packet->stream_index != f->stream->index || packet->size < 1)) {
		av_packet_unref(packet);
		if (++f->strays > STRAY_MAX)
			return DECODER_REASON_DAMAGED;
		err = read_frame(f, packet);
	}
	if (err == AVERROR_EOF && !input_failure(f->input))
		return DECODER_REASON_END;
	return err ? explain(f, err, DECODER_REASON_DAMAGED) : DECODER_REASON_UNKNOWN;
}

/* ---- whether it is converted ---- */

static enum decoder_reason read_ahead(struct film_job *f)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;

	while (!reason && f->n_ahead < LEAD) {
		f->ahead[f->n_ahead] = av_packet_alloc();
		if (!f->ahead[f->n_ahead])
			return DECODER_REASON_LIMIT;
		reason = read_packet(f, f->ahead[f->n_ahead]);
		if (!reason)
			f->n_ahead++;
		else
			av_packet_free(&f->ahead[f->n_ahead]);
	}
	return reason == DECODER_REASON_END && f->n_ahead ? DECODER_REASON_UNKNOWN : reason;
}

/* Where no table tells, the first frames have to. */
static bool begins_sendable(const struct film_job *f)
{
	int64_t last = INT64_MIN;

	for (unsigned i = 0; i < f->n_ahead; i++) {
		const AVPacket *p = f->ahead[i];

		if (p->size > SENDABLE_FRAME || (p->pts != AV_NOPTS_VALUE && p->pts < last))
			return false;
		last = p->pts != AV_NOPTS_VALUE ? p->pts : last;
	}
	return true;
}

static bool is_sendable(struct film_job *f)
{
	const AVCodecParameters *p = f->stream->codecpar;
	const struct slice config = {p->extradata,
				     p->extradata_size > 0 ? (size_t)p->extradata_size : 0};

	return !stored_video_set(&f->stored, codec_of(p->codec_id), config) &&
	       sendable(f->fmt, f->stream, find_bitrate(f)) && begins_sendable(f);
}

static enum decoder_reason choose_way(struct film_job *f)
{
	const struct convert_conf conf = {
		.codec = f->stream->codecpar,
		.time_base = f->stream->time_base,
		.aspect = f->stream->sample_aspect_ratio,
		.quarters = sendable_quarters(f->stream),
		.fps = find_fps(f),
		.order_is_told = sendable_order_is_told(f->fmt, f->stream),
		.origin = f->origin,
		.start_us = f->conf->start * AV_TIME_BASE / TRACK_RING_RATE,
		.unith = on_unit,
		.arg = f};

	return is_sendable(f) ? DECODER_REASON_UNKNOWN : convert_open(&f->convert, &conf);
}

/* ---- the whole ---- */

enum decoder_reason film_open(struct film_job **out, const struct film_conf *conf)
{
	struct film_job *f = calloc(1, sizeof *f);
	enum decoder_reason reason;

	*out = f;
	if (!f)
		return DECODER_REASON_LIMIT;
	f->conf = conf;
	f->began = f->watched = read_clock(CLOCK_MONOTONIC);
	reason = open_source(f);
	if (!reason)
		reason = read_ahead(f);
	if (reason)
		return reason == DECODER_REASON_END ? DECODER_REASON_DAMAGED : reason;
	if (!conf->start)
		find_origin(f);
	return choose_way(f);
}

static enum decoder_reason end(struct film_job *f)
{
	enum decoder_reason reason = put_packet(f, NULL);

	if (reason)
		return reason;
	if (!f->frames)
		return DECODER_REASON_DAMAGED;
	report_opened(f);
	return DECODER_REASON_END;
}

enum decoder_reason film_step(struct film_job *f)
{
	enum decoder_reason reason;

	if (f->n_taken < f->n_ahead) {
		reason = put_packet(f, f->ahead[f->n_taken]);
		av_packet_free(&f->ahead[f->n_taken++]);
		return reason;
	}
	reason = read_packet(f, f->packet);
	if (reason == DECODER_REASON_END)
		return end(f);
	if (!reason)
		reason = put_packet(f, f->packet);
	av_packet_unref(f->packet);
	return reason;
}

struct film_job *film_close(struct film_job *f)
{
	if (!f)
		return NULL;
	while (f->n_taken < f->n_ahead)
		av_packet_free(&f->ahead[f->n_taken++]);
	convert_free(f->convert);
	avformat_close_input(&f->fmt);
	av_packet_free(&f->packet);
	input_free(f->input);
	free(f);
	return NULL;
}

enum decoder_reason film_run(const struct film_conf *conf)
{
	struct film_job *f;
	enum decoder_reason reason = film_open(&f, conf);

	while (!reason)
		reason = film_step(f);
	film_close(f);
	return reason;
}
