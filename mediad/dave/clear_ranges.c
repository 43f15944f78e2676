#include <errno.h>

#include "mediad/dave/clear_ranges_internal.h"

static void append_bytes(struct range_builder *p, const uint8_t *bytes, size_t n)
{
	if (p->err || !n)
		return;
	if (n > p->cap - p->ranges->n) {
		p->err = EMSGSIZE;
		return;
	}
	memcpy(p->out + p->ranges->n, bytes, n);
	p->ranges->n += n;
}

void range_builder_encrypt(struct range_builder *p, const uint8_t *bytes, size_t n)
{
	append_bytes(p, bytes, n);
}

void range_builder_clear(struct range_builder *p, const uint8_t *bytes, size_t n)
{
	struct dave_clear_ranges *ranges = p->ranges;
	struct dave_range *last = ranges->n_ranges ? &ranges->range[ranges->n_ranges - 1] : NULL;
	uint32_t at = (uint32_t)ranges->n;

	append_bytes(p, bytes, n);
	if (p->err || !n)
		return;
	if (last && last->at + last->n == at) {
		last->n += (uint32_t)n;
	} else if (ranges->n_ranges < DAVE_RANGES_MAX) {
		ranges->range[ranges->n_ranges++] = (struct dave_range){.at = at, .n = (uint32_t)n};
	} else {
		p->err = EOVERFLOW;
	}
}

/* Packetizers make the payload descriptor (RFC 7741) from these bytes: a key frame's start code and
 * size (RFC 6386 section 9.1), and the flags of other frames. */
static void find_vp8_ranges(struct range_builder *p, const uint8_t *frame, size_t n)
{
	size_t clear = n && !(frame[0] & 1) ? 10 : 1;

	if (clear > n)
		clear = n;
	range_builder_clear(p, frame, clear);
	range_builder_encrypt(p, frame + clear, n - clear);
}

int dave_find_clear_ranges(struct dave_clear_ranges *ranges, enum dave_codec codec,
			   const uint8_t *frame, size_t n, uint8_t *out, size_t cap)
{
	struct range_builder p = {.ranges = ranges, .out = out, .cap = cap};
	int err = 0;

	ranges->n = 0;
	ranges->n_ranges = 0;
	if (n > UINT32_MAX / 2)
		return EMSGSIZE;
	switch (codec) {
	case DAVE_VP8:
		find_vp8_ranges(&p, frame, n);
		break;
	case DAVE_H264:
		err = find_h264_ranges(&p, frame, n);
		break;
	case DAVE_H265:
		err = find_h265_ranges(&p, frame, n);
		break;
	case DAVE_AV1:
		err = find_av1_ranges(&p, frame, n);
		break;
	case DAVE_OPUS:
	case DAVE_VP9:
	case DAVE_UNKNOWN:
		range_builder_encrypt(&p, frame, n);
		break;
	}
	return p.err ? p.err : err;
}
