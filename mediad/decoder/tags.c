#include "mediad/decoder/tags.h"

#include <inttypes.h>
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/dict.h>
#include <libavutil/replaygain.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/utf8.h"

/* Reference levels in 1/100 LUFS: ReplayGain 2.0, and R128 gains of Opus (RFC 7845, 5.2.1). */
enum { REPLAYGAIN_LUFS = -1800, R128_LUFS = -2300, LEVEL_LIMIT = 20000 };

static const char *find_tag(const AVDictionary *a, const AVDictionary *b, const char *key)
{
	const AVDictionaryEntry *e = av_dict_get(a, key, NULL, 0);

	if (!e)
		e = av_dict_get(b, key, NULL, 0);
	return e ? e->value : NULL;
}

static void copy_tag(char to[DECODER_TEXT_MAX + 1], const char *value)
{
	utf8_copy(to, DECODER_TEXT_MAX + 1, value ? value : "");
}

static int16_t clamp_level(double centi)
{
	return isfinite(centi) && fabs(centi) < LEVEL_LIMIT ? (int16_t)lrint(centi)
							    : DECODER_NO_LEVEL;
}

/* "-7.25 dB" */
static int16_t read_decibels(const char *value, double reference)
{
	char *end;
	double gain = value ? strtod(value, &end) : 0;

	return value && end != value ? clamp_level(reference - 100 * gain) : DECODER_NO_LEVEL;
}

/* A whole number in units of 1/256 dB. */
static int16_t read_r128(const char *value)
{
	char *end;
	long gain = value ? strtol(value, &end, 10) : 0;

	return value && end != value ? clamp_level(R128_LUFS - 100.0 * (double)gain / 256)
				     : DECODER_NO_LEVEL;
}

/* A linear peak, full scale 1. */
static int16_t read_peak(const char *value)
{
	char *end;
	double peak = value ? strtod(value, &end) : 0;

	return value && end != value && peak > 0 ? clamp_level(2000 * log10(peak))
						 : DECODER_NO_LEVEL;
}

/* Levels that a demuxer has parsed itself, as from a LAME header. */
static void read_side_data(struct decoder_opened *o, const AVStream *stream)
{
	size_t size;
	const AVReplayGain *g = (const AVReplayGain *)av_stream_get_side_data(
		stream, AV_PKT_DATA_REPLAYGAIN, &size);

	if (!g || size < sizeof *g)
		return;
	if (o->levels.loudness == DECODER_NO_LEVEL && g->track_gain != INT32_MIN)
		o->levels.loudness = clamp_level(REPLAYGAIN_LUFS - (double)g->track_gain / 1000);
	if (o->levels.peak == DECODER_NO_LEVEL && g->track_peak)
		o->levels.peak = clamp_level(2000 * log10((double)g->track_peak / 100000));
}

void tags_read(struct decoder_opened *o, const AVDictionary *container, const AVStream *stream)
{
	const AVDictionary *own = stream->metadata;

	copy_tag(o->title, find_tag(container, own, "title"));
	copy_tag(o->artist, find_tag(container, own, "artist"));
	copy_tag(o->album, find_tag(container, own, "album"));
	o->levels.loudness =
		read_decibels(find_tag(container, own, "replaygain_track_gain"), REPLAYGAIN_LUFS);
	if (o->levels.loudness == DECODER_NO_LEVEL)
		o->levels.loudness = read_r128(find_tag(container, own, "R128_TRACK_GAIN"));
	o->levels.peak = read_peak(find_tag(container, own, "replaygain_track_peak"));
	read_side_data(o, stream);
}

uint64_t tags_itunes_samples(const AVDictionary *container)
{
	const char *value = find_tag(container, NULL, "iTunSMPB");
	uint64_t samples = 0;

	if (!value || sscanf(value, "%*x %*x %*x %" SCNx64, &samples) != 1)
		return 0;
	return samples;
}
