/* H.264 and H.265 in Annex B form: NAL units after start codes. A packetizer reads parameter sets,
 * unit headers and, of H.264 slices, the id of their picture parameter set (RFC 6184, RFC 7798). */
#include <errno.h>

#include "mediad/dave/clear_ranges_internal.h"

static const uint8_t start_code[] = {0, 0, 0, 1};
enum { SHORT_CODE = 3 };

/* Returns where the next 00 00 01 begins at or after `at`, or n. */
static size_t find_code(const uint8_t *p, size_t n, size_t at)
{
	while (at + SHORT_CODE <= n) {
		if (p[at + 2] > 1)
			at += SHORT_CODE;
		else if (p[at + 2] == 1 && p[at + 1] == 0 && p[at] == 0)
			return at;
		else
			at++;
	}
	return n;
}

/* Reads bits of a slice header and skips emulation prevention bytes (00 00 03). */
struct bits {
	const uint8_t *p;
	size_t n, byte;
	unsigned bit;
};

static bool next_bit(struct bits *b, bool *one)
{
	if (b->bit == 0 && b->byte >= 2 && b->byte < b->n && b->p[b->byte] == 3 &&
	    !b->p[b->byte - 1] && !b->p[b->byte - 2])
		b->byte++;
	if (b->byte >= b->n)
		return false;
	*one = b->p[b->byte] >> (7 - b->bit) & 1;
	b->bit = (b->bit + 1) % 8;
	b->byte += b->bit == 0;
	return true;
}

static bool skip_golomb(struct bits *b)
{
	unsigned zeros = 0;
	bool one = false, ignored;

	for (; next_bit(b, &one) && !one; zeros++)
		if (zeros == 32)
			return false;
	for (; one && zeros; zeros--)
		if (!next_bit(b, &ignored))
			return false;
	return one;
}

/* Returns the number of bytes that hold first_mb_in_slice, slice_type and pic_parameter_set_id, at
 * most n. The three never end on a byte boundary, because each has an odd number of bits. */
static size_t h264_slice_clear(const uint8_t *payload, size_t n)
{
	struct bits b = {.p = payload, .n = n};

	for (unsigned i = 0; i < 3; i++)
		if (!skip_golomb(&b))
			break;
	return b.byte < n ? b.byte + 1 : n;
}

/* Returns how many bytes of a unit stay clear; n is not 0. */
typedef size_t(clear_fn)(const uint8_t *unit, size_t n);

static size_t h264_clear(const uint8_t *unit, size_t n)
{
	enum { SLICE = 1, IDR = 5 };
	unsigned type = unit[0] & 0x1f;

	return type == SLICE || type == IDR ? 1 + h264_slice_clear(unit + 1, n - 1) : n;
}

static size_t h265_clear(const uint8_t *unit, size_t n)
{
	enum { HEADER = 2, VCL_END = 32 };
	unsigned type = unit[0] >> 1 & 0x3f;

	return type < VCL_END && n > HEADER ? HEADER : n;
}

static int find_unit_ranges(struct range_builder *p, const uint8_t *frame, size_t n,
			    clear_fn *clear)
{
	size_t at = find_code(frame, n, 0);

	for (size_t i = 0; i < at; i++)
		if (frame[i])
			return EBADMSG; /* bytes before the first unit */
	if (at == n)
		return EBADMSG;
	while (at < n) {
		const uint8_t *unit = frame + at + SHORT_CODE;
		size_t next = find_code(frame, n, at + SHORT_CODE), len, c;

		/* A zero before 00 00 01 is the fourth byte of that code. */
		len = next - at - SHORT_CODE;
		if (next < n && len && unit[len - 1] == 0)
			len--;
		if (len) {
			c = clear(unit, len);
			range_builder_clear(p, start_code, sizeof start_code);
			range_builder_clear(p, unit, c);
			range_builder_encrypt(p, unit + c, len - c);
		}
		at = next;
	}
	return p->ranges->n || p->err ? 0 : EBADMSG;
}

int find_h264_ranges(struct range_builder *p, const uint8_t *frame, size_t n)
{
	return find_unit_ranges(p, frame, n, h264_clear);
}

int find_h265_ranges(struct range_builder *p, const uint8_t *frame, size_t n)
{
	return find_unit_ranges(p, frame, n, h265_clear);
}

/* True if the encrypted bytes [at, end), with two bytes on both sides, hold a start code. */
static bool has_start_code(const uint8_t *p, size_t n, size_t at, size_t end)
{
	size_t from = at < SHORT_CODE - 1 ? 0 : at - (SHORT_CODE - 1);
	size_t to = n - end < SHORT_CODE - 1 ? n : end + SHORT_CODE - 1;

	return find_code(p + from, to - from, 0) != to - from;
}

bool dave_imitates_start_code(const struct dave_clear_ranges *ranges, const uint8_t *sealed,
			      size_t n)
{
	size_t at = 0;

	for (uint32_t i = 0; i < ranges->n_ranges; i++) {
		const struct dave_range *r = &ranges->range[i];

		if (r->at > at && has_start_code(sealed, n, at, r->at))
			return true;
		at = r->at + r->n;
	}
	return has_start_code(sealed, n, at, n);
}
