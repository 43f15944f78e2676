#include "control/vision/core/frame_header.h"

#include <string.h>

/* Most significant bit first; past the end all bits are 0 and `ok` is false. Of H.264, the bytes
 * that keep start codes out of a unit are skipped (section 7.4.1). */
struct bits {
	const uint8_t *p;
	size_t n, at;	/* bytes */
	unsigned used;	/* bits of p[at] */
	unsigned zeros; /* bytes of 0 before p[at] */
	bool escaped, ok;
};

static struct bits bits_of(const uint8_t *p, size_t n, bool escaped)
{
	return (struct bits){.p = p, .n = n, .escaped = escaped, .ok = true};
}

static void next_byte(struct bits *b)
{
	b->zeros = b->p[b->at] ? 0 : b->zeros + 1;
	b->at++;
	b->used = 0;
	if (b->escaped && b->zeros >= 2 && b->at < b->n && b->p[b->at] == 3) {
		b->at++;
		b->zeros = 0;
	}
}

static unsigned read_bit(struct bits *b)
{
	unsigned bit;

	if (b->at >= b->n) {
		b->ok = false;
		return 0;
	}
	bit = b->p[b->at] >> (7 - b->used) & 1;
	if (++b->used == 8)
		next_byte(b);
	return bit;
}

static uint32_t read_bits(struct bits *b, unsigned n)
{
	uint32_t v = 0;

	while (n--)
		v = v << 1 | read_bit(b);
	return v;
}

/* Exp-Golomb, H.264 section 9.1; also uvlc() of AV1. */
static uint32_t read_golomb(struct bits *b)
{
	unsigned zeros = 0;

	while (b->ok && !read_bit(b))
		if (++zeros == 32) {
			b->ok = false;
			return 0;
		}
	return (uint32_t)(((UINT64_C(1) << zeros) - 1) + read_bits(b, zeros));
}

static enum image_reason check_frame(struct image_header *out, uint64_t width, uint64_t height)
{
	if (!width || !height)
		return IMAGE_DAMAGED;
	if (width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX || width * height > FRAME_PIXELS_MAX)
		return IMAGE_TOO_LARGE;
	*out = (struct image_header){IMAGE_KEY_FRAME, (uint32_t)width, (uint32_t)height};
	return IMAGE_OK;
}

/* ---- H.264 ---- */

enum { NAL_IDR = 5, NAL_SPS = 7, NALS_MAX = 256, POC_CYCLE_MAX = 255, LISTS = 8 };

/* Profiles whose parameter sets tell the form of their samples. */
static bool has_chroma(unsigned profile)
{
	static const uint8_t with[] = {100, 110, 122, 244, 44,	83, 86,
				       118, 128, 138, 139, 134, 135};

	return memchr(with, (int)profile, sizeof with) != NULL;
}

static void skip_list(struct bits *b, unsigned size)
{
	int64_t last = 8, next = 8;

	for (unsigned i = 0; i < size && b->ok; i++) {
		if (next) {
			uint32_t code = read_golomb(b);
			int64_t delta = code & 1 ? (int64_t)(code / 2) + 1 : -(int64_t)(code / 2);

			next = (last + delta) & 255;
		}
		last = next ? next : last;
	}
}

/* False: not 8 bits in 4:2:0 or in grey. *grey: in grey. */
static bool read_chroma(struct bits *b, bool *grey)
{
	uint32_t chroma = read_golomb(b);
	uint32_t luma_depth = read_golomb(b), chroma_depth = read_golomb(b);

	*grey = chroma == 0;
	read_bit(b);
	if (chroma > 1 || luma_depth || chroma_depth)
		return false;
	if (read_bit(b))
		for (unsigned i = 0; i < LISTS; i++)
			if (read_bit(b))
				skip_list(b, i < 6 ? 16 : 64);
	return true;
}

static void skip_order(struct bits *b)
{
	uint32_t type = read_golomb(b), n;

	if (type == 0) {
		read_golomb(b);
	} else if (type == 1) {
		read_bit(b);
		read_golomb(b);
		read_golomb(b);
		n = read_golomb(b);
		if (n > POC_CYCLE_MAX)
			b->ok = false;
		for (uint32_t i = 0; i < n && b->ok; i++)
			read_golomb(b);
	}
}

static enum image_reason read_sps(struct image_header *out, struct bits b)
{
	unsigned profile = read_bits(&b, 8), rows, unit_x, unit_y;
	uint64_t width, height, cut_x = 0, cut_y = 0;
	bool grey = false;

	read_bits(&b, 16);
	read_golomb(&b);
	if (has_chroma(profile) && !read_chroma(&b, &grey))
		return b.ok ? IMAGE_UNSUPPORTED : IMAGE_DAMAGED;
	read_golomb(&b);
	skip_order(&b);
	read_golomb(&b);
	read_bit(&b);
	width = ((uint64_t)read_golomb(&b) + 1) * 16;
	height = ((uint64_t)read_golomb(&b) + 1) * 16;
	rows = read_bit(&b) ? 1 : 2;
	height *= rows;
	if (rows == 2)
		read_bit(&b);
	read_bit(&b);
	unit_x = grey ? 1 : 2;
	unit_y = unit_x * rows;
	if (read_bit(&b)) {
		cut_x = (uint64_t)read_golomb(&b) * unit_x;
		cut_x += (uint64_t)read_golomb(&b) * unit_x;
		cut_y = (uint64_t)read_golomb(&b) * unit_y;
		cut_y += (uint64_t)read_golomb(&b) * unit_y;
	}
	if (!b.ok || cut_x >= width || cut_y >= height)
		return IMAGE_DAMAGED;
	return check_frame(out, width - cut_x, height - cut_y);
}

/* The place behind the next start code; n: there is none. */
static size_t find_unit(const uint8_t *p, size_t n, size_t at)
{
	while (at + 3 <= n) {
		if (!p[at] && !p[at + 1] && p[at + 2] == 1)
			return at + 3;
		at++;
	}
	return n;
}

/* The parameter set must be in the frame, because a decoder sees nothing else. */
static enum image_reason read_h264(struct image_header *out, const uint8_t *p, size_t n)
{
	size_t at = find_unit(p, n, 0);
	struct image_header h = {0};
	bool sized = false;

	for (unsigned i = 0; i < NALS_MAX && at < n; i++) {
		unsigned type = p[at] & 0x1f;
		enum image_reason reason = IMAGE_OK;

		if (type == NAL_SPS)
			reason = read_sps(&h, bits_of(p + at + 1, n - at - 1, true));
		if (reason != IMAGE_OK)
			return reason;
		sized = sized || type == NAL_SPS;
		if (type == NAL_IDR && sized) {
			*out = h;
			return IMAGE_OK;
		}
		at = find_unit(p, n, at);
	}
	return IMAGE_NOT_A_PICTURE;
}

/* ---- VP8 ---- */

enum { VP8_HEADER = 10 };

static enum image_reason read_vp8(struct image_header *out, const uint8_t *p, size_t n)
{
	if (!n || p[0] & 1)
		return IMAGE_NOT_A_PICTURE;
	if (n < VP8_HEADER || p[3] != 0x9d || p[4] != 0x01 || p[5] != 0x2a)
		return IMAGE_DAMAGED;
	return check_frame(out, (p[6] | (unsigned)p[7] << 8) & 0x3fff,
			   (p[8] | (unsigned)p[9] << 8) & 0x3fff);
}

/* ---- AV1 ---- */

enum { OBU_SEQUENCE = 1, OBU_FRAME_HEADER = 3, OBU_FRAME = 6, OBUS_MAX = 64, KEY_FRAME = 0 };

struct sequence {
	bool known, reduced;
	struct image_header h;
};

/* operating_parameters_info() of section 5.5.6, and what surrounds it. */
static void skip_points(struct bits *b)
{
	unsigned delay_bits = 0, n;
	bool timing = read_bit(b), model = false, delays;

	if (timing) {
		read_bits(b, 32);
		read_bits(b, 32);
		if (read_bit(b))
			read_golomb(b);
		model = read_bit(b);
	}
	if (model) {
		delay_bits = read_bits(b, 5) + 1;
		read_bits(b, 32);
		read_bits(b, 10);
	}
	delays = read_bit(b);
	n = read_bits(b, 5) + 1;
	for (unsigned i = 0; i < n && b->ok; i++) {
		read_bits(b, 12);
		if (read_bits(b, 5) > 7)
			read_bit(b);
		if (model && read_bit(b)) {
			read_bits(b, delay_bits);
			read_bits(b, delay_bits);
			read_bit(b);
		}
		if (delays && read_bit(b))
			read_bits(b, 4);
	}
}

static enum image_reason read_sequence(struct sequence *s, struct bits b)
{
	unsigned profile = read_bits(&b, 3), width_bits, height_bits;
	uint64_t width, height;

	read_bit(&b);
	s->reduced = read_bit(&b);
	if (profile)
		return b.ok ? IMAGE_UNSUPPORTED : IMAGE_DAMAGED;
	if (s->reduced)
		read_bits(&b, 5);
	else
		skip_points(&b);
	width_bits = read_bits(&b, 4) + 1;
	height_bits = read_bits(&b, 4) + 1;
	width = (uint64_t)read_bits(&b, width_bits) + 1;
	height = (uint64_t)read_bits(&b, height_bits) + 1;
	s->known = b.ok;
	return b.ok ? check_frame(&s->h, width, height) : IMAGE_DAMAGED;
}

/* leb128() of section 4.10.5. False: more than a frame can have. */
static bool read_length(const uint8_t *p, size_t n, size_t *at, size_t *out)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 5 && *at < n; i++) {
		uint8_t byte = p[(*at)++];

		v |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80)) {
			*out = (size_t)v;
			return v <= n - *at;
		}
	}
	return false;
}

static bool is_key(struct bits b, bool reduced)
{
	return reduced || (!read_bit(&b) && read_bits(&b, 2) == KEY_FRAME && b.ok);
}

static enum image_reason read_av1(struct image_header *out, const uint8_t *p, size_t n)
{
	struct sequence s = {0};
	size_t at = 0;

	for (unsigned i = 0; i < OBUS_MAX && at < n; i++) {
		unsigned head = p[at++], type = head >> 3 & 15;
		enum image_reason reason = IMAGE_OK;
		size_t length;

		if (head & 0x80 || (head & 4 && at++ >= n))
			return IMAGE_DAMAGED;
		length = n - at;
		if (head & 2 && !read_length(p, n, &at, &length))
			return IMAGE_DAMAGED;
		if (type == OBU_SEQUENCE)
			reason = read_sequence(&s, bits_of(p + at, length, false));
		if (reason != IMAGE_OK)
			return reason;
		if (type == OBU_FRAME || type == OBU_FRAME_HEADER) {
			if (!s.known || !is_key(bits_of(p + at, length, false), s.reduced))
				return IMAGE_NOT_A_PICTURE;
			*out = s.h;
			return IMAGE_OK;
		}
		at += length;
	}
	return IMAGE_NOT_A_PICTURE;
}

/* ---- all ---- */

enum image_reason frame_header_read(struct image_header *out, enum frame_codec codec,
				    const uint8_t *p, size_t n)
{
	if (codec == FRAME_NONE)
		return image_header_read(out, p, n);
	if (n > FRAME_BYTES_MAX)
		return IMAGE_TOO_LARGE;
	if (codec == FRAME_H264)
		return read_h264(out, p, n);
	return codec == FRAME_VP8 ? read_vp8(out, p, n) : read_av1(out, p, n);
}
