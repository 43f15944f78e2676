/* Answers of the OpenAI dialect by HTTP, and forms that offlined takes: no input may crash, leak or
 * pass a bound. The first byte says how it is cut into pieces; what an event stream holds must not
 * depend on that. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai_http.h"
#include "control/dialect/sse.h"
#include "control/offline/multipart.h"
#include "proto/base/fnv.h"
#include "proto/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
	uint64_t hash;
	unsigned events;
};

static bool on_event(const uint8_t *data, size_t n, void *arg)
{
	struct sum *sum = arg;
	if (n > SSE_MAX)
		abort();
	sum->events++;
	sum->hash = fnv_value(fnv_bytes(sum->hash, data, n), 0x100);
	return sum->events < 100;
}

static struct sum stream(const uint8_t *data, size_t size, size_t step)
{
	struct sum sum = {.hash = FNV_BEGIN};
	struct sse s = {0};
	int err = 0;

	for (size_t i = 0; i < size && !err; i += step)
		err = sse_feed(&s, data + i, size - i < step ? size - i : step, on_event, &sum);
	sse_clear(&s);
	return sum;
}

static void words(const uint8_t *data, size_t size)
{
	struct openai_words w;
	char why[OPENAI_WHY_MAX];

	if (openai_transcript(&w, (const char *)data, size) == 0 &&
	    (!memchr(w.text, '\0', sizeof w.text) || !utf8_valid(w.text) || w.no_speech > 1001))
		abort();
	openai_refusal(400, (const char *)data, size, "", why, sizeof why);
	if (!memchr(why, '\0', sizeof why) || !utf8_valid(why))
		abort();
}

static void form(const uint8_t *data, size_t size)
{
	const uint8_t *part;
	size_t n;

	if (multipart_find("multipart/form-data; boundary=x1", data, size, "file", &part, &n) &&
	    (part < data || n > size || part + n > data + size))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sum a, b;

	if (!size)
		return 0;
	a = stream(data + 1, size - 1, size);
	b = stream(data + 1, size - 1, data[0] % 16 + 1u);
	if (a.hash != b.hash || a.events != b.events)
		abort();
	words(data + 1, size - 1);
	form(data + 1, size - 1);
	return 0;
}
