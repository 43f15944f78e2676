/* What a browser sends to the bridge of make talk: orders as text, sound as bytes; and the lines of
 * control's turns that it passes on. The first byte says which. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/utf8.h"
#include "tests/talk/squelch.h"
#include "tests/talk/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void order(const uint8_t *data, size_t size)
{
	struct wire_order o;
	size_t n;

	if (wire_order(data, size, &o))
		return;
	n = strlen(o.name);
	if (n >= sizeof o.name || utf8_whole(o.name, n) != n)
		abort();
	for (size_t i = 0; i < n; i++)
		if ((uint8_t)o.name[i] < 0x20)
			abort();
}

static void sound(const uint8_t *data, size_t size)
{
	static struct squelch s;
	int16_t pcm[SQUELCH_FRAME_MAX];
	bool open = false;
	unsigned k = 0;

	if (size < 2 || squelch_init(&s, (uint32_t)(data[0] << 8 | data[1])))
		return;
	for (size_t at = 2; at + s.frame * 2 <= size; at += s.frame * 2) {
		enum squelch_says says;

		memcpy(pcm, data + at, s.frame * 2);
		says = squelch_frame(&s, pcm);
		if (open ? says != SQUELCH_OPEN && says != SQUELCH_CLOSES
			 : says != SQUELCH_SHUT && says != SQUELCH_OPENS)
			abort();
		open = says == SQUELCH_OPEN || says == SQUELCH_OPENS;
		/* What opens it is the last of what is kept. */
		for (k = 0; says == SQUELCH_OPENS && squelch_kept(&s, k); k++)
			;
		if (says == SQUELCH_OPENS &&
		    (!k || memcmp(squelch_kept(&s, k - 1), pcm, s.frame * 2) != 0))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char host[64] = "";

	if (!size)
		return 0;
	if (data[0] == 's') {
		sound(data + 1, size - 1);
	} else if (data[0] == 't') {
		json_decref(wire_turn((const char *)data + 1, size - 1, 77));
	} else if (data[0] == 'h') {
		memcpy(host, data + 1, size - 1 < 63 ? size - 1 : 63);
		if (wire_host(host, 7373) && strcmp(host, "127.0.0.1:7373") != 0 &&
		    strcmp(host, "localhost:7373") != 0)
			abort();
	} else {
		order(data, size);
	}
	return 0;
}
