/* VP8 (RFC 7741): a payload descriptor before each part of the frame. */
#include <errno.h>

#include "mediad/video/payload_internal.h"

enum {
	EXTENDED = 0x80,  /* X */
	START = 0x10,	  /* S: a partition begins */
	PARTITION = 0x07, /* its index */
	PICTURE_ID = 0x80,
	TL0_PICTURE = 0x40,
	TID = 0x20,
	KEY_INDEX = 0x10,
	LONG_PICTURE_ID = 0x80, /* M: it has 15 bits */
	DESCRIPTOR = 4,		/* the size of ours */
	INTER = 0x01,		/* in the frame's first byte: it needs earlier frames */
};

int vp8_start(struct video_packetizer *p)
{
	p->picture_id &= 0x7fff;
	return p->n ? 0 : EBADMSG;
}

bool vp8_next(struct video_packetizer *p, uint8_t *out, size_t *len, bool *last)
{
	size_t left = p->n - p->at, n = left < p->cap - DESCRIPTOR ? left : p->cap - DESCRIPTOR;
	struct wr w = wr_of(out, p->cap);

	if (!left)
		return false;
	wr_be(&w, EXTENDED | (p->first ? START : 0), 1);
	wr_be(&w, PICTURE_ID, 1);
	wr_be(&w, LONG_PICTURE_ID << 8 | p->picture_id, 2);
	wr_bytes(&w, p->frame + p->at, n);
	p->at += n;
	*len = w.pos;
	*last = p->at == p->n;
	return true;
}

/* Reads the descriptor. Returns false when it is truncated. */
static bool read_descriptor(struct rd *r, uint8_t *first)
{
	uint8_t extension = 0;

	*first = (uint8_t)rd_be(r, 1);
	if (*first & EXTENDED)
		extension = (uint8_t)rd_be(r, 1);
	if (extension & PICTURE_ID && rd_be(r, 1) & LONG_PICTURE_ID)
		rd_bytes(r, 1);
	if (extension & TL0_PICTURE)
		rd_bytes(r, 1);
	if (extension & (TID | KEY_INDEX))
		rd_bytes(r, 1);
	return r->ok;
}

int vp8_add(struct video_depacketizer *d, const uint8_t *p, size_t n)
{
	struct rd r = rd_of(p, n);
	uint8_t first;
	size_t left;

	if (!read_descriptor(&r, &first) || !rd_left(&r))
		return EBADMSG;
	/* Only partition 0 begins a frame; later partitions have a START of their own. */
	if ((first & START && !(first & PARTITION)) == d->any)
		return EBADMSG;
	left = rd_left(&r);
	if (!d->any)
		d->key = !(p[r.pos] & INTER);
	return depacketizer_append(d, p + r.pos, left);
}

bool vp8_begins_frame(const uint8_t *p, size_t n)
{
	return n && p[0] & START && !(p[0] & PARTITION);
}
