#include "mediad/decoder/decode.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/cpu.h>
#include <libavutil/log.h>
#include <libavutil/mathematics.h>
#include <libavutil/samplefmt.h>
#include <libswresample/swresample.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mediad/decoder/format.h"
#include "mediad/decoder/input.h"
#include "mediad/decoder/mp3_place.h"
#include "mediad/decoder/tags.h"
#include "mediad/music/track_ring.h"

#define DEMUXERS "mp3,mov,matroska,ogg,flac,wav,aac,mpegts"

enum {
	BLOCK = 4096, /* frames that are resampled at once */
	ANALYZE_S = 5,
	BAD_PACKETS = 200,	/* in a row: the source is damaged */
	SILENT_PACKETS = 20000, /* that hold no sound, in a row */
	RATE_MIN = 4000,
	RATE_MAX = 384000,
	CHANNELS_MAX = 8,
	/* Decoders need packets before the first frame that is wanted: Opus 80 ms, mp3 its
	 * reservoir. */
	PRE_ROLL_MS = 300,
	OPUS_GRID = 120, /* samples at 48 kHz */
	/* Bytes of a web source that are read to find a place in it exactly. */
	WALK_BYTES = 1 << 20,
};

struct decode {
	struct decode_conf conf;
	struct input *input;
	AVFormatContext *fmt;
	AVStream *stream;
	int sound; /* of a film: its index, if the head tells it; -1 otherwise */
	AVCodecContext *codec;
	SwrContext *swr;
	AVPacket *packet;
	AVFrame *frame;
	int rate; /* of the frames that swr is set up for */
	AVChannelLayout layout;
	enum AVSampleFormat format;
	uint64_t start;		/* the first frame that is wanted */
	uint64_t samples;	/* decoded since the track's beginning, at its rate */
	uint64_t samples_max;	/* where the padding begins */
	uint64_t unaligned;	/* samples to drop before the resampler */
	uint64_t skip;		/* frames of output before the first that is wanted */
	bool begun;		/* packets were read */
	bool sought;		/* the first frame is not the track's */
	bool placed;		/* the position of the first frame is known */
	bool jumped;		/* to a packet of an MP3 file whose place is not known yet */
	struct mp3_place first; /* of an MP3 file in which it jumped */
	int64_t walk_to;	/* timestamp: packets before it are left out */
	int64_t shift;		/* to be added to timestamps */
	unsigned bad, silent;
	int16_t pcm[BLOCK * TRACK_RING_CHANNELS];
};

/* ---- libav ---- */

static void ignore_log(void *arg, int level, const char *format, va_list values)
{
	(void)arg, (void)level, (void)format, (void)values;
}

/* The first decoder of each kind computes tables, those of AAC for six milliseconds. Decoders that
 * need the head of a file fail, and have no tables. */
static void compute_tables(void)
{
	char names[] = FORMAT_DECODERS, *rest = names, *name;

	while ((name = strsep(&rest, ","))) {
		AVCodecContext *c = avcodec_alloc_context3(avcodec_find_decoder_by_name(name));

		if (!c)
			return;
		c->sample_rate = TRACK_RING_RATE;
		c->thread_count = 1;
		av_channel_layout_default(&c->ch_layout, TRACK_RING_CHANNELS);
		(void)!avcodec_open2(c, NULL, NULL);
		avcodec_free_context(&c);
	}
}

void decode_prepare(void)
{
	tzset();
	av_log_set_callback(ignore_log);
	av_cpu_count();
	av_get_cpu_flags();
	compute_tables();
}

static enum decoder_reason explain(const struct decode *d, int err, enum decoder_reason otherwise)
{
	if (input_failure(d->input))
		return input_failure(d->input);
	return err == AVERROR(ENOMEM) ? DECODER_REASON_LIMIT : otherwise;
}

/* libav finds a place in an MP3 file by reading all before it, or jumps by the rate or by a table
 * of the file, which is not exact (decision record 195). It has to know before it opens. */
static bool may_jump(const struct decode *d, const AVInputFormat *format)
{
	return (d->conf.rough || d->conf.kind != DECODER_FILE) &&
	       (!format || strcmp(format->name, "mp3") == 0);
}

static enum decoder_reason open_format(struct decode *d)
{
	AVDictionary *options = NULL;
	const AVInputFormat *format;
	int err;

	d->fmt = avformat_alloc_context();
	if (!d->fmt)
		return DECODER_REASON_LIMIT;
	format_prepare(d->fmt, d->input, DEMUXERS, &options);
	d->fmt->max_analyze_duration = (int64_t)ANALYZE_S * AV_TIME_BASE;
	av_dict_set(&options, "codec_whitelist", FORMAT_DECODERS, 0);
	format = format_find(d->fmt, d->input, d->conf.kind);
	if (may_jump(d, format))
		d->fmt->flags |= AVFMT_FLAG_FAST_SEEK;
	err = avformat_open_input(&d->fmt, NULL, format, &options);
	av_dict_free(&options);
	if (err)
		return explain(d, err, DECODER_REASON_UNKNOWN_FORMAT);
	d->sound = format_find_picture(d->fmt) ? format_find_sound(d->fmt) : -1;
	err = avformat_find_stream_info(d->fmt, NULL);
	input_end_index(d->input);
	return err < 0 ? explain(d, err, DECODER_REASON_DAMAGED) : DECODER_REASON_UNKNOWN;
}

static enum decoder_reason open_codec(struct decode *d)
{
	const int at = d->sound >= 0 ? d->sound : format_find_sound(d->fmt);
	const AVCodec *codec;
	int err;

	if (at < 0)
		return DECODER_REASON_NO_AUDIO;
	d->stream = d->fmt->streams[at];
	codec = avcodec_find_decoder(d->stream->codecpar->codec_id);
	for (unsigned i = 0; i < d->fmt->nb_streams; i++)
		if ((int)i != at)
			d->fmt->streams[i]->discard = AVDISCARD_ALL;
	d->codec = avcodec_alloc_context3(codec);
	if (!d->codec || avcodec_parameters_to_context(d->codec, d->stream->codecpar) < 0)
		return DECODER_REASON_LIMIT;
	d->codec->thread_count = 1;
	d->codec->pkt_timebase = d->stream->time_base;
	d->codec->codec_whitelist = av_strdup(FORMAT_DECODERS);
	err = avcodec_open2(d->codec, codec, NULL);
	return err ? explain(d, err, DECODER_REASON_NO_AUDIO) : DECODER_REASON_UNKNOWN;
}

/* ---- positions ---- */

/* The timestamp of the first sample that is played. Timestamps before 0 are those of the encoder
 * delay, which libav drops. */
static int64_t first_timestamp(const struct decode *d)
{
	int64_t start = d->stream->start_time;

	return start == AV_NOPTS_VALUE || start < 0 ? 0 : start;
}

static uint64_t rescale(int64_t n, AVRational from, int rate)
{
	int64_t m = av_rescale_q(n, from, (AVRational){1, rate});

	return m > 0 ? (uint64_t)m : 0;
}

/* Returns the samples that the packets of an mp4 file last, without the encoder delay. libav cuts
 * them by the edit list as it reads, so the header is read again without that. 0: unknown. */
static int64_t count_mp4_samples(struct decode *d)
{
	AVFormatContext *fmt = avformat_alloc_context();
	AVDictionary *options = NULL;
	int64_t n = 0, at = avio_tell(d->fmt->pb);
	unsigned stream = (unsigned)d->stream->index;

	if (!fmt)
		return 0;
	format_prepare(fmt, d->input, "mov", &options);
	av_dict_set(&options, "advanced_editlist", "0", 0);
	if (avio_seek(fmt->pb, 0, SEEK_SET) == 0 &&
	    avformat_open_input(&fmt, NULL, NULL, &options) == 0 && stream < fmt->nb_streams) {
		AVStream *s = fmt->streams[stream];
		const AVIndexEntry *first = avformat_index_get_entry(s, 0);

		if (first && s->duration > 0)
			n = av_rescale_q(
				s->duration + (first->timestamp < 0 ? first->timestamp : 0),
				s->time_base, (AVRational){1, d->stream->codecpar->sample_rate});
	}
	av_dict_free(&options);
	avformat_close_input(&fmt);
	return avio_seek(d->fmt->pb, at, SEEK_SET) == at ? n : 0;
}

/* An mp4 file declares its length, but libav does not cut the padding of the last packet. A length
 * in whole milliseconds is a rounded one; that of the packets is exact. */
static void find_padding(struct decode *d)
{
	const int rate = d->stream->codecpar->sample_rate;
	const AVRational ms = {1, 1000}, sample = {1, rate};
	int64_t n, exact;
	uint64_t begin;

	d->samples_max = UINT64_MAX;
	/* The header of segments tells nothing about how many there are. */
	if (!format_is_mp4(d->fmt) || rate <= 0 || input_begin(d->input, &begin))
		return;
	n = (int64_t)tags_itunes_samples(d->fmt->metadata);
	if (n <= 0 && d->stream->duration > 0) {
		n = av_rescale_q(d->stream->duration, d->stream->time_base, sample);
		if (input_seekable(d->input) &&
		    av_rescale_q(av_rescale_q(n, sample, ms), ms, sample) == n) {
			exact = count_mp4_samples(d);
			n = llabs(exact - n) <= rate / 1000 ? exact : n;
		}
	}
	if (n > 0)
		d->samples_max = (uint64_t)n;
}

/* As the source declares it. */
static uint64_t read_duration(const struct decode *d)
{
	const AVRational rate = {1, d->stream->codecpar->sample_rate};
	uint64_t begin;

	if (input_begin(d->input, &begin))
		return input_length(d->input);
	if (format_is_mp4(d->fmt) && d->samples_max != UINT64_MAX && rate.den > 0)
		return rescale((int64_t)d->samples_max, rate, TRACK_RING_RATE);
	if (d->stream->duration > 0)
		return rescale(d->stream->duration, d->stream->time_base, TRACK_RING_RATE);
	return d->fmt->duration > 0 ? rescale(d->fmt->duration, AV_TIME_BASE_Q, TRACK_RING_RATE)
				    : 0;
}

uint64_t decode_duration(const struct decode *d)
{
	uint64_t frames = read_duration(d);

	return frames <= DECODER_FRAMES_MAX ? frames : 0;
}

bool decode_guesses(const struct decode *d)
{
	uint64_t begin;

	/* Playlists round what their segments last. */
	return d->fmt->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE ||
	       input_begin(d->input, &begin);
}

/* Forgets the sound before a seek. */
static void reset_decoder(struct decode *d)
{
	avcodec_flush_buffers(d->codec);
	swr_free(&d->swr);
	d->samples = d->unaligned = d->skip = 0;
	d->walk_to = d->shift = 0;
	d->placed = false;
	d->bad = d->silent = 0;
}

static bool jumps(const struct decode *d)
{
	return d->fmt->flags & AVFMT_FLAG_FAST_SEEK && strcmp(d->fmt->iformat->name, "mp3") == 0;
}

/* True if little would have to be read before this place. */
static bool is_near(const struct decode *d, int64_t to)
{
	int64_t bytes = avio_size(d->fmt->pb);

	return bytes > 0 && d->stream->duration > 0 && to > 0 &&
	       av_rescale(bytes, to, d->stream->duration) <= WALK_BYTES;
}

static struct mp3_place read_place(const AVPacket *packet)
{
	const struct mp3_place none = {0};

	return packet->size >= MP3_HEAD && packet->pos >= 0
		       ? mp3_place_of(packet->data, (uint64_t)packet->pos)
		       : none;
}

/* The first packet tells the rate, and where the sound begins in the file. */
static void begin_jump(struct decode *d)
{
	if (!d->begun && av_read_frame(d->fmt, d->packet) == 0) {
		d->first = read_place(d->packet);
		av_packet_unref(d->packet);
	}
	d->jumped = true;
}

/* After a jump libav's timestamps are those that were asked for, or a packet beside. */
static void end_jump(struct decode *d, const AVPacket *packet)
{
	const struct mp3_place place = read_place(packet);
	const int64_t size = avio_size(d->fmt->pb);
	const AVRational rate = {1, d->stream->codecpar->sample_rate};
	uint64_t sample, packets = 0;

	d->jumped = false;
	if (place.samples && rate.den > 0 &&
	    d->fmt->duration_estimation_method != AVFMT_DURATION_FROM_BITRATE)
		packets = rescale(d->stream->duration, d->stream->time_base, rate.den) /
			  place.samples;
	if (packet->pts != AV_NOPTS_VALUE && size > 0 && rate.den > 0 &&
	    mp3_place_sample(&d->first, &place, (uint64_t)size, packets, &sample))
		d->shift = av_rescale_q((int64_t)sample, rate, d->stream->time_base) - packet->pts;
}

/* Seeks to a packet some time before the start; the frames between are dropped. */
enum decoder_reason decode_seek(struct decode *d, uint64_t start)
{
	const int64_t pre_roll = (int64_t)PRE_ROLL_MS * TRACK_RING_RATE / 1000;
	int64_t to = (int64_t)start - pre_roll;
	uint64_t begin;

	d->start = start;
	if (start > DECODER_FRAMES_MAX)
		return DECODER_REASON_NOT_SEEKABLE;
	if (!d->begun && (to <= 0 || input_begin(d->input, &begin)))
		return DECODER_REASON_UNKNOWN;
	if (!input_seekable(d->input))
		return DECODER_REASON_NOT_SEEKABLE;
	if (d->begun)
		reset_decoder(d);
	d->sought = true;
	to = av_rescale_q(to > 0 ? to : 0, (AVRational){1, TRACK_RING_RATE}, d->stream->time_base) +
	     first_timestamp(d);
	if (jumps(d) && !d->conf.rough && !d->begun && is_near(d, to)) {
		d->walk_to = to;
		return DECODER_REASON_UNKNOWN;
	}
	if (jumps(d))
		begin_jump(d);
	return av_seek_frame(d->fmt, d->stream->index, to, AVSEEK_FLAG_BACKWARD) < 0
		       ? DECODER_REASON_NOT_SEEKABLE
		       : DECODER_REASON_UNKNOWN;
}

bool decode_seekable(const struct decode *d)
{
	uint64_t begin;

	/* In segments the place is found by opening the source again. */
	return (input_seekable(d->input) || input_begin(d->input, &begin)) && decode_duration(d);
}

void decode_tags(const struct decode *d, struct decoder_opened *out)
{
	tags_read(out, d->fmt->metadata, d->stream);
}

/* Returns the track's sample at which a frame begins. Matroska rounds timestamps to milliseconds,
 * but Opus frames last multiples of 2.5 ms, so the exact sample is the nearest one on their grid:
 * from the encoder delay on, or from 0 where the frame has been cut by it. */
static uint64_t find_sample(const struct decode *d, const AVFrame *frame)
{
	const AVRational base = d->stream->time_base;
	int64_t n = av_rescale_q(frame->best_effort_timestamp + d->shift - first_timestamp(d), base,
				 (AVRational){1, frame->sample_rate});

	if (d->codec->codec_id == AV_CODEC_ID_OPUS && base.den / base.num < frame->sample_rate) {
		int64_t delay =
			frame->nb_samples % OPUS_GRID ? 0 : d->stream->codecpar->initial_padding;

		n = (n + delay + OPUS_GRID / 2) / OPUS_GRID * OPUS_GRID - delay;
	}
	return n > 0 ? (uint64_t)n : 0;
}

/* libav joins the tags of a song to those of the one before it. */
static void forget_tags(struct decode *d)
{
	av_dict_free(&d->stream->metadata);
}

/* Finds the position of the first decoded sample, which decides how much is dropped. A source
 * without timestamps begins at its beginning. */
static void place_first(struct decode *d, const AVFrame *frame)
{
	uint64_t unit =
		(uint64_t)(frame->sample_rate / av_gcd(frame->sample_rate, TRACK_RING_RATE));
	uint64_t at, begin;

	d->placed = true;
	if (input_begin(d->input, &begin))
		d->samples = rescale((int64_t)begin, (AVRational){1, TRACK_RING_RATE},
				     frame->sample_rate);
	else if (d->sought && frame->best_effort_timestamp != AV_NOPTS_VALUE)
		d->samples = find_sample(d, frame);
	/* The resampler starts where a sample and a frame coincide, so that it has the same phase
	 * as in an uninterrupted track. */
	d->unaligned = (unit - d->samples % unit) % unit;
	at = rescale((int64_t)(d->samples + d->unaligned), (AVRational){1, frame->sample_rate},
		     TRACK_RING_RATE);
	d->skip = d->start > at ? d->start - at : 0;
	d->conf.placedh(d->start > at ? d->start : at, d->conf.arg);
	if (d->conf.tagsh)
		forget_tags(d);
}

/* ---- sound ---- */

static void emit_sound(struct decode *d, size_t frames)
{
	size_t drop = d->skip < frames ? (size_t)d->skip : frames;

	d->skip -= drop;
	if (drop < frames)
		d->conf.pcmh(d->pcm + drop * TRACK_RING_CHANNELS, frames - drop, d->conf.arg);
}

/* Resamples n samples; data NULL flushes. */
static enum decoder_reason resample(struct decode *d, const uint8_t **data, int n)
{
	uint8_t *out = (uint8_t *)d->pcm;
	int got = swr_convert(d->swr, &out, BLOCK, data, n);

	while (got > 0) {
		emit_sound(d, (size_t)got);
		got = swr_convert(d->swr, &out, BLOCK, data, 0);
	}
	return got < 0 ? DECODER_REASON_DAMAGED : DECODER_REASON_UNKNOWN;
}

/* Takes over the format of a frame. Mono goes to both sides at full level. */
static enum decoder_reason set_up_resampler(struct decode *d, const AVFrame *frame)
{
	AVChannelLayout stereo = AV_CHANNEL_LAYOUT_STEREO;
	static const double both[] = {1, 1};
	AVChannelLayout layout;

	if (frame->sample_rate < RATE_MIN || frame->sample_rate > RATE_MAX ||
	    frame->ch_layout.nb_channels < 1 || frame->ch_layout.nb_channels > CHANNELS_MAX)
		return DECODER_REASON_NO_AUDIO;
	if (d->swr)
		resample(d, NULL, 0);
	swr_free(&d->swr);
	av_channel_layout_uninit(&d->layout);
	if (av_channel_layout_copy(&d->layout, &frame->ch_layout))
		return DECODER_REASON_LIMIT;
	d->rate = frame->sample_rate;
	d->format = frame->format;
	av_channel_layout_default(&layout, frame->ch_layout.nb_channels);
	if (frame->ch_layout.order == AV_CHANNEL_ORDER_NATIVE)
		layout = frame->ch_layout;
	if (swr_alloc_set_opts2(&d->swr, &stereo, AV_SAMPLE_FMT_S16, TRACK_RING_RATE, &layout,
				frame->format, frame->sample_rate, 0, NULL) ||
	    (layout.nb_channels == 1 && swr_set_matrix(d->swr, both, 1)) || swr_init(d->swr))
		return DECODER_REASON_NO_AUDIO;
	return DECODER_REASON_UNKNOWN;
}

/* Resamples samples [from, n) of a frame. */
static enum decoder_reason resample_from(struct decode *d, const AVFrame *frame, int from, int n)
{
	const uint8_t *data[CHANNELS_MAX] = {0};
	bool planar = av_sample_fmt_is_planar(frame->format);
	int channels = frame->ch_layout.nb_channels,
	    step = av_get_bytes_per_sample(frame->format) * (planar ? 1 : channels);

	for (int i = 0; i < (planar ? channels : 1); i++)
		data[i] = frame->extended_data[i] + (ptrdiff_t)from * step;
	return resample(d, data, n - from);
}

static enum decoder_reason put_frame(struct decode *d, const AVFrame *frame)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	uint64_t left;
	int n, from;

	if (!d->swr || frame->sample_rate != d->rate || frame->format != d->format ||
	    av_channel_layout_compare(&frame->ch_layout, &d->layout))
		reason = set_up_resampler(d, frame);
	if (reason)
		return reason;
	if (!d->placed)
		place_first(d, frame);
	left = d->samples_max > d->samples ? d->samples_max - d->samples : 0;
	n = (uint64_t)frame->nb_samples < left ? frame->nb_samples : (int)left;
	from = d->unaligned < (uint64_t)n ? (int)d->unaligned : n;
	d->unaligned -= (uint64_t)from;
	d->samples += (uint64_t)n;
	return from < n ? resample_from(d, frame, from, n) : DECODER_REASON_UNKNOWN;
}

/* Takes all frames out of the decoder. */
static enum decoder_reason drain_codec(struct decode *d)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	int err = 0;

	while (!reason && (err = avcodec_receive_frame(d->codec, d->frame)) == 0) {
		d->bad = d->silent = 0;
		reason = put_frame(d, d->frame);
		av_frame_unref(d->frame);
	}
	if (!reason && err != AVERROR(EAGAIN) && err != AVERROR_EOF)
		d->bad++;
	return reason;
}

/* Decodes one packet; NULL at the end. Damaged packets are skipped as long as they are few. */
static enum decoder_reason put_packet(struct decode *d, const AVPacket *packet)
{
	enum decoder_reason reason;
	int err = avcodec_send_packet(d->codec, packet);

	if (err == AVERROR(ENOMEM))
		return DECODER_REASON_LIMIT;
	d->bad += err < 0 && err != AVERROR_EOF;
	d->silent++;
	reason = drain_codec(d);
	if (!reason && (d->bad > BAD_PACKETS || d->silent > SILENT_PACKETS))
		reason = DECODER_REASON_DAMAGED;
	return reason;
}

/* The source has ended: takes out what decoder and resampler still hold. */
static enum decoder_reason flush(struct decode *d)
{
	enum decoder_reason reason = put_packet(d, NULL);

	if (!reason && d->swr)
		reason = resample(d, NULL, 0);
	if (!reason)
		reason = input_failure(d->input);
	if (reason)
		return reason;
	if (d->placed)
		return DECODER_REASON_END;
	/* A start past the end leaves nothing to play. */
	return d->start ? DECODER_REASON_NOT_SEEKABLE : DECODER_REASON_DAMAGED;
}

static bool is_before_walk(const struct decode *d, const AVPacket *packet)
{
	return d->walk_to && packet->pts != AV_NOPTS_VALUE && packet->pts < d->walk_to;
}

static void note_tags(struct decode *d)
{
	bool updated = d->fmt->event_flags & AVFMT_EVENT_FLAG_METADATA_UPDATED ||
		       d->stream->event_flags & AVSTREAM_EVENT_FLAG_METADATA_UPDATED;

	d->fmt->event_flags &= ~AVFMT_EVENT_FLAG_METADATA_UPDATED;
	d->stream->event_flags &= ~AVSTREAM_EVENT_FLAG_METADATA_UPDATED;
	if (!updated || !d->placed || !d->conf.tagsh)
		return;
	d->conf.tagsh(d->conf.arg);
	forget_tags(d);
}

enum decoder_reason decode_step(struct decode *d)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	int err = av_read_frame(d->fmt, d->packet);

	d->begun = true;
	note_tags(d);
	if (err == AVERROR_EOF)
		return flush(d);
	if (err)
		return explain(d, err, DECODER_REASON_DAMAGED);
	if (d->jumped)
		end_jump(d, d->packet);
	if (d->packet->stream_index == d->stream->index)
		reason = is_before_walk(d, d->packet) ? DECODER_REASON_UNKNOWN
						      : put_packet(d, d->packet);
	else if (++d->silent > SILENT_PACKETS)
		reason = DECODER_REASON_DAMAGED;
	av_packet_unref(d->packet);
	return reason;
}

/* ---- making and freeing ---- */

static enum decoder_reason open_source(struct decode *d)
{
	enum decoder_reason reason;

	d->packet = av_packet_alloc();
	d->frame = av_frame_alloc();
	if (!d->packet || !d->frame || input_alloc(&d->input, d->conf.fd, d->conf.kind))
		return DECODER_REASON_LIMIT;
	reason = input_failure(d->input);
	if (!reason)
		reason = open_format(d);
	if (!reason)
		reason = open_codec(d);
	if (!reason)
		find_padding(d);
	return reason;
}

enum decoder_reason decode_open(struct decode **out, const struct decode_conf *conf)
{
	struct decode *d = calloc(1, sizeof *d);
	enum decoder_reason reason;

	if (!d)
		return DECODER_REASON_LIMIT;
	d->conf = *conf;
	reason = open_source(d);
	if (reason) {
		decode_free(d);
		return reason;
	}
	*out = d;
	return DECODER_REASON_UNKNOWN;
}

struct decode *decode_free(struct decode *d)
{
	if (!d)
		return NULL;
	swr_free(&d->swr);
	av_channel_layout_uninit(&d->layout);
	avcodec_free_context(&d->codec);
	avformat_close_input(&d->fmt);
	av_packet_free(&d->packet);
	av_frame_free(&d->frame);
	input_free(d->input);
	free(d);
	return NULL;
}
