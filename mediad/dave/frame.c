#include "mediad/dave/frame.h"

#include "proto/base/leb128.h"

static const uint8_t silence[] = {0xf8, 0xff, 0xfe};

bool dave_is_silence(const uint8_t *frame, size_t n)
{
	return n == sizeof silence && memcmp(frame, silence, sizeof silence) == 0;
}

/* Reads the ranges, which must fill the rest of the supplement exactly. */
static bool read_ranges(struct dave_frame *f, struct rd *r)
{
	uint64_t end = 0; /* end of the previous range */

	f->n_ranges = 0;
	while (rd_left(r)) {
		struct dave_range *to = &f->range[f->n_ranges];

		if (f->n_ranges == DAVE_RANGES_MAX)
			return false;
		to->at = leb128_read(r, LEB128_MAX);
		to->n = leb128_read(r, LEB128_MAX);
		if (!r->ok || to->at < end)
			return false;
		end = (uint64_t)to->at + to->n;
		if (end > f->body.n)
			return false;
		f->n_ranges++;
	}
	return r->ok;
}

bool dave_frame_parse(struct dave_frame *out, const uint8_t *frame, size_t n)
{
	size_t supplement;
	struct rd r;

	if (n < DAVE_FRAME_MIN || frame[n - 1] != DAVE_MAGIC || frame[n - 2] != DAVE_MAGIC)
		return false;
	supplement = frame[n - 3];
	if (supplement < DAVE_FRAME_MIN || supplement > n)
		return false;
	out->body = (struct slice){.p = frame, .n = n - supplement};
	out->tag = (struct slice){.p = frame + out->body.n, .n = DAVE_TAG};
	r = rd_of(out->tag.p + DAVE_TAG, supplement - DAVE_TAG - DAVE_TAIL);
	out->nonce = leb128_read(&r, LEB128_MAX);
	return r.ok && read_ranges(out, &r);
}
