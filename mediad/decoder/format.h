/* Opens the container of a source with libav: among an allow-list of demuxers, which open nothing
 * by themselves. */
#ifndef MEDIAD_DECODER_FORMAT_H
#define MEDIAD_DECODER_FORMAT_H

#include <stdbool.h>

#include "mediad/music/decoder_wire.h"

/* Names of libav's decoders of sound, all that are used. */
#define FORMAT_DECODERS                                                                            \
	"mp3float,mp3,aac,opus,vorbis,flac,alac,pcm_u8,pcm_s16le,pcm_s24le,pcm_s32le,pcm_f32le,"   \
	"pcm_f64le,pcm_s16be,pcm_s24be,pcm_s32be"

struct AVDictionary;
struct AVFormatContext;
struct AVInputFormat;
struct AVStream;
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
/* The stream of its pictures; covers of music are none. NULL: it has none. */
struct AVStream *format_find_picture(const struct AVFormatContext *fmt);
/* The index of the stream that is played of several with sound: one of FORMAT_DECODERS, and rather
 * one that has packets. As long as only the head was read, that alone counts, so that whoever reads
 * the picture and whoever decodes the sound mean the same. -1: it is not known, or there is none.
 */
int format_find_sound(struct AVFormatContext *fmt);

#endif
