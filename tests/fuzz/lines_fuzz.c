/* Lines of a stream (proto/base/lines.h): wherever the stream is cut, the same lines come, none
 * longer than the cap, and as many as there are newlines come or are counted as dropped. */
#include "proto/base/lines.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	size_t max, lines;
	uint64_t sum;
};

static void on_line(const char *line, size_t len, void *arg)
{
	struct seen *s = arg;

	if (len > s->max || line[len] || memchr(line, '\n', len))
		abort();
	s->lines++;
	for (size_t i = 0; i <= len; i++)
		s->sum = s->sum * 31 + (uint8_t)line[i];
}

static struct seen read_lines(const uint8_t *data, size_t size, size_t step, size_t max, bool cut)
{
	struct seen s = {.max = max};
	size_t ends = 0;
	struct lines l;

	lines_init(&l, max, cut);
	for (size_t at = 0; at < size; at += step)
		lines_feed(&l, data + at, size - at < step ? size - at : step, on_line, &s);
	lines_end(&l, on_line, &s);
	for (size_t i = 0; i < size; i++)
		ends += data[i] == '\n' || i == size - 1;
	if (s.lines + (cut ? 0 : l.dropped) != ends)
		abort();
	lines_clear(&l);
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t max, step;

	if (size < 3)
		return 0;
	max = 1 + data[0] * 4u;
	step = 1 + data[1] % 64u;
	data += 2;
	size -= 2;
	for (int cut = 0; cut < 2; cut++) {
		struct seen whole = read_lines(data, size, size, max, cut);
		struct seen pieces = read_lines(data, size, step, max, cut);

		if (whole.lines != pieces.lines || whole.sum != pieces.sum)
			abort();
	}
	return 0;
}
