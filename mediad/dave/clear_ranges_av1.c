/* AV1: open bitstream units (AV1 specification, section 5.3). Headers and sizes stay clear. Units
 * that packetizers drop (RTP payload format for AV1, section 5) are dropped here, and the last unit
 * loses its size field, so that the supplement after it counts as part of it. */
#include <errno.h>

#include "proto/base/leb128.h"
#include "mediad/dave/clear_ranges_internal.h"

enum {
	HAS_EXTENSION = 0x04,
	HAS_SIZE = 0x02,
	TEMPORAL_DELIMITER = 2,
	TILE_LIST = 8,
	PADDING = 15,
	OBU_SIZE_MAX = 8
};

struct obu {
	uint8_t head[2];
	size_t n_head;
	struct slice payload;
};

static bool read_obu(struct obu *o, struct rd *r)
{
	const uint8_t *head = rd_bytes(r, 1), *extension = NULL;
	size_t n;

	if (!head)
		return false;
	if (head[0] & HAS_EXTENSION)
		extension = rd_bytes(r, 1);
	n = head[0] & HAS_SIZE ? leb128_read(r, OBU_SIZE_MAX) : rd_left(r);
	o->head[0] = head[0];
	o->head[1] = extension ? extension[0] : 0;
	o->n_head = extension ? 2 : 1;
	o->payload = (struct slice){.p = rd_bytes(r, n), .n = n};
	return r->ok;
}

static bool is_dropped_type(const struct obu *o)
{
	unsigned type = o->head[0] >> 3 & 0xf;

	return type == TEMPORAL_DELIMITER || type == TILE_LIST || type == PADDING;
}

static void append_obu(struct range_builder *p, struct obu *o, bool last)
{
	uint8_t size[LEB128_MAX];

	if (last)
		o->head[0] &= (uint8_t)~HAS_SIZE;
	range_builder_clear(p, o->head, o->n_head);
	if (o->head[0] & HAS_SIZE)
		range_builder_clear(p, size,
				    (size_t)(leb128_write(size, (uint32_t)o->payload.n) - size));
	range_builder_encrypt(p, o->payload.p, o->payload.n);
}

int find_av1_ranges(struct range_builder *p, const uint8_t *frame, size_t n)
{
	struct rd r = rd_of(frame, n);
	struct obu held = {0},
		   o; /* held: the previous unit, until it is known whether it is the last */

	while (rd_left(&r)) {
		if (!read_obu(&o, &r))
			return EBADMSG;
		if (is_dropped_type(&o))
			continue;
		if (held.n_head)
			append_obu(p, &held, false);
		held = o;
	}
	if (!held.n_head)
		return EBADMSG;
	append_obu(p, &held, true);
	return 0;
}
