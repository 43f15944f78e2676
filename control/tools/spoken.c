#include "control/tools/spoken.h"

#include <string.h>

size_t spoken_read(const char *p, uint32_t *c)
{
	const uint8_t *b = (const uint8_t *)p;

	*c = b[0];
	if ((b[0] & 0xe0) == 0xc0 && b[1]) {
		*c = (uint32_t)(b[0] & 0x1f) << 6 | (b[1] & 0x3f);
		return 2;
	}
	if ((b[0] & 0xf0) == 0xe0 && b[1] && b[2]) {
		*c = (uint32_t)(b[0] & 0x0f) << 12 | (uint32_t)(b[1] & 0x3f) << 6 | (b[2] & 0x3f);
		return 3;
	}
	return 1;
}

bool spoken_is_mark(uint32_t c)
{
	return (c < 0x80 && strchr(" \t\n.,;:!?\"()", (int)c)) || c == 0xa0 || c == 0xa1 ||
	       c == 0xab || c == 0xbb || c == 0xbf || (c >= 0x2010 && c <= 0x2015) ||
	       (c >= 0x201c && c <= 0x201f) || c == 0x2026 || (c >= 0x3000 && c <= 0x3002) ||
	       (c >= 0x300c && c <= 0x300f) || c == 0x30fb || c == 0xff01 || c == 0xff0c ||
	       c == 0xff0e || c == 0xff1a || c == 0xff1b || c == 0xff1f || c == 0xff61;
}

uint32_t spoken_lower(uint32_t c)
{
	if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
	    (c >= 0x410 && c <= 0x42f))
		return c + 0x20;
	if (c >= 0x100 && c <= 0x137)
		return c | 1;
	return c;
}

size_t spoken_write(char *to, const char *from, size_t used, uint32_t c)
{
	if (used == 1) {
		to[0] = (char)c;
	} else if (used == 2) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
	} else {
		memcpy(to, from, used);
	}
	return used;
}
