#include "mediad/decoder/format.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <string.h>

#include "mediad/decoder/input.h"
#include "mediad/music/signature.h"

enum {
	PROBE_BYTES = 1 << 20,
	TAG_MAX = 32 << 10, /* that is skipped in a web source */
};

/* Demuxers may name other files or addresses; none is opened. */
static int refuse_open(AVFormatContext *fmt, AVIOContext **io, const char *url, int flags,
		       AVDictionary **options)
{
	(void)fmt, (void)io, (void)url, (void)flags, (void)options;
	return AVERROR(EPERM);
}

void format_prepare(AVFormatContext *fmt, struct input *in, const char *demuxers,
		    AVDictionary **options)
{
	fmt->pb = input_io(in);
	fmt->io_open = refuse_open;
	fmt->probesize = PROBE_BYTES;
	fmt->flags |= AVFMT_FLAG_CUSTOM_IO;
	av_dict_set(options, "format_whitelist", demuxers, 0);
	av_dict_set(options, "protocol_whitelist", "", 0);
}

const AVInputFormat *format_find(AVFormatContext *fmt, struct input *in,
				 enum decoder_source_kind kind)
{
	AVIOContext *io = fmt->pb;
	uint8_t head[SIGNATURE_HEAD];
	const char *name = NULL;
	size_t tag = 0;
	int n = avio_read(io, head, sizeof head);

	if (n > 0)
		tag = signature_tag(head, (size_t)n);
	if (tag && (!input_seekable(in) || (kind != DECODER_FILE && tag > TAG_MAX)))
		n = 0;
	else if (tag && avio_seek(io, (int64_t)tag, SEEK_SET) == (int64_t)tag)
		n = avio_read(io, head, sizeof head);
	if (n > 0)
		name = signature_format(head, (size_t)n);
	if (avio_seek(io, 0, SEEK_SET) != 0 || !name)
		return NULL;
	if (strcmp(name, "mov") == 0)
		input_find_index(in);
	return av_find_input_format(name);
}

bool format_is_mp4(const AVFormatContext *fmt)
{
	return strncmp(fmt->iformat->name, "mov,", 4) == 0;
}

AVStream *format_find_picture(const AVFormatContext *fmt)
{
	for (unsigned i = 0; i < fmt->nb_streams; i++)
		if (fmt->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
		    !(fmt->streams[i]->disposition & AV_DISPOSITION_ATTACHED_PIC))
			return fmt->streams[i];
	return NULL;
}

static bool is_playable(const AVStream *s)
{
	const AVCodec *codec = avcodec_find_decoder(s->codecpar->codec_id);

	return codec && av_match_list(codec->name, FORMAT_DECODERS, ',');
}

/* By its table, or by what writers of Matroska say of a track at its end. */
static bool is_empty(const AVFormatContext *fmt, const AVStream *s)
{
	const AVDictionaryEntry *duration = av_dict_get(s->metadata, "DURATION", NULL, 0);

	if (format_is_mp4(fmt))
		return !avformat_index_get_entries_count(s);
	return duration && !duration->value[strspn(duration->value, "0:.")];
}

/* libav chooses among those that are still taken for sound. */
static int find_sound(AVFormatContext *fmt, bool with_empty)
{
	int at;

	for (unsigned i = 0; i < fmt->nb_streams; i++) {
		AVStream *s = fmt->streams[i];

		if (s->codecpar->codec_type == AVMEDIA_TYPE_AUDIO &&
		    (!is_playable(s) || (!with_empty && is_empty(fmt, s))))
			s->codecpar->codec_type = AVMEDIA_TYPE_DATA;
	}
	at = av_find_best_stream(fmt, AVMEDIA_TYPE_AUDIO, -1, -1, NULL, 0);
	for (unsigned i = 0; i < fmt->nb_streams; i++) {
		AVCodecParameters *p = fmt->streams[i]->codecpar;

		if (avcodec_get_type(p->codec_id) == AVMEDIA_TYPE_AUDIO)
			p->codec_type = AVMEDIA_TYPE_AUDIO;
	}
	return at >= 0 ? at : -1;
}

/* Pieces of MP4 have no table, and all look empty. */
int format_find_sound(AVFormatContext *fmt)
{
	int at = find_sound(fmt, false);

	return at >= 0 ? at : find_sound(fmt, true);
}
