/* AV1 ("RTP Payload Format For AV1" 1.0, sections 4.3 to 5). A payload is an aggregation header and
 * elements, each with its size (W is 0); an element is a unit, or a part of one. Units travel
 * without a size of their own. */
#include <errno.h>

#include "mediad/video/payload_internal.h"
#include "proto/base/leb128.h"

enum {
	CONTINUES = 0x80, /* Z: the first element continues a unit */
	CONTINUED = 0x40, /* Y: the last element is continued */
	COUNT = 0x30,	  /* W: the number of elements; then the last one has no size */
	SEQUENCE = 0x08,  /* N: a coded video sequence begins */
	AGGREGATION = 1,

	HAS_EXTENSION = 0x04,
	HAS_SIZE = 0x02,
	SEQUENCE_HEADER = 1,
	TEMPORAL_DELIMITER = 2,
	TILE_LIST = 8,
	OBU_SIZE_MAX = 8,
};

static unsigned type_of(uint8_t head)
{
	return head >> 3 & 0xf;
}

/* Units that must not be sent, and are ignored when they are received (section 5). */
static bool is_ignored(uint8_t head)
{
	return type_of(head) == TEMPORAL_DELIMITER || type_of(head) == TILE_LIST;
}

/* ---- sending ---- */

/* Reads the unit at p->at into p->head and p->unit. *found: there is one. */
static int next_unit(struct video_packetizer *p, bool *found)
{
	*found = false;
	while (p->at < p->n) {
		struct rd r = rd_of(p->frame + p->at, p->n - p->at);
		uint8_t head = (uint8_t)rd_be(&r, 1);
		size_t n;

		p->n_head = head & HAS_EXTENSION ? 2 : 1;
		p->head[0] = head & (uint8_t)~HAS_SIZE;
		if (head & HAS_EXTENSION)
			p->head[1] = (uint8_t)rd_be(&r, 1);
		n = head & HAS_SIZE ? leb128_read(&r, OBU_SIZE_MAX) : rd_left(&r);
		p->unit = (struct slice){.p = rd_bytes(&r, n), .n = n};
		if (!r.ok)
			return EBADMSG;
		p->at += r.pos;
		if (!is_ignored(head)) {
			*found = true;
			return 0;
		}
	}
	p->n_head = 0;
	p->unit = (struct slice){0};
	return 0;
}

int av1_start(struct video_packetizer *p)
{
	bool found, any = false;
	int err;

	/* The whole frame is read first, so that no packet is sent of a malformed one. */
	while (!(err = next_unit(p, &found)) && found) {
		p->sequence = p->sequence || type_of(p->head[0]) == SEQUENCE_HEADER;
		any = true;
	}
	p->at = 0;
	if (err || !any)
		return EBADMSG;
	return next_unit(p, &found);
}

static size_t unit_left(const struct video_packetizer *p)
{
	return p->n_head + p->unit.n - p->sent;
}

/* Writes n more bytes of the unit, whose header comes first. */
static void write_part(struct video_packetizer *p, struct wr *w, size_t n)
{
	while (n && p->sent < p->n_head) {
		wr_be(w, p->head[p->sent++], 1);
		n--;
	}
	wr_bytes(w, p->unit.p + (p->sent - p->n_head), n);
	p->sent += n;
}

bool av1_next(struct video_packetizer *p, uint8_t *out, size_t *len, bool *last)
{
	struct wr w = wr_of(out, p->cap);
	uint8_t aggregation = (p->sent ? CONTINUES : 0) | (p->first && p->sequence ? SEQUENCE : 0);
	bool found = true;

	if (!p->n_head)
		return false;
	w.pos = AGGREGATION;
	/* An element of less than two bytes is not worth its size. */
	while (p->n_head && p->cap - w.pos > LEB128_MAX + 1) {
		size_t room = p->cap - w.pos - LEB128_MAX, n = unit_left(p);
		uint8_t size[LEB128_MAX];

		if (n > room)
			n = room;
		wr_bytes(&w, size, (size_t)(leb128_write(size, (uint32_t)n) - size));
		write_part(p, &w, n);
		if (unit_left(p)) {
			aggregation |= CONTINUED;
			break;
		}
		p->sent = 0;
		if (next_unit(p, &found) || !found)
			p->n_head = 0;
	}
	out[0] = aggregation;
	*len = w.pos;
	*last = !p->n_head;
	return true;
}

/* ---- receiving ---- */

/* Completes the newest unit: its size is taken out where a sender left it in, and put in, in its
 * shortest form, unless the unit is the last. */
static int finish_unit(struct video_depacketizer *d, bool last)
{
	uint8_t *unit = d->out + d->unit, size[LEB128_MAX];
	struct rd r = rd_of(unit, d->n - d->unit);
	uint8_t head = (uint8_t)rd_be(&r, 1);
	size_t n_head = head & HAS_EXTENSION ? 2 : 1, payload, n_size;

	if (n_head == 2)
		rd_bytes(&r, 1);
	if (head & HAS_SIZE && leb128_read(&r, OBU_SIZE_MAX) != rd_left(&r))
		return EBADMSG;
	if (!r.ok)
		return EBADMSG;
	d->has_unit = false;
	/* Such a unit ends no frame: the one before it would keep its size, or there is none. */
	if (is_ignored(head)) {
		d->n = d->unit;
		return last ? EBADMSG : 0;
	}
	d->key = d->key || type_of(head) == SEQUENCE_HEADER;
	payload = rd_left(&r);
	n_size = last ? 0 : (size_t)(leb128_write(size, (uint32_t)payload) - size);
	if (n_head + n_size + payload > d->cap - d->unit)
		return EMSGSIZE;
	unit[0] = (uint8_t)(last ? head & ~HAS_SIZE : head | HAS_SIZE);
	memmove(unit + n_head + n_size, unit + r.pos, payload);
	memcpy(unit + n_head, size, n_size);
	d->n = d->unit + n_head + n_size + payload;
	return 0;
}

static int add_element(struct video_depacketizer *d, const uint8_t *p, size_t n, bool continues)
{
	int err = 0;

	if (!continues && d->has_unit)
		err = finish_unit(d, false);
	if (!err && !continues) {
		d->unit = d->n;
		d->has_unit = true;
	}
	return err ? err : depacketizer_append(d, p, n);
}

int av1_add(struct video_depacketizer *d, const uint8_t *p, size_t n)
{
	struct rd r = rd_of(p, n);
	uint8_t aggregation = (uint8_t)rd_be(&r, 1);
	unsigned count = (aggregation & COUNT) >> 4;
	bool continues = aggregation & CONTINUES;

	if (!rd_left(&r) || continues != d->open || (aggregation & SEQUENCE && d->any))
		return EBADMSG;
	for (unsigned i = 1; rd_left(&r); i++) {
		size_t size = count && i == count ? rd_left(&r) : leb128_read(&r, OBU_SIZE_MAX);
		const uint8_t *element = rd_bytes(&r, size);
		int err;

		if (!element || (count && i > count))
			return EBADMSG;
		err = add_element(d, element, size, continues);
		if (err)
			return err;
		continues = false;
	}
	d->open = aggregation & CONTINUED;
	return r.ok ? 0 : EBADMSG;
}

int av1_end(struct video_depacketizer *d)
{
	if (!d->has_unit)
		return EBADMSG;
	return finish_unit(d, true);
}

bool av1_begins_frame(const uint8_t *p, size_t n)
{
	return n && p[0] & SEQUENCE;
}
