/* Messages of Gemini Live, line by line, with commands in between: no input may crash, leak or pass
 * a bound; every answer has one beginning and one end, in order. A line that begins with '!' is a
 * command. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/realtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(bool text, const void *data, size_t n, void *arg)
{
	(void)arg;
	if (!text || !n || *(const char *)data != '{')
		abort();
	return 0;
}

static void command(void *codec, const uint8_t *line, size_t n)
{
	char text[64];
	struct realtime_command cmd = {.text = text, .call = "c", .name = "f", .mime = "image/png"};

	snprintf(text, sizeof text, "%.*s", n > 2 ? (int)n - 2 : 0, (const char *)line + 2);
	cmd.type = (enum realtime_command_type)(n > 1 ? line[1] % (REALTIME_KEEPALIVE + 1) : 0);
	cmd.ask = (uint32_t)n;
	cmd.tools = cmd.type == REALTIME_DESCRIBE ? text : "";
	cmd.data = (struct slice){line, n};
	realtime_gemini.encode(codec, &cmd, take, NULL);
}

static void check(const struct realtime_facts *facts, char *open, size_t size)
{
	for (size_t i = 0; i < facts->n; i++) {
		const struct realtime_fact *f = &facts->v[i];

		if (!f->text.p || !f->data.p)
			abort();
		if (f->type == REALTIME_RESPONSE) {
			if (*open)
				abort();
			snprintf(open, size, "%s", f->response);
		} else if (f->type == REALTIME_AUDIO || f->type == REALTIME_CALL ||
			   f->type == REALTIME_DONE) {
			if (strcmp(open, f->response) != 0)
				abort();
			if (f->type == REALTIME_DONE)
				*open = '\0';
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct realtime_conf conf = {.url = "ws://h", .rate_in = 16000, .rate_out = 24000};
	struct realtime_facts facts;
	char open[REALTIME_ID_MAX] = "";
	void *codec;

	if (realtime_gemini.alloc(&codec, &conf))
		return 0;
	while (size) {
		const uint8_t *nl = memchr(data, '\n', size);
		size_t n = nl ? (size_t)(nl - data) : size;

		if (n && *data == '!') {
			command(codec, data, n);
		} else if (!realtime_gemini.decode(codec, false, data, n, &facts)) {
			check(&facts, open, sizeof open);
			realtime_facts_clear(&facts);
		}
		data += n + (nl != NULL);
		size -= n + (nl != NULL);
	}
	realtime_gemini.free(codec);
	return 0;
}
