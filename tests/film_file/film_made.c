#include "tests/film_file/film_made.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <stdlib.h>
#include <string.h>

#include "tests/film_file/film_sound.h"

enum {
	CELLS = 16,
	BITS = CELLS - 2,
	WHITE = 235,
	BLACK = 16,
	GREY = 128,
	BAND = 4 /* of height */
};

struct making {
	const struct film_made *m;
	AVFormatContext *fmt;
	AVCodecContext *codec;
	AVStream *stream, *first, *sound, *second;
	AVFrame *frame;
	AVPacket *packet;
};

/* ---- pictures ---- */

/* The first cell is white, the last black. */
static unsigned cell_of(unsigned number, int cell)
{
	bool white = cell == 0 || (cell < CELLS - 1 && number >> (BITS - cell) & 1);

	return white ? WHITE : BLACK;
}

static void put_sample(const AVFrame *f, int plane, int x, int y, unsigned v, int depth)
{
	uint8_t *row = f->data[plane] + (ptrdiff_t)y * f->linesize[plane];
	uint16_t wide = (uint16_t)(v << (depth - 8));

	if (depth == 8)
		row[x] = (uint8_t)v;
	else
		memcpy(row + 2 * (size_t)x, &wide, sizeof wide);
}

/* Below the number something moves, as in films. */
static void paint(const AVFrame *f, unsigned number, bool noise)
{
	const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(f->format);
	const int depth = d->comp[0].depth;
	unsigned grain = number + 1;

	for (int y = 0; y < f->height; y++)
		for (int x = 0; x < f->width; x++) {
			unsigned moved = noise ? grain >> 16 : (unsigned)(x + y + (int)number * 4);

			grain = grain * 1664525 + 1013904223;
			put_sample(f, 0, x, y,
				   y < f->height / BAND ? cell_of(number, x * CELLS / f->width)
							: moved % 192 + 32,
				   depth);
		}
	for (int plane = 1; plane < 3; plane++)
		for (int y = 0; y < -(-f->height >> d->log2_chroma_h); y++)
			for (int x = 0; x < -(-f->width >> d->log2_chroma_w); x++)
				put_sample(f, plane, x, y, GREY, depth);
}

/* ---- the file ---- */

static int open_codec(struct making *k)
{
	const struct film_made *m = k->m;
	const AVCodec *codec = avcodec_find_encoder_by_name(m->encoder);
	AVDictionary *options = NULL;
	AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
	int err;

	k->codec = c;
	if (!c)
		return ENOTSUP;
	c->width = (int)m->width;
	c->height = (int)m->height;
	c->pix_fmt = av_get_pix_fmt(m->format ? m->format : "yuv420p");
	c->time_base = (AVRational){1, (int)m->fps};
	c->framerate = (AVRational){(int)m->fps, 1};
	c->thread_count = 1;
	c->bit_rate = 1000000;
	if (m->aspect[0])
		c->sample_aspect_ratio = (AVRational){(int)m->aspect[0], (int)m->aspect[1]};
	if (k->fmt->oformat->flags & AVFMT_GLOBALHEADER)
		c->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
	av_dict_parse_string(&options, m->options, "=", ":", 0);
	err = avcodec_open2(c, codec, &options) ? EIO : 0;
	av_dict_free(&options);
	return err;
}

static int turn(struct making *k)
{
	uint8_t *p = av_stream_new_side_data(k->stream, AV_PKT_DATA_DISPLAYMATRIX, 36);

	if (!p)
		return ENOMEM;
	av_display_rotation_set((int32_t *)(void *)p, 90.0 * k->m->quarters);
	return 0;
}

static int open_file(struct making *k, const char *path)
{
	AVDictionary *options = NULL;
	int err = 0;

	k->frame = av_frame_alloc();
	k->packet = av_packet_alloc();
	if (!k->frame || !k->packet ||
	    avformat_alloc_output_context2(&k->fmt, NULL, k->m->container, path) < 0)
		return ENOMEM;
	/* Sound that begins 10 s later would be stored before its place. */
	k->fmt->max_interleave_delta = 0;
	err = open_codec(k);
	if (err)
		return err;
	k->stream = avformat_new_stream(k->fmt, NULL);
	if (!k->stream || avcodec_parameters_from_context(k->stream->codecpar, k->codec) < 0)
		return ENOMEM;
	k->stream->time_base = k->codec->time_base;
	k->stream->avg_frame_rate = k->codec->framerate;
	k->stream->sample_aspect_ratio = k->codec->sample_aspect_ratio;
	if (k->m->quarters && turn(k))
		return ENOMEM;
	if ((k->m->empty_first || k->m->foreign_first) && !(k->first = film_sound_add(k->fmt)))
		return ENOMEM;
	if (k->m->foreign_first)
		k->first->codecpar->codec_id = AV_CODEC_ID_AC3;
	if (k->m->tone && !(k->sound = film_sound_add(k->fmt)))
		return ENOMEM;
	if (k->m->second_ms && !(k->second = film_sound_add(k->fmt)))
		return ENOMEM;
	if (k->second && k->m->second_is_default)
		k->second->disposition = AV_DISPOSITION_DEFAULT;
	for (unsigned i = 1; i < k->fmt->nb_streams; i++)
		if (strcmp(k->m->container, "mov") != 0)
			k->fmt->streams[i]->codecpar->codec_tag = 0;
	if (avio_open(&k->fmt->pb, path, AVIO_FLAG_WRITE) < 0)
		return EIO;
	if (k->m->pieces)
		av_dict_set(&options, "movflags", "frag_keyframe+empty_moov", 0);
	if (k->m->first_piece)
		av_dict_set(&options, "movflags", "frag_keyframe", 0);
	if (k->m->no_edits)
		av_dict_set(&options, "use_editlist", "0", 0);
	err = avformat_write_header(k->fmt, &options) < 0 ? EIO : 0;
	av_dict_free(&options);
	return err;
}

/* In frames. */
static void move_times(const struct film_made *m, AVPacket *p)
{
	int64_t number = p->pts, begin = (int64_t)m->begin_s * m->fps;

	p->pts += begin;
	p->dts += begin;
	if (m->far_frame && number == m->far_frame)
		p->pts += INT64_C(100) * m->fps;
}

static int write_packets(struct making *k)
{
	int err = 0;

	while (!err && avcodec_receive_packet(k->codec, k->packet) == 0) {
		k->packet->stream_index = k->stream->index;
		k->packet->duration = 1;
		move_times(k->m, k->packet);
		av_packet_rescale_ts(k->packet, k->codec->time_base, k->stream->time_base);
		err = av_interleaved_write_frame(k->fmt, k->packet) < 0 ? EIO : 0;
	}
	return err;
}

/* place: in frames since the last tone. */
static int write_sound(struct making *k, const AVStream *sound, unsigned number, size_t place,
		       int64_t late_ms)
{
	int err = film_sound_fill(sound, k->packet, k->m->fps, place, number);
	int64_t later = av_rescale_q(late_ms + INT64_C(1000) * k->m->begin_s, (AVRational){1, 1000},
				     sound->time_base);

	if (err)
		return err;
	k->packet->pts += later;
	k->packet->dts += later;
	return av_interleaved_write_frame(k->fmt, k->packet) < 0 ? EIO : 0;
}

static int write_frames(struct making *k)
{
	int err = 0;

	k->frame->format = k->codec->pix_fmt;
	k->frame->width = k->codec->width;
	k->frame->height = k->codec->height;
	if (av_frame_get_buffer(k->frame, 0))
		return ENOMEM;
	for (unsigned i = 0; i < k->m->frames && !err; i++) {
		if (av_frame_make_writable(k->frame))
			return ENOMEM;
		paint(k->frame, i, k->m->noise);
		k->frame->pts = i;
		k->frame->pict_type = i < k->m->b_from ? i ? AV_PICTURE_TYPE_P : AV_PICTURE_TYPE_I
						       : AV_PICTURE_TYPE_NONE;
		if (k->m->key_frame && i == k->m->key_frame)
			k->frame->pict_type = AV_PICTURE_TYPE_I;
		err = avcodec_send_frame(k->codec, k->frame) ? EIO : write_packets(k);
		if (!err && k->m->foreign_first)
			err = write_sound(k, k->first, i, k->m->fps, 0);
		if (!err && k->sound)
			err = write_sound(k, k->sound, i, i % k->m->tone, k->m->late_ms);
		if (!err && k->second)
			err = write_sound(k, k->second, i, k->m->fps,
					  (int64_t)k->m->late_ms + k->m->second_ms);
	}
	if (!err)
		err = avcodec_send_frame(k->codec, NULL) ? EIO : write_packets(k);
	return !err && av_write_trailer(k->fmt) < 0 ? EIO : err;
}

int film_make(const char *path, const struct film_made *m)
{
	struct making k = {.m = m};
	int err;

	av_log_set_level(AV_LOG_QUIET);
	err = open_file(&k, path);
	if (!err)
		err = write_frames(&k);
	if (k.fmt)
		avio_closep(&k.fmt->pb);
	avformat_free_context(k.fmt);
	avcodec_free_context(&k.codec);
	av_frame_free(&k.frame);
	av_packet_free(&k.packet);
	return err;
}

/* ---- a viewer ---- */

struct film_look {
	AVCodecContext *codec;
	AVFrame *frame;
	AVPacket *packet;
	unsigned quarters;
};

int film_look_alloc(struct film_look **out)
{
	struct film_look *l = calloc(1, sizeof *l);
	const AVCodec *codec = avcodec_find_decoder_by_name("vp8");

	*out = l;
	if (!l)
		return ENOMEM;
	l->codec = avcodec_alloc_context3(codec);
	l->frame = av_frame_alloc();
	l->packet = av_packet_alloc();
	if (!l->codec || !l->frame || !l->packet)
		return ENOMEM;
	l->codec->thread_count = 1;
	av_log_set_level(AV_LOG_QUIET);
	return avcodec_open2(l->codec, codec, NULL) ? EIO : 0;
}

struct film_look *film_look_free(struct film_look *l)
{
	if (!l)
		return NULL;
	avcodec_free_context(&l->codec);
	av_frame_free(&l->frame);
	av_packet_free(&l->packet);
	free(l);
	return NULL;
}

void film_look_turn(struct film_look *l, unsigned quarters)
{
	l->quarters = quarters % 4;
}

/* In the middle of a cell, as it was before the turns. */
static bool is_white(const AVFrame *f, unsigned quarters, int cell)
{
	const bool across = quarters % 2;
	const int length = across ? f->height : f->width, depth = across ? f->width : f->height;
	const int along = (2 * cell + 1) * length / (2 * CELLS), down = depth / BAND / 2;
	const int x = quarters == 0   ? along
		      : quarters == 1 ? depth - 1 - down
		      : quarters == 2 ? length - 1 - along
				      : down;
	const int y = quarters == 0   ? down
		      : quarters == 1 ? along
		      : quarters == 2 ? depth - 1 - down
				      : length - 1 - along;

	return f->data[0][(ptrdiff_t)y * f->linesize[0] + x] > GREY;
}

static int read_number(const AVFrame *f, unsigned quarters)
{
	int number = 0;

	for (int i = 0; i < CELLS; i++) {
		bool white = is_white(f, quarters, i);

		if ((i == 0 && !white) || (i == CELLS - 1 && white))
			return -1;
		if (i > 0 && i < CELLS - 1)
			number = number << 1 | (int)white;
	}
	return number;
}

int film_look_put(struct film_look *l, const uint8_t *p, size_t n, unsigned *width,
		  unsigned *height)
{
	int number = -1;

	if (av_new_packet(l->packet, (int)n))
		return -1;
	memcpy(l->packet->data, p, n);
	if (!avcodec_send_packet(l->codec, l->packet) &&
	    !avcodec_receive_frame(l->codec, l->frame)) {
		*width = (unsigned)l->frame->width;
		*height = (unsigned)l->frame->height;
		number = read_number(l->frame, l->quarters);
		av_frame_unref(l->frame);
	}
	av_packet_unref(l->packet);
	return number;
}
