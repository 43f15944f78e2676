/* Answers of text models, as streams: no input may crash, leak or pass a bound, and what an answer
 * says must not depend on how it is cut. The first byte says which dialect it is, the second how it
 * is cut. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/sse.h"
#include "control/dialect/text.h"
#include "proto/base/fnv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
	const struct text_dialect *d;
	struct text_stream s;
	uint64_t hash;
	unsigned facts, calls, ends;
};

static void add(struct sum *sum, const void *bytes, size_t n)
{
	sum->hash = fnv_bytes(sum->hash, bytes, n);
}

static bool on_fact(const struct text_fact *f, void *arg)
{
	struct sum *sum = arg;

	if (sum->ends || f->text.n > TEXT_EVENT_MAX)
		abort();
	sum->facts++;
	sum->calls += f->type == TEXT_CALL;
	sum->ends += f->type == TEXT_DONE || f->type == TEXT_FAILED;
	if (f->type == TEXT_CALL &&
	    (!*f->call || !f->text.n != f->too_large || f->text.n > TEXT_ARGUMENTS_MAX))
		abort();
	if (sum->calls > TEXT_CALLS_MAX)
		abort();
	add(sum, &f->type, sizeof f->type);
	add(sum, f->text.p, f->text.n);
	return sum->facts < 200;
}

static bool on_data(const uint8_t *data, size_t n, void *arg)
{
	struct sum *sum = arg;

	return text_stream_read(&sum->s, sum->d, data, n, on_fact, sum) != ECANCELED;
}

static uint64_t read_stream(const struct text_dialect *d, const uint8_t *data, size_t size,
			    size_t step)
{
	struct sum sum = {.d = d, .hash = FNV_BEGIN};
	struct sse sse = {0};
	int err = 0;

	for (size_t i = 0; i < size && !err; i += step)
		err = sse_feed(&sse, data + i, size - i < step ? size - i : step, on_data, &sum);
	sse_clear(&sse);
	text_stream_end(&sum.s, on_fact, &sum);
	if (sum.facts < 200 && sum.ends != 1)
		abort();
	text_stream_clear(&sum.s);
	return sum.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct text_dialect *const dialects[] = {
		&text_dialect_chat, &text_dialect_responses, &text_dialect_messages};
	const struct text_dialect *d;
	struct text_options o;
	char *text;

	if (size < 2)
		return 0;
	d = dialects[data[0] % 3];
	if (read_stream(d, data + 2, size - 2, size) !=
	    read_stream(d, data + 2, size - 2, data[1] % 16 + 1u))
		abort();
	text = strndup((const char *)data + 2, size - 2);
	if (!text)
		return 0;
	text_options_parse(&o, text);
	if (!memchr(o.version, 0, sizeof o.version) || strpbrk(o.version, "\r\n"))
		abort();
	free(text);
	return 0;
}
