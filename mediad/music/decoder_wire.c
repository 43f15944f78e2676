#include "mediad/music/decoder_wire.h"

#include <errno.h>
#include <string.h>

#include "proto/base/cursor.h"
#include "proto/base/utf8.h"

static const struct {
	const char *name, *text;
} reasons[] = {
#define R(code, name, text) {name, text},
	DECODER_REASONS(R)
#undef R
};

enum { REASONS = sizeof reasons / sizeof reasons[0] };

enum decoder_reason decoder_reason_of(unsigned code)
{
	return code < REASONS ? (enum decoder_reason)code : DECODER_REASON_UNKNOWN;
}

const char *decoder_reason_name(enum decoder_reason reason)
{
	return reasons[decoder_reason_of(reason)].name;
}

const char *decoder_reason_text(enum decoder_reason reason)
{
	return reasons[decoder_reason_of(reason)].text;
}

static void write_text(struct wr *w, const char *text, size_t max)
{
	size_t n = strnlen(text, max + 1);

	if (n > max)
		w->ok = false;
	wr_be(w, n, 2);
	wr_bytes(w, text, n);
}

/* Reads a string that holds no NUL. */
static void read_text(struct rd *r, char *text, size_t max)
{
	size_t n = (size_t)rd_be(r, 2);
	const uint8_t *p = n <= max ? rd_bytes(r, n) : NULL;

	if (!p || memchr(p, '\0', n)) {
		r->ok = false;
		return;
	}
	memcpy(text, p, n);
	text[n] = '\0';
}

static void read_plain_text(struct rd *r, char *text)
{
	*text = '\0';
	read_text(r, text, DECODER_TEXT_MAX);
	utf8_mend(text);
	utf8_plain(text);
}

/* ---- messages of mediad ---- */

static void write_open(struct wr *w, const struct decoder_msg *msg)
{
	wr_be(w, msg->open.start, 8);
	wr_be(w, msg->open.measure, 1);
	wr_be(w, msg->open.source.kind, 1);
	wr_be(w, msg->open.source.root, 1);
	wr_be(w, msg->open.source.visualizer, 1);
	write_text(w, msg->open.source.path, DECODER_PATH_MAX);
	write_text(w, msg->open.source.headers, DECODER_HEADERS_MAX);
}

static void read_open(struct rd *r, struct decoder_msg *msg)
{
	uint64_t kind;

	msg->open.start = rd_be(r, 8);
	msg->open.measure = rd_be(r, 1) != 0;
	kind = rd_be(r, 1);
	msg->open.source.root = (uint8_t)rd_be(r, 1);
	msg->open.source.visualizer = (uint8_t)rd_be(r, 1);
	read_text(r, msg->open.source.path, DECODER_PATH_MAX);
	read_text(r, msg->open.source.headers, DECODER_HEADERS_MAX);
	if ((kind != DECODER_FILE && kind != DECODER_HTTP) ||
	    msg->open.source.root >= DECODER_ROOTS)
		r->ok = false;
	msg->open.source.kind = kind == DECODER_HTTP ? DECODER_HTTP : DECODER_FILE;
}

/* ---- messages of decoderd ---- */

static void write_levels(struct wr *w, const struct decoder_levels *l)
{
	wr_be(w, (uint16_t)l->loudness, 2);
	wr_be(w, (uint16_t)l->peak, 2);
}

static void read_levels(struct rd *r, struct decoder_levels *l)
{
	l->loudness = (int16_t)rd_be(r, 2);
	l->peak = (int16_t)rd_be(r, 2);
}

static void write_video(struct wr *w, const struct decoder_video *v)
{
	wr_be(w, v->codec, 1);
	wr_be(w, v->fps, 1);
	wr_be(w, v->width, 2);
	wr_be(w, v->height, 2);
	wr_be(w, v->bitrate, 4);
	wr_be(w, v->sound_ms, 2);
}

static void read_video(struct rd *r, struct decoder_video *v)
{
	v->codec = (uint8_t)rd_be(r, 1);
	v->fps = (uint8_t)rd_be(r, 1);
	v->width = (uint16_t)rd_be(r, 2);
	v->height = (uint16_t)rd_be(r, 2);
	v->bitrate = (uint32_t)rd_be(r, 4);
	v->sound_ms = (uint16_t)rd_be(r, 2);
	if (v->codec > DECODER_CODEC_LAST || v->sound_ms > DECODER_SOUND_MAX)
		r->ok = false;
}

enum { SEEKABLE = 1, GUESSED = 2 };

static void write_opened(struct wr *w, const struct decoder_opened *o)
{
	wr_be(w, o->duration, 8);
	wr_be(w, o->start, 8);
	wr_be(w, (o->seekable ? SEEKABLE : 0) | (o->guessed ? GUESSED : 0), 1);
	write_levels(w, &o->levels);
	write_text(w, o->title, DECODER_TEXT_MAX);
	write_text(w, o->artist, DECODER_TEXT_MAX);
	write_text(w, o->album, DECODER_TEXT_MAX);
	if (o->video.codec)
		write_video(w, &o->video);
}

static void read_opened(struct rd *r, struct decoder_opened *o)
{
	unsigned flags;

	o->duration = rd_be(r, 8);
	o->start = rd_be(r, 8);
	flags = (unsigned)rd_be(r, 1);
	if (o->duration > DECODER_FRAMES_MAX || o->start > DECODER_FRAMES_MAX)
		r->ok = false;
	o->seekable = flags & SEEKABLE;
	o->guessed = flags & GUESSED;
	read_levels(r, &o->levels);
	read_plain_text(r, o->title);
	read_plain_text(r, o->artist);
	read_plain_text(r, o->album);
	o->video = (struct decoder_video){0};
	if (rd_left(r))
		read_video(r, &o->video);
}

/* ---- both ---- */

int decoder_wire_encode(const struct decoder_msg *msg, uint8_t *buf, size_t *n)
{
	struct wr w = wr_of(buf, DECODER_MSG_MAX);

	wr_be(&w, msg->type, 1);
	if (msg->type == DECODER_READY) {
		wr_be(&w, msg->jailed, 1);
	} else if (msg->type == DECODER_LOG) {
		wr_be(&w, msg->log.level, 1);
		wr_be(&w, msg->log.json, 1);
	} else {
		wr_be(&w, msg->slot, 2);
		wr_be(&w, msg->track, 8);
	}
	switch (msg->type) {
	case DECODER_OPEN:
		write_open(&w, msg);
		break;
	case DECODER_OPENED:
		write_opened(&w, &msg->opened);
		break;
	case DECODER_TITLE:
		write_text(&w, msg->title, DECODER_TEXT_MAX);
		break;
	case DECODER_LEVELS:
		write_levels(&w, &msg->levels);
		break;
	case DECODER_ENDED:
		wr_be(&w, msg->reason, 1);
		break;
	case DECODER_CLOSE:
	case DECODER_LOG:
	case DECODER_READY:
		break;
	case DECODER_ANALYSIS:
		return EINVAL;
	}
	if (!w.ok)
		return EINVAL;
	*n = w.pos;
	return 0;
}

/* Reads the fields of a message about one track. */
static void read_track(struct rd *r, struct decoder_msg *msg)
{
	msg->slot = (uint16_t)rd_be(r, 2);
	msg->track = rd_be(r, 8);
	if (msg->slot >= DECODER_ALL_SLOTS)
		r->ok = false;
	if (msg->type == DECODER_OPEN)
		read_open(r, msg);
	else if (msg->type == DECODER_OPENED)
		read_opened(r, &msg->opened);
	else if (msg->type == DECODER_TITLE)
		read_plain_text(r, msg->title);
	else if (msg->type == DECODER_LEVELS)
		read_levels(r, &msg->levels);
	else if (msg->type == DECODER_ENDED)
		msg->reason = decoder_reason_of((unsigned)rd_be(r, 1));
}

int decoder_wire_decode(struct decoder_msg *out, const uint8_t *buf, size_t n)
{
	struct rd r = rd_of(buf, n);
	struct decoder_msg msg;
	unsigned type = (unsigned)rd_be(&r, 1);

	switch (type) {
	case DECODER_READY:
		msg.type = DECODER_READY;
		msg.slot = 0;
		msg.track = 0;
		msg.jailed = rd_be(&r, 1) != 0;
		break;
	case DECODER_LOG:
		msg.type = DECODER_LOG;
		msg.slot = 0;
		msg.track = 0;
		msg.log.level = (uint8_t)rd_be(&r, 1);
		msg.log.json = rd_be(&r, 1) != 0;
		if (msg.log.level > DECODER_LOG_LEVEL_MAX)
			r.ok = false;
		break;
	case DECODER_OPEN:
	case DECODER_CLOSE:
	case DECODER_OPENED:
	case DECODER_TITLE:
	case DECODER_LEVELS:
	case DECODER_ENDED:
		msg.type = (enum decoder_type)type;
		read_track(&r, &msg);
		break;
	default:
		return EBADMSG;
	}
	if (!r.ok || rd_left(&r))
		return EBADMSG;
	*out = msg;
	return 0;
}
