#include "tests/film_file/film_file.h"

#include <errno.h>
#include <libavformat/avformat.h>
#include <stdlib.h>
#include <string.h>

#include "tests/film_file/film_sound.h"

enum { FPS = 30, WIDTH = 320, HEIGHT = 240, SPS = 7, PPS = 8, CONFIG_MAX = 1024 };

struct file {
	AVFormatContext *fmt;
	AVStream *stream, *sound; /* sound: NULL without */
	AVPacket *packet;
	enum film_file_kind kind;
	struct film film;
	enum media_video_codec codec;
	uint8_t sps[CONFIG_MAX], pps[CONFIG_MAX];
	size_t n_sps, n_pps;
};

/* ---- H.264 ---- */

/* The unit behind the start code of four bytes at p; its end is the next one, or that of the frame.
 */
static size_t unit_size(const uint8_t *p, size_t n)
{
	static const uint8_t code[] = {0, 0, 0, 1};

	for (size_t at = 4; at + 4 <= n; at++)
		if (memcmp(p + at, code, 4) == 0)
			return at - 4;
	return n - 4;
}

/* Writes the frame's units with their lengths to out, and keeps its parameters. Returns the bytes.
 */
static size_t write_units(struct file *f, const struct film_frame *frame, uint8_t *out)
{
	size_t n = 0;

	for (size_t at = 0, size; at + 4 < frame->n; at += 4 + size) {
		const uint8_t *unit = frame->bytes + at + 4;
		unsigned type;

		size = unit_size(frame->bytes + at, frame->n - at);
		type = unit[0] & 31;
		if (type == SPS && size <= CONFIG_MAX)
			memcpy(f->sps, unit, f->n_sps = size);
		else if (type == PPS && size <= CONFIG_MAX)
			memcpy(f->pps, unit, f->n_pps = size);
		if (type == SPS || type == PPS)
			continue;
		for (unsigned i = 0; i < 4; i++)
			out[n++] = (uint8_t)(size >> (24 - 8 * i));
		memcpy(out + n, unit, size);
		n += size;
	}
	return n;
}

/* An AVCDecoderConfigurationRecord (ISO/IEC 14496-15). */
static int write_config(struct file *f, AVCodecParameters *p)
{
	size_t n = 0;
	uint8_t *c;

	if (f->n_sps < 4 || !f->n_pps)
		return EBADMSG;
	c = av_mallocz(11 + f->n_sps + f->n_pps + AV_INPUT_BUFFER_PADDING_SIZE);
	if (!c)
		return ENOMEM;
	c[n++] = 1;
	memcpy(c + n, f->sps + 1, 3);
	n += 3;
	c[n++] = 0xff; /* lengths of four bytes */
	c[n++] = 0xe1;
	c[n++] = (uint8_t)(f->n_sps >> 8);
	c[n++] = (uint8_t)f->n_sps;
	memcpy(c + n, f->sps, f->n_sps);
	n += f->n_sps;
	c[n++] = 1;
	c[n++] = (uint8_t)(f->n_pps >> 8);
	c[n++] = (uint8_t)f->n_pps;
	memcpy(c + n, f->pps, f->n_pps);
	p->extradata = c;
	p->extradata_size = (int)(n + f->n_pps);
	return 0;
}

/* ---- AV1 ---- */

/* The muxer makes its record of the sequence header, with which the first frame begins. */
static int copy_sequence_header(const struct file *f, AVCodecParameters *p)
{
	const struct film_frame *frame = &f->film.frames[0];
	size_t n = frame->n > 2 ? 2 + (size_t)frame->bytes[1] : 0;

	/* A size of one byte behind a head without extension. */
	if (n > frame->n || (frame->bytes[0] & 6) != 2 || frame->bytes[1] & 0x80)
		return EBADMSG;
	p->extradata = av_mallocz(n + AV_INPUT_BUFFER_PADDING_SIZE);
	if (!p->extradata)
		return ENOMEM;
	memcpy(p->extradata, frame->bytes, n);
	p->extradata_size = (int)n;
	return 0;
}

/* ---- the file ---- */

static int open_file(struct file *f, const char *path)
{
	AVCodecParameters *p;
	uint8_t *first = malloc(f->film.frames[0].n * 2);
	int err = first ? 0 : ENOMEM;

	if (!err && avformat_alloc_output_context2(&f->fmt, NULL,
						   f->kind == FILM_FILE_SOUND	  ? "mov"
						   : f->codec == MEDIA_VIDEO_H264 ? "mp4"
										  : "webm",
						   path) < 0)
		err = ENOTSUP;
	f->stream = err ? NULL : avformat_new_stream(f->fmt, NULL);
	f->packet = av_packet_alloc();
	if (!f->stream || !f->packet)
		err = err ? err : ENOMEM;
	if (!err) {
		p = f->stream->codecpar;
		p->codec_type = AVMEDIA_TYPE_VIDEO;
		p->codec_id = f->codec == MEDIA_VIDEO_H264  ? AV_CODEC_ID_H264
			      : f->codec == MEDIA_VIDEO_VP8 ? AV_CODEC_ID_VP8
							    : AV_CODEC_ID_AV1;
		p->width = WIDTH;
		p->height = HEIGHT;
		f->stream->time_base = (AVRational){1, FPS};
		f->stream->avg_frame_rate = (AVRational){FPS, 1};
	}
	if (!err && f->codec == MEDIA_VIDEO_H264) {
		write_units(f, &f->film.frames[0], first);
		err = write_config(f, p);
	}
	if (!err && f->codec == MEDIA_VIDEO_AV1)
		err = copy_sequence_header(f, p);
	free(first);
	if (!err && f->kind == FILM_FILE_SOUND) {
		f->sound = film_sound_add(f->fmt);
		err = f->sound ? 0 : ENOMEM;
	}
	if (!err && avio_open(&f->fmt->pb, path, AVIO_FLAG_WRITE) < 0)
		err = EACCES;
	if (!err && avformat_write_header(f->fmt, NULL) < 0)
		err = EIO;
	return err;
}

static int write_frame(struct file *f, const struct film_frame *frame, int64_t number)
{
	if (av_new_packet(f->packet, (int)(2 * frame->n)) < 0)
		return ENOMEM;
	if (f->codec == MEDIA_VIDEO_H264) {
		f->packet->size = (int)write_units(f, frame, f->packet->data);
	} else {
		memcpy(f->packet->data, frame->bytes, frame->n);
		f->packet->size = (int)frame->n;
	}
	f->packet->dts = f->packet->pts =
		av_rescale_q(number, (AVRational){1, FPS}, f->stream->time_base);
	f->packet->duration = av_rescale_q(1, (AVRational){1, FPS}, f->stream->time_base);
	f->packet->flags = frame->key ? AV_PKT_FLAG_KEY : 0;
	return av_write_frame(f->fmt, f->packet) < 0 ? EIO : 0;
}

static int write_film(struct file *f, unsigned rounds)
{
	int64_t number = 0;
	int err = 0;

	for (unsigned i = 0; i < rounds; i++)
		for (size_t k = 0; k < f->film.n && !err; k++) {
			err = write_frame(f, &f->film.frames[k], number);
			av_packet_unref(f->packet);
			if (!err && f->sound)
				err = film_sound_fill(f->sound, f->packet, FPS, k, number);
			if (!err && f->sound && av_write_frame(f->fmt, f->packet) < 0)
				err = EIO;
			av_packet_unref(f->packet);
			number++;
		}
	if (!err && av_write_trailer(f->fmt) < 0)
		err = EIO;
	return err;
}

int film_file_write(const char *path, enum media_video_codec codec, const struct film *film,
		    unsigned rounds, enum film_file_kind kind)
{
	struct file *f = calloc(1, sizeof *f);
	int err;

	if (!f)
		return ENOMEM;
	f->codec = codec;
	f->film = *film;
	f->kind = kind;
	err = open_file(f, path);
	if (!err)
		err = write_film(f, rounds);
	if (f->fmt)
		avio_closep(&f->fmt->pb);
	avformat_free_context(f->fmt);
	av_packet_free(&f->packet);
	free(f);
	return err;
}
