#include "control/engine/core/describe.h"

#include <stdio.h>

#include "proto/base/utf8.h"

static void make_plain(char *buf)
{
	utf8_mend(buf);
	utf8_plain(buf);
}

void describe_close(uint16_t code, const uint8_t *reason, size_t n, char *buf, size_t size)
{
	snprintf(buf, size, "closed %u %.*s", code, (int)n, n ? (const char *)reason : "");
	make_plain(buf);
}

void describe_error(const char *code, struct slice text, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%.*s", code, *code && text.n ? ": " : "", (int)text.n,
		 text.n ? (const char *)text.p : "");
	make_plain(buf);
}
