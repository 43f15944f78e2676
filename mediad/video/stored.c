#include "mediad/video/stored.h"

#include <errno.h>
#include <string.h>

enum {
	NAL_TYPE = 0x1f,
	NAL_IDR = 5,
	NAL_SPS = 7,
	NAL_DELIMITER = 9,
	NAL_LAST = 23, /* of those that are not RTP's own */
	NAL_END_OF_SEQUENCE = 10,
	NAL_FILLER = 12,
};
/* All that a decoder of 8 bits in 4:2:0 knows (ITU-T H.264, annex A). */
enum { BASELINE = 66, MAIN = 77, HIGH = 100 };
enum { VP8_HEAD = 3, VP8_KEY_HEAD = 10 };
enum { OBU_SEQUENCE = 1, OBU_DELIMITER = 2, OBU_PADDING = 15, OBU_EXTENSION = 4, OBU_SIZE = 2 };

/* ---- H.264 ---- */

static void write_unit(struct wr *w, const uint8_t *p, size_t n)
{
	static const uint8_t code[] = {0, 0, 0, 1};

	wr_bytes(w, code, sizeof code);
	wr_bytes(w, p, n);
}

/* Reads n parameter sets, each behind its length. */
static void read_parameters(struct rd *r, unsigned n, struct wr *w)
{
	while (n-- && r->ok) {
		size_t size = (size_t)rd_be(r, 2);
		const uint8_t *p = rd_bytes(r, size);

		if (p && size)
			write_unit(w, p, size);
	}
}

static int set_h264(struct stored_video *s, struct slice config)
{
	struct rd r = rd_of(config.p, config.n);
	struct wr w = wr_of(s->parameters, sizeof s->parameters);
	unsigned version = (unsigned)rd_be(&r, 1), profile = (unsigned)rd_be(&r, 1);

	rd_be(&r, 2); /* compatible profiles, level */
	s->length_size = ((unsigned)rd_be(&r, 1) & 3) + 1;
	read_parameters(&r, (unsigned)rd_be(&r, 1) & 31, &w);
	read_parameters(&r, (unsigned)rd_be(&r, 1), &w);
	if (!r.ok || !w.ok || version != 1 || s->length_size == 3)
		return EBADMSG;
	s->n_parameters = w.pos;
	return profile == BASELINE || profile == MAIN || profile == HIGH ? 0 : ENOTSUP;
}

/* Reads the next unit, which is NULL at the end; empty ones are left out. */
static struct slice next_unit(const struct stored_video *s, struct rd *r)
{
	struct slice unit = {NULL, 0};

	while (r->ok && rd_left(r) && !unit.n) {
		unit.n = (size_t)rd_be(r, s->length_size);
		unit.p = rd_bytes(r, unit.n);
	}
	if (!r->ok || !unit.n)
		unit = (struct slice){NULL, 0};
	return unit;
}

static unsigned type_of(struct slice unit)
{
	return unit.p[0] & NAL_TYPE;
}

/* Fillers say nothing, and the end of a sequence would end it for viewers who missed a frame. */
static bool is_sent(unsigned type)
{
	return type && type <= NAL_LAST && type != NAL_FILLER && type != NAL_END_OF_SEQUENCE &&
	       type != NAL_END_OF_SEQUENCE + 1;
}

static int write_h264(const struct stored_video *s, struct slice frame, struct wr *w, bool *key)
{
	struct rd r = rd_of(frame.p, frame.n);
	bool known = false, idr = false, told;
	struct slice unit;

	while ((unit = next_unit(s, &r)).n) {
		idr = idr || type_of(unit) == NAL_IDR;
		known = known || type_of(unit) == NAL_SPS;
	}
	if (!r.ok || (idr && !known && !s->n_parameters))
		return EBADMSG;
	told = !idr || known;
	r = rd_of(frame.p, frame.n);
	while ((unit = next_unit(s, &r)).n) {
		if (!is_sent(type_of(unit)))
			continue;
		if (!told && type_of(unit) != NAL_DELIMITER) {
			wr_bytes(w, s->parameters, s->n_parameters);
			told = true;
		}
		write_unit(w, unit.p, unit.n);
	}
	*key = idr;
	return 0;
}

/* ---- VP8 (RFC 6386, 9.1) ---- */

static int write_vp8(struct slice frame, struct wr *w, bool *key)
{
	static const uint8_t start[] = {0x9d, 0x01, 0x2a};

	if (frame.n < VP8_HEAD)
		return EBADMSG;
	*key = !(frame.p[0] & 1);
	if (*key &&
	    (frame.n < VP8_KEY_HEAD || memcmp(frame.p + VP8_HEAD, start, sizeof start) != 0))
		return EBADMSG;
	wr_bytes(w, frame.p, frame.n);
	return 0;
}

/* ---- AV1 (5.3 of its specification) ---- */

static size_t read_leb128(struct rd *r)
{
	uint64_t value = 0;
	unsigned byte = 0x80;

	for (unsigned i = 0; i < 8 && byte & 0x80; i++) {
		byte = (unsigned)rd_be(r, 1);
		value |= (uint64_t)(byte & 0x7f) << 7 * i;
	}
	if (byte & 0x80 || value > SIZE_MAX / 2)
		r->ok = false;
	return (size_t)value;
}

/* A unit that begins with a sequence header begins with a key frame: encoders put it nowhere else.
 */
static int write_av1(struct slice frame, struct wr *w, bool *key)
{
	struct rd r = rd_of(frame.p, frame.n);
	bool first = true;

	*key = false;
	while (r.ok && rd_left(&r)) {
		size_t from = r.pos, size;
		unsigned head = (unsigned)rd_be(&r, 1), type = head >> 3 & 15;

		if (head & OBU_EXTENSION)
			rd_be(&r, 1);
		size = head & OBU_SIZE ? read_leb128(&r) : rd_left(&r);
		rd_bytes(&r, size);
		if (!r.ok || type == OBU_DELIMITER || type == OBU_PADDING)
			continue;
		*key = *key || (first && type == OBU_SEQUENCE);
		first = false;
		wr_bytes(w, frame.p + from, r.pos - from);
	}
	return r.ok ? 0 : EBADMSG;
}

/* ---- all ---- */

int stored_video_set(struct stored_video *out, enum video_codec codec, struct slice config)
{
	*out = (struct stored_video){.codec = codec};
	if (codec == VIDEO_H264)
		return set_h264(out, config);
	return codec == VIDEO_VP8 || codec == VIDEO_AV1 ? 0 : ENOTSUP;
}

int stored_video_write(const struct stored_video *s, struct slice frame, uint8_t *out, size_t cap,
		       size_t *n, bool *key)
{
	struct wr w = wr_of(out, cap);
	int err = s->codec == VIDEO_H264  ? write_h264(s, frame, &w, key)
		  : s->codec == VIDEO_VP8 ? write_vp8(frame, &w, key)
		  : s->codec == VIDEO_AV1 ? write_av1(frame, &w, key)
					  : EBADMSG;

	if (err)
		return err;
	if (!w.ok)
		return EMSGSIZE;
	*n = w.pos;
	return 0;
}
