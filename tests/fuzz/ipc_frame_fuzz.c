/* The stream between the halves: however the bytes are cut into reads, the same frames come out.
 *
 * Input: `u8 cap | u8 step`, then the stream. */
#include "ipc/frame.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
	uint64_t hash;
	unsigned frames;
	int bad;
};

static void take(struct sum *s, const uint8_t *body, size_t len)
{
	s->frames++;
	s->hash = s->hash * 31 + len;
	for (size_t i = 0; i < len; i++)
		s->hash = s->hash * 31 + body[i];
}

/* Shows the cutter `step` more bytes at a time, in a buffer of exactly that size. */
static struct sum walk(const uint8_t *p, size_t n, size_t max, size_t step)
{
	struct sum s = {0};
	size_t at = 0, seen = 0;

	while (seen < n && !s.bad) {
		const uint8_t *body;
		size_t len, have;
		uint8_t *buf;
		long k;

		seen = n - seen < step ? n : seen + step;
		have = seen - at;
		buf = malloc(have ? have : 1);
		if (!buf)
			abort();
		memcpy(buf, p + at, have);
		for (size_t done = 0;; done += (size_t)k) {
			k = frame_cut(buf + done, have - done, max, &body, &len);
			if (k <= 0)
				break;
			if (!len || len > max || (size_t)k != FRAME_HEAD + len || body < buf ||
			    body + len > buf + have)
				abort();
			take(&s, body, len);
			at += (size_t)k;
		}
		s.bad = k < 0;
		free(buf);
	}
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sum whole, parts;
	size_t max, step;

	if (size < 2 || size > 4096)
		return 0;
	max = (size_t)data[0] + 1;
	step = (size_t)data[1] + 1;
	whole = walk(data + 2, size - 2, max, size);
	parts = walk(data + 2, size - 2, max, step);
	if (whole.hash != parts.hash || whole.frames != parts.frames || whole.bad != parts.bad)
		abort();
	return 0;
}
