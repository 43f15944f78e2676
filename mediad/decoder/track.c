#include "mediad/decoder/track.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/cpu.h>
#include <libavutil/log.h>
#include <libavutil/mathematics.h>
#include <libavutil/samplefmt.h>
#include <libswresample/swresample.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mediad/decoder/input.h"
#include "mediad/decoder/tags.h"
#include "mediad/music/track_ring.h"
#include "proto/base/time.h"

#define DEMUXERS "mp3,mov,matroska,ogg,flac,wav,aac,mpegts"
#define DECODERS                                                                                   \
	"mp3float,mp3,aac,opus,vorbis,flac,alac,pcm_u8,pcm_s16le,pcm_s24le,pcm_s32le,pcm_f32le,"   \
	"pcm_f64le,pcm_s16be,pcm_s24be,pcm_s32be"

enum {
	BLOCK = 4096, /* frames that are resampled at once */
	REFILL_MS = 150,
	PROBE_BYTES = 1 << 20,
	ANALYZE_S = 5,
	BAD_PACKETS = 200,	/* in a row: the source is damaged */
	SILENT_PACKETS = 20000, /* that hold no sound, in a row */
	RATE_MIN = 4000,
	RATE_MAX = 384000,
	CHANNELS_MAX = 8,
	/* Decoders need packets before the frame that is asked for: Opus 80 ms, mp3 its reservoir.
	 */
	PRE_ROLL_MS = 300,
	OPUS_GRID = 120, /* samples at 48 kHz */
};

struct track {
	const struct track_conf *conf;
	struct input *input;
	AVFormatContext *fmt;
	AVStream *stream;
	AVCodecContext *codec;
	SwrContext *swr;
	int rate; /* of the frames that swr is set up for */
	AVChannelLayout layout;
	enum AVSampleFormat format;
	uint64_t samples;     /* decoded since the track's beginning, at its rate */
	uint64_t samples_max; /* where the padding begins */
	uint64_t unaligned;   /* samples to drop before the resampler */
	uint64_t skip;	      /* frames of output before the first that is wanted */
	bool sought;	      /* the first frame is not the track's */
	bool placed;	      /* the position of the first frame is known */
	unsigned bad, silent;
	int16_t pcm[BLOCK * TRACK_RING_CHANNELS];
};

/* ---- libav ---- */

static void ignore_log(void *arg, int level, const char *format, va_list values)
{
	(void)arg, (void)level, (void)format, (void)values;
}

/* Demuxers may name other files or addresses; none is opened. */
static int refuse_open(AVFormatContext *fmt, AVIOContext **io, const char *url, int flags,
		       AVDictionary **options)
{
	(void)fmt, (void)io, (void)url, (void)flags, (void)options;
	return AVERROR(EPERM);
}

void track_prepare(void)
{
	tzset();
	av_log_set_callback(ignore_log);
	av_cpu_count();
	av_get_cpu_flags();
}

static enum decoder_reason explain(const struct track *t, int err, enum decoder_reason otherwise)
{
	if (input_failure(t->input))
		return input_failure(t->input);
	return err == AVERROR(ENOMEM) ? DECODER_REASON_LIMIT : otherwise;
}

static enum decoder_reason open_format(struct track *t)
{
	AVDictionary *options = NULL;
	int err;

	t->fmt = avformat_alloc_context();
	if (!t->fmt)
		return DECODER_REASON_LIMIT;
	t->fmt->pb = input_io(t->input);
	t->fmt->io_open = refuse_open;
	t->fmt->probesize = PROBE_BYTES;
	t->fmt->max_analyze_duration = (int64_t)ANALYZE_S * AV_TIME_BASE;
	t->fmt->flags |= AVFMT_FLAG_CUSTOM_IO;
	av_dict_set(&options, "format_whitelist", DEMUXERS, 0);
	av_dict_set(&options, "codec_whitelist", DECODERS, 0);
	av_dict_set(&options, "protocol_whitelist", "", 0);
	err = avformat_open_input(&t->fmt, NULL, NULL, &options);
	av_dict_free(&options);
	if (err)
		return explain(t, err, DECODER_REASON_UNKNOWN_FORMAT);
	err = avformat_find_stream_info(t->fmt, NULL);
	return err < 0 ? explain(t, err, DECODER_REASON_DAMAGED) : DECODER_REASON_UNKNOWN;
}

static enum decoder_reason open_codec(struct track *t)
{
	const AVCodec *codec = NULL;
	int err, at = av_find_best_stream(t->fmt, AVMEDIA_TYPE_AUDIO, -1, -1, &codec, 0);

	if (at < 0 || !codec)
		return DECODER_REASON_NO_AUDIO;
	t->stream = t->fmt->streams[at];
	for (unsigned i = 0; i < t->fmt->nb_streams; i++)
		if ((int)i != at)
			t->fmt->streams[i]->discard = AVDISCARD_ALL;
	t->codec = avcodec_alloc_context3(codec);
	if (!t->codec || avcodec_parameters_to_context(t->codec, t->stream->codecpar) < 0)
		return DECODER_REASON_LIMIT;
	t->codec->thread_count = 1;
	t->codec->pkt_timebase = t->stream->time_base;
	t->codec->codec_whitelist = av_strdup(DECODERS);
	err = avcodec_open2(t->codec, codec, NULL);
	return err ? explain(t, err, DECODER_REASON_NO_AUDIO) : DECODER_REASON_UNKNOWN;
}

/* ---- positions ---- */

/* The timestamp of the first sample that is played. Timestamps before 0 are those of the encoder
 * delay, which libav drops. */
static int64_t first_timestamp(const struct track *t)
{
	int64_t start = t->stream->start_time;

	return start == AV_NOPTS_VALUE || start < 0 ? 0 : start;
}

static uint64_t rescale(int64_t n, AVRational from, int rate)
{
	int64_t m = av_rescale_q(n, from, (AVRational){1, rate});

	return m > 0 ? (uint64_t)m : 0;
}

static bool is_mp4(const struct track *t)
{
	return strncmp(t->fmt->iformat->name, "mov,", 4) == 0;
}

/* Returns the samples that the packets of an mp4 file last, without the encoder delay. libav cuts
 * them by the edit list as it reads, so the header is read again without that. 0: unknown. */
static int64_t count_mp4_samples(struct track *t)
{
	AVFormatContext *fmt = avformat_alloc_context();
	AVDictionary *options = NULL;
	int64_t n = 0, at = avio_tell(t->fmt->pb);
	unsigned stream = (unsigned)t->stream->index;

	if (!fmt)
		return 0;
	fmt->pb = t->fmt->pb;
	fmt->io_open = refuse_open;
	fmt->flags |= AVFMT_FLAG_CUSTOM_IO;
	av_dict_set(&options, "format_whitelist", "mov", 0);
	av_dict_set(&options, "protocol_whitelist", "", 0);
	av_dict_set(&options, "advanced_editlist", "0", 0);
	if (avio_seek(fmt->pb, 0, SEEK_SET) == 0 &&
	    avformat_open_input(&fmt, NULL, NULL, &options) == 0 && stream < fmt->nb_streams) {
		AVStream *s = fmt->streams[stream];
		const AVIndexEntry *first = avformat_index_get_entry(s, 0);

		if (first && s->duration > 0)
			n = av_rescale_q(
				s->duration + (first->timestamp < 0 ? first->timestamp : 0),
				s->time_base, (AVRational){1, t->stream->codecpar->sample_rate});
	}
	av_dict_free(&options);
	avformat_close_input(&fmt);
	return avio_seek(t->fmt->pb, at, SEEK_SET) == at ? n : 0;
}

/* An mp4 file declares its length, but libav does not cut the padding of the last packet. A length
 * in whole milliseconds is a rounded one; that of the packets is exact. */
static void find_padding(struct track *t)
{
	const int rate = t->stream->codecpar->sample_rate;
	const AVRational ms = {1, 1000}, sample = {1, rate};
	int64_t n, exact;

	t->samples_max = UINT64_MAX;
	if (!is_mp4(t) || rate <= 0)
		return;
	n = (int64_t)tags_itunes_samples(t->fmt->metadata);
	if (n <= 0 && t->stream->duration > 0) {
		n = av_rescale_q(t->stream->duration, t->stream->time_base, sample);
		if (input_seekable(t->input) &&
		    av_rescale_q(av_rescale_q(n, sample, ms), ms, sample) == n) {
			exact = count_mp4_samples(t);
			n = llabs(exact - n) <= rate / 1000 ? exact : n;
		}
	}
	if (n > 0)
		t->samples_max = (uint64_t)n;
}

static uint64_t find_duration(const struct track *t)
{
	const AVRational rate = {1, t->stream->codecpar->sample_rate};

	if (is_mp4(t) && t->samples_max != UINT64_MAX && rate.den > 0)
		return rescale((int64_t)t->samples_max, rate, TRACK_RING_RATE);
	if (t->stream->duration > 0)
		return rescale(t->stream->duration, t->stream->time_base, TRACK_RING_RATE);
	return t->fmt->duration > 0 ? rescale(t->fmt->duration, AV_TIME_BASE_Q, TRACK_RING_RATE)
				    : 0;
}

/* Seeks to a packet some time before the start; the frames between are dropped. */
static enum decoder_reason seek_start(struct track *t)
{
	const int64_t pre_roll = (int64_t)PRE_ROLL_MS * TRACK_RING_RATE / 1000;
	int64_t to = (int64_t)t->conf->start - pre_roll;

	if (to <= 0)
		return DECODER_REASON_UNKNOWN;
	if (!input_seekable(t->input))
		return DECODER_REASON_NOT_SEEKABLE;
	t->sought = true;
	to = av_rescale_q(to, (AVRational){1, TRACK_RING_RATE}, t->stream->time_base) +
	     first_timestamp(t);
	return av_seek_frame(t->fmt, t->stream->index, to, AVSEEK_FLAG_BACKWARD) < 0
		       ? DECODER_REASON_NOT_SEEKABLE
		       : DECODER_REASON_UNKNOWN;
}

static void report_opened(struct track *t, uint64_t start)
{
	struct decoder_opened o = {.duration = find_duration(t), .start = start};

	o.seekable = input_seekable(t->input) && o.duration;
	tags_read(&o, t->fmt->metadata, t->stream);
	t->conf->openedh(&o, t->conf->arg);
}

/* Returns the track's sample at which a frame begins. Matroska rounds timestamps to milliseconds,
 * but Opus frames last multiples of 2.5 ms, so the exact sample is the nearest one on their grid:
 * from the encoder delay on, or from 0 where the frame has been cut by it. */
static uint64_t find_sample(const struct track *t, const AVFrame *frame)
{
	const AVRational base = t->stream->time_base;
	int64_t n = av_rescale_q(frame->best_effort_timestamp - first_timestamp(t), base,
				 (AVRational){1, frame->sample_rate});

	if (t->codec->codec_id == AV_CODEC_ID_OPUS && base.den / base.num < frame->sample_rate) {
		int64_t delay =
			frame->nb_samples % OPUS_GRID ? 0 : t->stream->codecpar->initial_padding;

		n = (n + delay + OPUS_GRID / 2) / OPUS_GRID * OPUS_GRID - delay;
	}
	return n > 0 ? (uint64_t)n : 0;
}

/* Finds the position of the first decoded sample, which decides how much is dropped. A source
 * without timestamps begins at its beginning. */
static void place_first(struct track *t, const AVFrame *frame)
{
	uint64_t unit =
		(uint64_t)(frame->sample_rate / av_gcd(frame->sample_rate, TRACK_RING_RATE));
	uint64_t at;

	t->placed = true;
	if (t->sought && frame->best_effort_timestamp != AV_NOPTS_VALUE)
		t->samples = find_sample(t, frame);
	/* The resampler starts where a sample and a frame coincide, so that it has the same phase
	 * as in an uninterrupted track. */
	t->unaligned = (unit - t->samples % unit) % unit;
	at = rescale((int64_t)(t->samples + t->unaligned), (AVRational){1, frame->sample_rate},
		     TRACK_RING_RATE);
	t->skip = t->conf->start > at ? t->conf->start - at : 0;
	report_opened(t, t->conf->start > at ? t->conf->start : at);
}

/* ---- sound ---- */

static void write_ring(struct track *t, const int16_t *pcm, size_t frames)
{
	const struct timespec pause = {0, REFILL_MS * (long)NS_PER_MS};
	size_t drop = t->skip < frames ? (size_t)t->skip : frames;

	t->skip -= drop;
	pcm += drop * TRACK_RING_CHANNELS;
	frames -= drop;
	while (frames) {
		size_t n = track_ring_write(t->conf->ring, pcm, frames);

		pcm += n * TRACK_RING_CHANNELS;
		frames -= n;
		if (frames)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
}

/* Resamples n samples; data NULL flushes. */
static enum decoder_reason resample(struct track *t, const uint8_t **data, int n)
{
	uint8_t *out = (uint8_t *)t->pcm;
	int got = swr_convert(t->swr, &out, BLOCK, data, n);

	while (got > 0) {
		write_ring(t, t->pcm, (size_t)got);
		got = swr_convert(t->swr, &out, BLOCK, data, 0);
	}
	return got < 0 ? DECODER_REASON_DAMAGED : DECODER_REASON_UNKNOWN;
}

/* Takes over the format of a frame. Mono goes to both sides at full level. */
static enum decoder_reason set_up_resampler(struct track *t, const AVFrame *frame)
{
	AVChannelLayout stereo = AV_CHANNEL_LAYOUT_STEREO;
	static const double both[] = {1, 1};
	AVChannelLayout layout;

	if (frame->sample_rate < RATE_MIN || frame->sample_rate > RATE_MAX ||
	    frame->ch_layout.nb_channels < 1 || frame->ch_layout.nb_channels > CHANNELS_MAX)
		return DECODER_REASON_NO_AUDIO;
	if (t->swr)
		resample(t, NULL, 0);
	swr_free(&t->swr);
	av_channel_layout_uninit(&t->layout);
	if (av_channel_layout_copy(&t->layout, &frame->ch_layout))
		return DECODER_REASON_LIMIT;
	t->rate = frame->sample_rate;
	t->format = frame->format;
	av_channel_layout_default(&layout, frame->ch_layout.nb_channels);
	if (frame->ch_layout.order == AV_CHANNEL_ORDER_NATIVE)
		layout = frame->ch_layout;
	if (swr_alloc_set_opts2(&t->swr, &stereo, AV_SAMPLE_FMT_S16, TRACK_RING_RATE, &layout,
				frame->format, frame->sample_rate, 0, NULL) ||
	    (layout.nb_channels == 1 && swr_set_matrix(t->swr, both, 1)) || swr_init(t->swr))
		return DECODER_REASON_NO_AUDIO;
	return DECODER_REASON_UNKNOWN;
}

/* Resamples samples [from, n) of a frame. */
static enum decoder_reason resample_from(struct track *t, const AVFrame *frame, int from, int n)
{
	const uint8_t *data[CHANNELS_MAX] = {0};
	bool planar = av_sample_fmt_is_planar(frame->format);
	int channels = frame->ch_layout.nb_channels,
	    step = av_get_bytes_per_sample(frame->format) * (planar ? 1 : channels);

	for (int i = 0; i < (planar ? channels : 1); i++)
		data[i] = frame->extended_data[i] + (ptrdiff_t)from * step;
	return resample(t, data, n - from);
}

static enum decoder_reason put_frame(struct track *t, const AVFrame *frame)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	uint64_t left;
	int n, from;

	if (!t->swr || frame->sample_rate != t->rate || frame->format != t->format ||
	    av_channel_layout_compare(&frame->ch_layout, &t->layout))
		reason = set_up_resampler(t, frame);
	if (reason)
		return reason;
	if (!t->placed)
		place_first(t, frame);
	left = t->samples_max > t->samples ? t->samples_max - t->samples : 0;
	n = (uint64_t)frame->nb_samples < left ? frame->nb_samples : (int)left;
	from = t->unaligned < (uint64_t)n ? (int)t->unaligned : n;
	t->unaligned -= (uint64_t)from;
	t->samples += (uint64_t)n;
	return from < n ? resample_from(t, frame, from, n) : DECODER_REASON_UNKNOWN;
}

/* Takes all frames out of the decoder. */
static enum decoder_reason drain_codec(struct track *t, AVFrame *frame)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	int err = 0;

	while (!reason && (err = avcodec_receive_frame(t->codec, frame)) == 0) {
		t->bad = t->silent = 0;
		reason = put_frame(t, frame);
		av_frame_unref(frame);
	}
	if (!reason && err != AVERROR(EAGAIN) && err != AVERROR_EOF)
		t->bad++;
	return reason;
}

/* Decodes one packet; NULL at the end. Damaged packets are skipped as long as they are few. */
static enum decoder_reason put_packet(struct track *t, const AVPacket *packet, AVFrame *frame)
{
	enum decoder_reason reason;
	int err = avcodec_send_packet(t->codec, packet);

	if (err == AVERROR(ENOMEM))
		return DECODER_REASON_LIMIT;
	t->bad += err < 0 && err != AVERROR_EOF;
	t->silent++;
	reason = drain_codec(t, frame);
	if (!reason && (t->bad > BAD_PACKETS || t->silent > SILENT_PACKETS))
		reason = DECODER_REASON_DAMAGED;
	return reason;
}

static enum decoder_reason decode_packets(struct track *t, AVPacket *packet, AVFrame *frame)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	int err;

	while (!reason) {
		err = av_read_frame(t->fmt, packet);
		if (err)
			break;
		if (packet->stream_index == t->stream->index)
			reason = put_packet(t, packet, frame);
		else if (++t->silent > SILENT_PACKETS)
			reason = DECODER_REASON_DAMAGED;
		av_packet_unref(packet);
	}
	if (reason)
		return reason;
	if (err != AVERROR_EOF)
		return explain(t, err, DECODER_REASON_DAMAGED);
	reason = put_packet(t, NULL, frame);
	if (!reason && t->swr)
		reason = resample(t, NULL, 0);
	return reason ? reason : input_failure(t->input);
}

static enum decoder_reason decode_all(struct track *t)
{
	AVPacket *packet = av_packet_alloc();
	AVFrame *frame = av_frame_alloc();
	enum decoder_reason reason = DECODER_REASON_LIMIT;

	if (packet && frame)
		reason = decode_packets(t, packet, frame);
	av_packet_free(&packet);
	av_frame_free(&frame);
	if (reason)
		return reason;
	if (t->placed)
		return DECODER_REASON_END;
	/* A start past the end leaves nothing to play. */
	return t->conf->start ? DECODER_REASON_NOT_SEEKABLE : DECODER_REASON_DAMAGED;
}

enum decoder_reason track_decode(const struct track_conf *conf)
{
	static struct track t; /* too large for the stack; a process decodes one track */
	enum decoder_reason reason;

	t = (struct track){.conf = conf};
	if (input_alloc(&t.input, conf->fd, conf->kind))
		return DECODER_REASON_LIMIT;
	reason = input_failure(t.input);
	if (!reason)
		reason = open_format(&t);
	if (!reason)
		reason = open_codec(&t);
	if (!reason)
		find_padding(&t);
	if (!reason)
		reason = seek_start(&t);
	if (!reason)
		reason = decode_all(&t);
	swr_free(&t.swr);
	av_channel_layout_uninit(&t.layout);
	avcodec_free_context(&t.codec);
	avformat_close_input(&t.fmt);
	input_free(t.input);
	return reason;
}
