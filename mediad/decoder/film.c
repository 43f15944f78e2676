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
	OPEN_ALL_MS = 15000, /* the same, with a source that is slow (PROGRESS_OPEN_S) */
	/* Read to find where the sound begins, at most: packets, bytes. */
	AHEAD_MAX = 1024,
	AHEAD_BYTES = 32 << 20,
	REST_MS = 50, /* at a time: the ring is full, or CPU time is used up */
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
	AVPacket *ahead[AHEAD_MAX]; /* packets that were read to judge by, and are not shown yet */
	unsigned n_ahead, n_taken;
	size_t ahead_bytes;
	/* Where picture and sound begin, each in its time base; AV_NOPTS_VALUE: not known. */
	int64_t picture_begin, sound_begin;
	int64_t origin; /* the beginning of the source: of the earlier one, as the picture's */
	uint16_t sound_ms;
	struct stored_video stored;
	struct convert *convert;   /* NULL: it is sent as it is stored */
	struct lead lead;	   /* of one that is converted */
	uint64_t opened_at, began; /* ns; began: its first packet is shown */
	uint64_t cpu_before;	   /* ns of CPU time, when it was opened */
	/* Since when, in ns, and for how long of that it has been waiting for its source. */
	uint64_t watched, read;
	uint64_t read_all; /* ns, since it began */
	bool waits;	   /* most of the time, of late */
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

static uint64_t read_time(const struct film_job *f)
{
	return f->conf->clockh ? f->conf->clockh() : read_clock(CLOCK_MONOTONIC);
}

static uint64_t read_cpu(const struct film_job *f)
{
	return f->conf->cpuh ? f->conf->cpuh() : read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* CPU time used since the film was opened. */
static uint64_t cpu_ms(const struct film_job *f)
{
	return (read_cpu(f) - f->cpu_before) / NS_PER_MS;
}

/* Time since the first packet, without the time spent waiting for the source. */
static uint64_t work_ns(const struct film_job *f)
{
	return read_time(f) - f->began - f->read_all;
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

static enum decoder_reason find_streams(struct film_job *f)
{
	const int sound = format_find_sound(f->fmt);

	f->stream = format_find_picture(f->fmt);
	for (unsigned i = 0; i < f->fmt->nb_streams; i++) {
		AVStream *s = f->fmt->streams[i];

		if (s == f->stream)
			continue;
		if (sound < 0 ? !f->sound && s->codecpar->codec_type == AVMEDIA_TYPE_AUDIO
			      : (int)i == sound)
			f->sound = s;
		else
			s->discard = AVDISCARD_ALL;
	}
	return f->stream ? DECODER_REASON_UNKNOWN : DECODER_REASON_NO_VIDEO;
}

/* Samples and frames with times before 0 are not shown, so nothing begins there. */
static int64_t clip_begin(int64_t begin)
{
	return begin == AV_NOPTS_VALUE || begin >= 0 ? begin : 0;
}

/* As far as the container tells it. */
static void find_begins(struct film_job *f)
{
	const AVIndexEntry *first;

	f->picture_begin = clip_begin(f->stream->start_time);
	f->sound_begin = f->sound ? clip_begin(f->sound->start_time) : AV_NOPTS_VALUE;
	if (!f->sound || f->sound_begin != AV_NOPTS_VALUE || !format_is_mp4(f->fmt))
		return;
	first = avformat_index_get_entry(f->sound, 0);
	if (first)
		f->sound_begin = clip_begin(first->timestamp);
}

static bool begins_are_known(const struct film_job *f)
{
	return f->picture_begin != AV_NOPTS_VALUE &&
	       (!f->sound || f->sound_begin != AV_NOPTS_VALUE);
}

/* The decoder of the sound counts from its first sample (decode.c). */
static void find_origin(struct film_job *f)
{
	const AVRational us = AV_TIME_BASE_Q;
	const int64_t most_us = INT64_C(1000) * DECODER_SOUND_MAX;
	int64_t apart_us;

	f->origin = f->picture_begin == AV_NOPTS_VALUE ? 0 : f->picture_begin;
	if (f->sound_begin == AV_NOPTS_VALUE)
		return;
	apart_us = av_sat_sub64(av_rescale_q(f->sound_begin, f->sound->time_base, us),
				av_rescale_q(f->origin, f->stream->time_base, us));
	if (apart_us > most_us || apart_us < -most_us)
		return;
	if (apart_us > 0)
		f->sound_ms = (uint16_t)(apart_us / 1000);
	else
		f->origin = av_rescale_q(f->sound_begin, f->sound->time_base, f->stream->time_base);
}

/* ---- packets ---- */

static int read_frame(struct film_job *f, AVPacket *packet)
{
	uint64_t before = read_time(f), now;
	int err = av_read_frame(f->fmt, packet);

	now = read_time(f);
	f->read += now - before;
	f->read_all += now - before;
	if (now - f->watched >= WATCH_MS * NS_PER_MS) {
		f->waits = f->read > (now - f->watched) / 2;
		f->watched = now;
		f->read = 0;
	}
	return err;
}

static void stop_sound(struct film_job *f)
{
	if (f->sound)
		f->sound->discard = AVDISCARD_ALL;
}

/* Matroska has one of them alone for codecs that it takes from AVI. */
static int64_t time_of_packet(const AVPacket *packet)
{
	return packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
}

static void note_sound(struct film_job *f, const AVPacket *packet)
{
	if (!f->sound || packet->stream_index != f->sound->index ||
	    f->sound_begin != AV_NOPTS_VALUE)
		return;
	f->sound_begin = clip_begin(time_of_packet(packet));
	stop_sound(f);
}

/* Reads the next packet of the video to `packet`. DECODER_REASON_END: there is none. */
static enum decoder_reason read_packet(struct film_job *f, AVPacket *packet)
{
	int err = read_frame(f, packet);

	while (!err && (packet->stream_index != f->stream->index || packet->size < 1)) {
		note_sound(f, packet);
		av_packet_unref(packet);
		if (++f->strays > STRAY_MAX)
			return DECODER_REASON_DAMAGED;
		err = read_frame(f, packet);
	}
	if (err == AVERROR_EOF && !input_failure(f->input))
		return DECODER_REASON_END;
	return err ? explain(f, err, DECODER_REASON_DAMAGED) : DECODER_REASON_UNKNOWN;
}

static void forget_ahead(struct film_job *f)
{
	while (f->n_taken < f->n_ahead)
		av_packet_free(&f->ahead[f->n_taken++]);
	f->n_taken = f->n_ahead = 0;
	f->ahead_bytes = 0;
}

/* Enough was read: sound that begins later would be beyond DECODER_SOUND_MAX, or there is none.
 */
static bool is_far_ahead(const struct film_job *f)
{
	int64_t first, last;
	const int64_t most =
		av_rescale_q(DECODER_SOUND_MAX, (AVRational){1, 1000}, f->stream->time_base);

	if (!f->n_ahead)
		return false;
	first = time_of_packet(f->ahead[0]);
	last = time_of_packet(f->ahead[f->n_ahead - 1]);
	return f->n_ahead == AHEAD_MAX || f->ahead_bytes > AHEAD_BYTES ||
	       (first != AV_NOPTS_VALUE && last != AV_NOPTS_VALUE &&
		av_sat_sub64(last, first) > most);
}

/* Holds the next packet of the video. n_ahead < AHEAD_MAX. */
static enum decoder_reason hold_packet(struct film_job *f)
{
	AVPacket *p = av_packet_alloc();
	enum decoder_reason reason;

	if (!p)
		return DECODER_REASON_LIMIT;
	reason = read_packet(f, p);
	if (reason) {
		av_packet_free(&p);
		return reason;
	}
	f->ahead[f->n_ahead++] = p;
	f->ahead_bytes += (size_t)p->size;
	if (f->picture_begin == AV_NOPTS_VALUE)
		f->picture_begin = clip_begin(time_of_packet(p));
	return reason;
}

/* What is held may be all that there is. */
static enum decoder_reason may_end(const struct film_job *f, enum decoder_reason reason)
{
	return reason == DECODER_REASON_END && f->n_ahead ? DECODER_REASON_UNKNOWN : reason;
}

/* Reads on until it is known where picture and sound begin, or too far for that. */
static enum decoder_reason read_begins(struct film_job *f)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;

	while (!reason && !begins_are_known(f) && !is_far_ahead(f))
		reason = hold_packet(f);
	stop_sound(f);
	return may_end(f, reason);
}

static enum decoder_reason read_lead(struct film_job *f)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;

	while (!reason && f->n_ahead < LEAD)
		reason = hold_packet(f);
	return may_end(f, reason);
}

static enum decoder_reason seek_start(struct film_job *f)
{
	int64_t at = av_rescale_q((int64_t)f->conf->start, (AVRational){1, TRACK_RING_RATE},
				  f->stream->time_base);

	forget_ahead(f);
	return av_seek_frame(f->fmt, f->stream->index, av_sat_add64(f->origin, at),
			     AVSEEK_FLAG_BACKWARD) < 0
		       ? DECODER_REASON_NOT_SEEKABLE
		       : DECODER_REASON_UNKNOWN;
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
		reason = find_streams(f);
	if (!reason && f->conf->start && !input_seekable(f->input))
		reason = DECODER_REASON_NOT_SEEKABLE;
	if (reason)
		return reason;
	/* Positions count from the beginning, so that is looked at before any other place. */
	find_begins(f);
	reason = read_begins(f);
	if (reason)
		return reason;
	find_origin(f);
	return f->conf->start ? seek_start(f) : reason;
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

/* With the sound, which may go on behind the last picture. */
static uint64_t find_whole_duration(const struct film_job *f)
{
	uint64_t picture = find_duration(f), all;

	if (!f->sound || f->fmt->duration <= 0)
		return picture;
	all = (uint64_t)av_rescale(f->fmt->duration, TRACK_RING_RATE, AV_TIME_BASE);
	return all > picture && all <= DECODER_FRAMES_MAX ? all : picture;
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
	o->duration = find_whole_duration(f);
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
	o->video.sound_ms = f->sound_ms;
	f->conf->openedh(o, f->conf->arg);
}

/* ---- frames ---- */

/* A frame without a stored time follows the one before by one frame interval. */
static uint64_t find_time(const struct film_job *f, const AVPacket *packet)
{
	int64_t ts = time_of_packet(packet), us;

	if (ts == AV_NOPTS_VALUE)
		return f->at_us + (f->frames ? AV_TIME_BASE / find_fps(f) : 0);
	us = av_rescale_q(av_sat_sub64(ts, f->origin), f->stream->time_base, AV_TIME_BASE_Q);
	return us > 0 ? (uint64_t)us : 0;
}

static void rest(void)
{
	const struct timespec pause = {0, REST_MS * (long)NS_PER_MS};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* Where key frames are far apart no saving may be enough. The film is late then, but goes on. */
static void rest_before_limit(const struct film_job *f)
{
	while (lead_rests(cpu_ms(f), (read_time(f) - f->opened_at) / NS_PER_MS))
		rest();
}

static void put_unit(struct film_job *f, const struct video_unit *unit, const uint8_t *bytes)
{
	while (!video_ring_write(f->conf->ring, unit, bytes)) {
		report_opened(f);
		rest();
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

/* Nobody waits longer for the beginning (PROGRESS_OPEN_S). */
static bool takes_long(const struct film_job *f)
{
	return work_ns(f) > OPEN_MS * NS_PER_MS ||
	       read_time(f) - f->opened_at > OPEN_ALL_MS * NS_PER_MS;
}

/* A frame that was encoded. */
static enum decoder_reason on_unit(const struct video_unit *unit, const uint8_t *bytes, void *arg)
{
	struct film_job *f = arg;

	put_unit(f, unit, bytes);
	lead_wrote(&f->lead, video_ring_written(f->conf->ring), unit->at_us);
	if (lead_ms(&f->lead, video_ring_taken(f->conf->ring)) >= LEAD_OPEN_MS || takes_long(f))
		report_opened(f);
	return DECODER_REASON_UNKNOWN;
}

/* NULL: the last one was put. */
static enum decoder_reason put_packet(struct film_job *f, const AVPacket *packet)
{
	if (!f->convert)
		return packet ? put_stored(f, packet) : DECODER_REASON_UNKNOWN;
	if (packet && ++f->strays > STRAY_MAX)
		return DECODER_REASON_DAMAGED;
	rest_before_limit(f);
	convert_save(f->convert,
		     lead_saving(&f->lead, video_ring_taken(f->conf->ring), cpu_ms(f), f->waits));
	/* A place that takes long to get to would never be opened. */
	if (!f->frames && takes_long(f))
		convert_give_up_start(f->convert);
	return convert_put(f->convert, packet);
}

/* ---- whether it is converted ---- */

/* Judges by the first frames, where the container has no table of them. */
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
	f->picture_begin = f->sound_begin = AV_NOPTS_VALUE;
	f->opened_at = f->watched = read_time(f);
	f->cpu_before = read_cpu(f);
	reason = open_source(f);
	if (!reason)
		reason = read_lead(f);
	if (reason)
		return reason == DECODER_REASON_END ? DECODER_REASON_DAMAGED : reason;
	f->began = read_time(f);
	f->read_all = 0;
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
	forget_ahead(f);
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
