#include "mediad/decoder/format.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
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

int format_find_sound(AVFormatContext *fmt)
{
	const AVCodec *codec = NULL;
	int at = av_find_best_stream(fmt, AVMEDIA_TYPE_AUDIO, -1, -1, &codec, 0);

	return at >= 0 && codec ? at : -1;
}
