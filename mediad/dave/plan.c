#include <errno.h>

#include "mediad/dave/planner.h"

static void append(struct planner *p, const uint8_t *bytes, size_t n)
{
	if (p->err || !n)
		return;
	if (n > p->cap - p->plan->n) {
		p->err = EMSGSIZE;
		return;
	}
	memcpy(p->out + p->plan->n, bytes, n);
	p->plan->n += n;
}

void planner_sealed(struct planner *p, const uint8_t *bytes, size_t n)
{
	append(p, bytes, n);
}

void planner_clear(struct planner *p, const uint8_t *bytes, size_t n)
{
	struct dave_plan *plan = p->plan;
	struct dave_range *last = plan->n_ranges ? &plan->range[plan->n_ranges - 1] : NULL;
	uint32_t at = (uint32_t)plan->n;

	append(p, bytes, n);
	if (p->err || !n)
		return;
	if (last && last->at + last->n == at) {
		last->n += (uint32_t)n;
	} else if (plan->n_ranges < DAVE_RANGES_MAX) {
		plan->range[plan->n_ranges++] = (struct dave_range){.at = at, .n = (uint32_t)n};
	} else {
		p->err = EOVERFLOW;
	}
}

/* The payload descriptor of RFC 7741 is made from these: a key frame's start code and size
 * (section 9.1 of RFC 6386), of other frames the flags alone. */
static void plan_vp8(struct planner *p, const uint8_t *frame, size_t n)
{
	size_t clear = n && !(frame[0] & 1) ? 10 : 1;

	if (clear > n)
		clear = n;
	planner_clear(p, frame, clear);
	planner_sealed(p, frame + clear, n - clear);
}

int dave_plan_frame(struct dave_plan *plan, enum dave_codec codec, const uint8_t *frame, size_t n,
		    uint8_t *out, size_t cap)
{
	struct planner p = {.plan = plan, .out = out, .cap = cap};
	int err = 0;

	plan->n = 0;
	plan->n_ranges = 0;
	if (n > UINT32_MAX / 2)
		return EMSGSIZE;
	switch (codec) {
	case DAVE_VP8:
		plan_vp8(&p, frame, n);
		break;
	case DAVE_H264:
		err = plan_h264(&p, frame, n);
		break;
	case DAVE_H265:
		err = plan_h265(&p, frame, n);
		break;
	case DAVE_AV1:
		err = plan_av1(&p, frame, n);
		break;
	case DAVE_OPUS:
	case DAVE_VP9:
	case DAVE_UNKNOWN:
		planner_sealed(&p, frame, n);
		break;
	}
	return p.err ? p.err : err;
}
