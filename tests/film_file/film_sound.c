#include "tests/film_file/film_sound.h"

#include <errno.h>

#include "tests/film_file/film_file.h"

enum { RATE = FILM_SOUND_RATE, HALF_WAVE = 50, LOUD = 8000 };

AVStream *film_sound_add(AVFormatContext *fmt)
{
	AVStream *sound = avformat_new_stream(fmt, NULL);
	AVCodecParameters *p;

	if (!sound)
		return NULL;
	p = sound->codecpar;
	p->codec_type = AVMEDIA_TYPE_AUDIO;
	p->codec_id = AV_CODEC_ID_PCM_S16LE;
	p->codec_tag = MKTAG('s', 'o', 'w', 't');
	p->format = AV_SAMPLE_FMT_S16;
	p->sample_rate = RATE;
	p->ch_layout = (AVChannelLayout)AV_CHANNEL_LAYOUT_MONO;
	p->bits_per_coded_sample = 16;
	p->block_align = 2;
	sound->time_base = (AVRational){1, RATE};
	return sound;
}

int film_sound_fill(const AVStream *sound, AVPacket *packet, unsigned fps, size_t place,
		    int64_t number)
{
	const unsigned n = RATE / fps;
	size_t at = place * n;
	uint8_t *p;

	if (av_new_packet(packet, (int)n * 2) < 0)
		return ENOMEM;
	p = packet->data;
	for (unsigned i = 0; i < n; i++, at++) {
		int v = at >= (size_t)RATE / 1000 * FILM_FILE_TONE_MS ? 0
			: at / HALF_WAVE % 2			      ? LOUD
								      : -LOUD;

		p[2 * i] = (uint8_t)v;
		p[2 * i + 1] = (uint8_t)(v >> 8);
	}
	packet->stream_index = sound->index;
	packet->dts = packet->pts = number * n;
	packet->duration = n;
	packet->flags = AV_PKT_FLAG_KEY;
	av_packet_rescale_ts(packet, (AVRational){1, RATE}, sound->time_base);
	return 0;
}
