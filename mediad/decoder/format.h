/* Opens the container of a source with libav: among an allow-list of demuxers, which open nothing
 * by themselves. */
#ifndef MEDIAD_DECODER_FORMAT_H
#define MEDIAD_DECODER_FORMAT_H

#include <stdbool.h>

#include "mediad/music/decoder_wire.h"

struct AVDictionary;
struct AVFormatContext;
struct AVInputFormat;
struct input;

/* Lets fmt read from in, by these demuxers alone; options are for avformat_open_input. */
void format_prepare(struct AVFormatContext *fmt, struct input *in, const char *demuxers,
		    struct AVDictionary **options);
/* Finds the format by the first bytes, or those after a tag of ID3v2, if that place is cheap to
 * reach. NULL: libav has to look. */
const struct AVInputFormat *format_find(struct AVFormatContext *fmt, struct input *in,
					enum decoder_source_kind kind);
/* True if the container is of the MP4 family (MP4, MOV, M4A). */
bool format_is_mp4(const struct AVFormatContext *fmt);
/* The index of the stream that is played of several with sound, by what the head alone tells, so
 * that whoever reads the picture and whoever decodes the sound mean the same. -1: the head does not
 * tell. */
int format_find_sound(struct AVFormatContext *fmt);

#endif
