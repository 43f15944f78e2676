#include "proto/base/utf8.h"

#include <string.h>

size_t utf8_whole(const char *text, size_t n)
{
	size_t back = 0, need;
	unsigned char lead;

	while (back < n && back < 4 && ((unsigned char)text[n - 1 - back] & 0xc0) == 0x80)
		back++;
	if (back == n)
		return n - back;
	lead = (unsigned char)text[n - 1 - back];
	need = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
	return need == back ? n : n - back - 1;
}

bool utf8_valid(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p) {
		unsigned more = *p < 0x80 ? 0 : *p < 0xc2 ? 4 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
		unsigned char least = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80;
		unsigned char most = *p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf;

		if (*p > 0xf4 || more == 4)
			return false;
		for (p++; more; more--, p++, least = 0x80, most = 0xbf)
			if (*p < least || *p > most)
				return false;
	}
	return true;
}

void utf8_copy_bytes(char *to, size_t size, const char *text, size_t n)
{
	if (n >= size)
		n = utf8_whole(text, size - 1);
	memcpy(to, text, n);
	to[n] = '\0';
}

void utf8_copy(char *to, size_t size, const char *text)
{
	utf8_copy_bytes(to, size, text, strlen(text));
}

/* The size of the character at p if it does not belong on a plain line, else 0. */
static size_t unwanted_size(const unsigned char *p)
{
	if (p[0] < 0x20 || p[0] == 0x7f)
		return 1;
	if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) /* U+0080 … U+009F */
		return 2;
	if (p[0] != 0xe2)
		return 0;
	if (p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) /* U+2028 … U+202E */
		return 3;
	if (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9) /* U+2066 … U+2069 */
		return 3;
	return 0;
}

void utf8_plain(char *text)
{
	while (*text) {
		size_t n = unwanted_size((const unsigned char *)text);

		memset(text, ' ', n);
		text += n ? n : 1;
	}
}

/* The size of the well-formed character at p (Unicode, table 3-7), or 0. */
static size_t character_size(const unsigned char *p)
{
	size_t need = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
	unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;

	if (need < 2)
		return need;
	if (p[0] > 0xf4 || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < need; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return need;
}

size_t utf8_mend(char *text)
{
	char *to = text;
	const char *from = text;

	while (*from) {
		size_t n = character_size((const unsigned char *)from);

		memmove(to, from, n);
		to += n;
		from += n ? n : 1;
	}
	*to = '\0';
	return (size_t)(to - text);
}

size_t utf8_write(char to[4], uint32_t c)
{
	static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t n;

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n; i > 1; i--, c >>= 6)
		to[i - 1] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(marks[n] | c);
	return n;
}

void utf8_copy_or_latin1(char *to, size_t size, const char *text, size_t n)
{
	const char *nul = memchr(text, '\0', n);
	size_t used = 0;

	n = nul ? (size_t)(nul - text) : n;
	utf8_copy_bytes(to, size, text, n);
	if (utf8_valid(to))
		return;
	for (size_t i = 0; i < n && used + 2 < size; i++)
		used += utf8_write(to + used, (uint8_t)text[i]);
	to[used] = '\0';
}
