/* H.264 (RFC 6184). Units of an access unit are cut at start codes; several small ones share a
 * STAP-A, one that does not fit a payload is sent in FU-A. */
#include <errno.h>

#include "mediad/video/payload_internal.h"

enum {
	TYPE = 0x1f,
	NRI = 0x60,
	IDR = 5,
	SPS = 7,
	DELIMITER = 9,
	LAST_SINGLE = 23, /* types of single units end here */
	STAP_A = 24,
	FU_A = 28,
	FU_START = 0x80,
	FU_END = 0x40,
	FU_HEAD = 2,
	STAP_SIZE = 2, /* before each unit of a STAP-A */
	CODE = 3,      /* the start code without its optional first zero */
};

/* True if a unit with this header can be sent; the other types are those of this format. */
static bool is_single(uint8_t head)
{
	return (head & TYPE) >= 1 && (head & TYPE) <= LAST_SINGLE;
}

/* ---- sending ---- */

/* Returns where the next 00 00 01 begins at or after `at`, or n. */
static size_t find_code(const uint8_t *p, size_t n, size_t at)
{
	for (; at + CODE <= n; at++)
		if (p[at] == 0 && p[at + 1] == 0 && p[at + 2] == 1)
			return at;
	return n;
}

/* Reads the next unit that is not empty. at: its start code; afterwards the one behind it, or the
 * end. A zero before 00 00 01 belongs to that code. */
static bool next_unit(const struct video_packetizer *p, size_t *at, struct slice *unit)
{
	while (*at < p->n) {
		size_t from = *at + CODE, end = find_code(p->frame, p->n, from), n = end - from;

		*at = end;
		if (end < p->n && n && p->frame[end - 1] == 0)
			n--;
		if (n) {
			*unit = (struct slice){.p = p->frame + from, .n = n};
			return true;
		}
	}
	return false;
}

int h264_start(struct video_packetizer *p)
{
	p->at = find_code(p->frame, p->n, 0);
	for (size_t i = 0; i < p->at; i++)
		if (p->frame[i])
			return EBADMSG; /* bytes before the first unit */
	for (size_t at = p->at; next_unit(p, &at, &p->unit);)
		if (!is_single(p->unit.p[0]))
			return EBADMSG;
	return next_unit(p, &p->at, &p->unit) ? 0 : EBADMSG;
}

static void finish_unit(struct video_packetizer *p)
{
	p->sent = 0;
	if (!next_unit(p, &p->at, &p->unit))
		p->unit = (struct slice){0};
}

static size_t write_fragment(struct video_packetizer *p, uint8_t *out)
{
	/* The unit's own header is not sent; the two bytes of the fragment stand for it. */
	size_t done = p->sent ? p->sent : 1, left = p->unit.n - done,
	       n = left < p->cap - FU_HEAD ? left : p->cap - FU_HEAD;

	out[0] = (uint8_t)((p->unit.p[0] & ~TYPE) | FU_A);
	out[1] = (uint8_t)((p->unit.p[0] & TYPE) | (p->sent ? 0 : FU_START) |
			   (n == left ? FU_END : 0));
	memcpy(out + FU_HEAD, p->unit.p + done, n);
	p->sent = done + n;
	if (n == left)
		finish_unit(p);
	return FU_HEAD + n;
}

/* Gathers the unit and those behind it that fit. Returns false when it would be alone. */
static bool write_aggregate(struct video_packetizer *p, uint8_t *out, size_t *len)
{
	size_t at = p->at, n = 1 + STAP_SIZE + p->unit.n;
	struct slice next;
	uint8_t importance = 0;
	struct wr w = wr_of(out, p->cap);

	if (!next_unit(p, &at, &next) || n + STAP_SIZE + next.n > p->cap)
		return false;
	wr_be(&w, STAP_A, 1);
	while (p->unit.n && p->unit.n + STAP_SIZE <= p->cap - w.pos) {
		uint8_t head = p->unit.p[0];

		out[0] |= head & 0x80;
		if ((head & NRI) > importance)
			importance = head & NRI;
		wr_be(&w, p->unit.n, 2);
		wr_bytes(&w, p->unit.p, p->unit.n);
		finish_unit(p);
	}
	out[0] |= importance;
	*len = w.pos;
	return true;
}

bool h264_next(struct video_packetizer *p, uint8_t *out, size_t *len, bool *last)
{
	if (!p->unit.n)
		return false;
	if (p->unit.n > p->cap) {
		*len = write_fragment(p, out);
	} else if (!write_aggregate(p, out, len)) {
		*len = p->unit.n;
		memcpy(out, p->unit.p, *len);
		finish_unit(p);
	}
	*last = !p->unit.n;
	return true;
}

/* ---- receiving ---- */

static int begin_unit(struct video_depacketizer *d, uint8_t head)
{
	static const uint8_t start_code[] = {0, 0, 0, 1};

	d->key = d->key || (head & TYPE) == IDR;
	return depacketizer_append(d, start_code, sizeof start_code);
}

static int add_unit(struct video_depacketizer *d, const uint8_t *p, size_t n)
{
	int err = begin_unit(d, p[0]);

	return err ? err : depacketizer_append(d, p, n);
}

static int add_aggregate(struct video_depacketizer *d, const uint8_t *p, size_t n)
{
	struct rd r = rd_of(p + 1, n - 1);
	int err = rd_left(&r) ? 0 : EBADMSG;

	while (!err && rd_left(&r)) {
		size_t size = (size_t)rd_be(&r, 2);
		const uint8_t *unit = rd_bytes(&r, size);

		if (!unit || !size || !is_single(unit[0]))
			return EBADMSG;
		err = add_unit(d, unit, size);
	}
	return err;
}

static int add_fragment(struct video_depacketizer *d, const uint8_t *p, size_t n)
{
	uint8_t head, type;
	bool start, end;
	int err = 0;

	if (n < FU_HEAD)
		return EBADMSG;
	start = p[1] & FU_START;
	end = p[1] & FU_END;
	type = p[1] & TYPE;
	head = (uint8_t)((p[0] & ~TYPE) | type);
	/* A unit of one fragment must not be sent as a fragment (section 5.8). */
	if ((start && end) || start == d->open || (!start && type != d->type) || !is_single(type))
		return EBADMSG;
	if (start)
		err = begin_unit(d, head);
	if (start && !err)
		err = depacketizer_append(d, &head, 1);
	if (!err)
		err = depacketizer_append(d, p + FU_HEAD, n - FU_HEAD);
	d->open = !end;
	d->type = type;
	return err;
}

int h264_add(struct video_depacketizer *d, const uint8_t *p, size_t n)
{
	unsigned type = n ? p[0] & TYPE : 0;

	if (type == FU_A)
		return add_fragment(d, p, n);
	if (d->open)
		return EBADMSG;
	if (type == STAP_A)
		return add_aggregate(d, p, n);
	return n && is_single(p[0]) ? add_unit(d, p, n) : EBADMSG;
}

bool h264_begins_frame(const uint8_t *p, size_t n)
{
	unsigned type = n ? p[0] & TYPE : 0;

	if (type == STAP_A && n > 1 + STAP_SIZE)
		type = p[1 + STAP_SIZE] & TYPE;
	return type == DELIMITER || type == SPS;
}
