#include "tests/unit/mediad/mls/hex.h"

#include <stdlib.h>

enum { KEPT = 4096 };

static struct {
	uint8_t *p[KEPT];
	size_t n;
} kept;

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct slice hex_bytes(const char *hex)
{
	size_t n = strlen(hex) / 2;
	uint8_t *p;

	if (n == 0 || kept.n == KEPT)
		return (struct slice){0};
	p = malloc(n);
	if (!p)
		return (struct slice){0};
	kept.p[kept.n++] = p;
	for (size_t i = 0; i < n; i++) {
		int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return (struct slice){0};
		p[i] = (uint8_t)(high << 4 | low);
	}
	return (struct slice){.p = p, .n = n};
}

void hex_end(void)
{
	while (kept.n)
		free(kept.p[--kept.n]);
}
