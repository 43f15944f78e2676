/* Events of the gateway about streams: lines of NAME JSON. Whatever they are, a lease is whole, and
 * it is of a stream that was asked for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/golive/streams.h"
#include "proto/base/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINE_MAX_BYTES = 4096 };

static uint32_t asked;

static void take(const struct streams_act *act, void *arg)
{
	(void)arg;
	if (act->type == STREAMS_ACT_LEASE && (act->stream != asked || !act->server ||
					       !*act->token || !*act->endpoint || !*act->session))
		abort();
}

static void hear(struct streams *s, const char *p, size_t n, uint64_t now)
{
	char line[LINE_MAX_BYTES], *json;
	json_t *d;

	if (n >= sizeof line)
		return;
	memcpy(line, p, n);
	line[n] = '\0';
	json = strchr(line, ' ');
	if (!json)
		return;
	*json++ = '\0';
	d = json_loads(json, 0, NULL);
	streams_event(s, line, d, now);
	json_decref(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t now = NS_PER_S;
	struct streams *s;

	if (streams_alloc(&s, take, NULL))
		return 0;
	streams_online(s, 700, true, now);
	if (streams_open(s, 41, 51, 501, now, &asked))
		abort();
	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t n = end ? (size_t)(end - data) : size;

		hear(s, (const char *)data, n, now);
		now += 700 * NS_PER_MS;
		if (n % 5 == 0)
			streams_media(s, asked, (unsigned)(n % 11), (unsigned)(n % 42), n % 2, now);
		streams_tick(s, now);
		n += end != NULL;
		data += n;
		size -= n;
	}
	streams_free(s);
	return 0;
}
