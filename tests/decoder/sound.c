#include "tests/decoder/sound.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <math.h>
#include <string.h>

enum { PCM_FRAME = 1024, BIT_RATE = 160000, QUALITY = 4 };

struct writer {
	const struct sound *sound;
	AVFormatContext *fmt;
	AVCodecContext *codec;
	AVStream *stream;
	AVFrame *frame;
	AVPacket *packet;
	int64_t at;
};

double sound_signal(double t, int channel)
{
	double base = channel ? 330 : 440;

	return 0.3 * sin(2 * M_PI * base * t) + 0.2 * sin(2 * M_PI * (900 + 40 * t) * t + channel) +
	       0.1 * sin(2 * M_PI * 2711 * t) * sin(2 * M_PI * 0.7 * t);
}

static void put_sample(AVFrame *f, int channel, int i, double v)
{
	switch (f->format) {
	case AV_SAMPLE_FMT_S16:
		((int16_t *)f->data[0])[i * f->ch_layout.nb_channels + channel] =
			(int16_t)lrint(32767 * v);
		break;
	case AV_SAMPLE_FMT_FLT:
		((float *)f->data[0])[i * f->ch_layout.nb_channels + channel] = (float)v;
		break;
	case AV_SAMPLE_FMT_S16P:
		((int16_t *)f->data[channel])[i] = (int16_t)lrint(32767 * v);
		break;
	case AV_SAMPLE_FMT_S32P:
		((int32_t *)f->data[channel])[i] = (int32_t)lrint(2147483000 * v);
		break;
	default:
		((float *)f->data[channel])[i] = (float)v;
	}
}

static bool write_packets(struct writer *w, const AVFrame *frame)
{
	int err = avcodec_send_frame(w->codec, frame);

	while (!err && (err = avcodec_receive_packet(w->codec, w->packet)) == 0) {
		av_packet_rescale_ts(w->packet, w->codec->time_base, w->stream->time_base);
		w->packet->stream_index = 0;
		if (w->sound->foreign_first)
			err = av_write_frame(w->fmt, w->packet);
		w->packet->stream_index = w->stream->index;
		if (!err)
			err = av_interleaved_write_frame(w->fmt, w->packet);
	}
	return err == AVERROR(EAGAIN) || err == AVERROR_EOF;
}

static bool write_frames(struct writer *w)
{
	const struct sound *s = w->sound;
	double (*signal)(double, int) = s->signal ? s->signal : sound_signal;
	int size = w->codec->frame_size ? w->codec->frame_size : PCM_FRAME;

	while (w->at < s->samples) {
		int n = s->samples - w->at < size ? (int)(s->samples - w->at) : size;

		w->frame->nb_samples = n;
		w->frame->format = w->codec->sample_fmt;
		w->frame->sample_rate = s->rate;
		w->frame->pts = w->at;
		if (av_channel_layout_copy(&w->frame->ch_layout, &w->codec->ch_layout) ||
		    av_frame_get_buffer(w->frame, 0))
			return false;
		for (int c = 0; c < s->channels; c++)
			for (int i = 0; i < n; i++)
				put_sample(w->frame, c, i,
					   (w->at + i < s->quiet ? 0.1 : 1) *
						   signal((double)(w->at + i) / s->rate, c));
		w->at += n;
		if (!write_packets(w, w->frame))
			return false;
		av_frame_unref(w->frame);
	}
	return write_packets(w, NULL);
}

/* The track before it, if there is one. */
static bool describe_first(struct writer *w)
{
	AVStream *first = w->fmt->streams[0];

	if (first == w->stream)
		return true;
	first->time_base = w->stream->time_base;
	if (avcodec_parameters_copy(first->codecpar, w->stream->codecpar) < 0)
		return false;
	if (w->sound->foreign_first)
		first->codecpar->codec_id = AV_CODEC_ID_AC3;
	return true;
}

static bool open_encoder(struct writer *w)
{
	const struct sound *s = w->sound;
	const AVCodec *codec = avcodec_find_encoder_by_name(s->codec);

	if (!codec || avformat_alloc_output_context2(&w->fmt, NULL, s->format, s->path) < 0)
		return false;
	if ((s->empty_first || s->foreign_first) && !avformat_new_stream(w->fmt, NULL))
		return false;
	w->stream = avformat_new_stream(w->fmt, NULL);
	w->codec = avcodec_alloc_context3(codec);
	if (!w->stream || !w->codec)
		return false;
	w->codec->sample_rate = s->rate;
	av_channel_layout_default(&w->codec->ch_layout, s->channels);
	w->codec->sample_fmt = codec->sample_fmts[0];
	w->codec->bit_rate = BIT_RATE;
	if (s->varies)
		w->codec->flags |= AV_CODEC_FLAG_QSCALE;
	w->codec->global_quality = s->varies ? FF_QP2LAMBDA * QUALITY : 0;
	w->codec->time_base = (AVRational){1, s->rate};
	if (w->fmt->oformat->flags & AVFMT_GLOBALHEADER)
		w->codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
	av_dict_set(&w->fmt->metadata, "title", s->title, 0);
	av_dict_set(&w->fmt->metadata, "artist", s->artist, 0);
	av_dict_set(&w->fmt->metadata, "album", s->album, 0);
	av_dict_set(&w->fmt->metadata, "REPLAYGAIN_TRACK_GAIN", s->gain, 0);
	w->stream->time_base = w->codec->time_base;
	return avcodec_open2(w->codec, codec, NULL) == 0 &&
	       avcodec_parameters_from_context(w->stream->codecpar, w->codec) == 0 &&
	       describe_first(w);
}

/* Some containers open their files themselves. */
static bool open_file(struct writer *w)
{
	AVDictionary *options = NULL;
	bool ok;

	ok = (!w->sound->options ||
	      av_dict_parse_string(&options, w->sound->options, "=", ":", 0) >= 0) &&
	     (w->fmt->oformat->flags & AVFMT_NOFILE ||
	      avio_open(&w->fmt->pb, w->sound->path, AVIO_FLAG_WRITE) >= 0) &&
	     avformat_write_header(w->fmt, &options) >= 0;
	av_dict_free(&options);
	return ok;
}

bool sound_write(const struct sound *sound)
{
	struct writer w = {.sound = sound, .frame = av_frame_alloc(), .packet = av_packet_alloc()};
	bool ok;

	av_log_set_level(AV_LOG_QUIET);
	ok = w.frame && w.packet && open_encoder(&w) && open_file(&w) && write_frames(&w) &&
	     av_write_trailer(w.fmt) == 0;

	if (w.fmt && w.fmt->pb)
		avio_closep(&w.fmt->pb);
	avcodec_free_context(&w.codec);
	avformat_free_context(w.fmt);
	av_frame_free(&w.frame);
	av_packet_free(&w.packet);
	return ok;
}
