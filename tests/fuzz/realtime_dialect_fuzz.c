/* Messages of realtime voice sessions, in each dialect: no input may crash, leak or pass a bound,
 * and a text that is read can be written again as a line. The first byte says which dialect, and
 * whether the message is binary; messages are separated by NULs, and meet one codec. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/realtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct realtime_dialect *const dialects[] = {&realtime_openai, &realtime_openai_beta,
							  &realtime_xai, &realtime_localai};

static int drop_message(bool text, const void *data, size_t n, void *arg)
{
	(void)text, (void)arg;
	if (n && !data)
		abort();
	return 0;
}

static void write_again(const struct realtime_dialect *d, void *codec,
			const struct realtime_fact *f)
{
	char *text = strndup((const char *)f->text.p, f->text.n);
	struct realtime_command cmd = {
		.type = REALTIME_ITEM, .id = f->item, .call = f->call, .text = text};

	/* JSON gave it as UTF-8. */
	if (text && d->encode(codec, &cmd, drop_message, NULL))
		abort();
	cmd.type = REALTIME_RESULT;
	if (text && *f->call)
		d->encode(codec, &cmd, drop_message, NULL);
	free(text);
}

static void read_message(const struct realtime_dialect *d, void *codec, bool text,
			 const uint8_t *data, size_t n)
{
	struct realtime_facts *facts = malloc(sizeof *facts);

	if (facts && !d->decode(codec, text, data, n, facts)) {
		if (facts->n > REALTIME_FACTS)
			abort();
		for (size_t i = 0; i < facts->n; i++) {
			const struct realtime_fact *f = &facts->v[i];

			if (strlen(f->item) >= REALTIME_ID_MAX ||
			    strlen(f->response) >= REALTIME_ID_MAX)
				abort();
			d->trouble(f->text.p, f->text.n);
			if (f->type == REALTIME_TEXT || f->type == REALTIME_CALL)
				write_again(d, codec, f);
		}
		realtime_facts_clear(facts);
	}
	free(facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct realtime_conf conf = {
		.url = "ws://h/", .model = "m", .voice = "v", .rate_in = 24000, .rate_out = 24000};
	const struct realtime_dialect *d;
	const uint8_t *end;
	void *codec;
	bool text;

	if (!size)
		return 0;
	d = dialects[(data[0] & 0x7f) % (sizeof dialects / sizeof dialects[0])];
	text = !(data[0] & 0x80);
	if (d->alloc(&codec, &conf))
		return 0;
	for (data++, size--; size; size -= (size_t)(end - data), data = end) {
		end = memchr(data, '\0', size);
		end = end ? end : data + size;
		read_message(d, codec, text, data, (size_t)(end - data));
		if (end < data + size)
			end++;
	}
	d->free(codec);
	return 0;
}
