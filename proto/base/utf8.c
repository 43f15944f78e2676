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

void utf8_copy(char *to, size_t size, const char *text)
{
	size_t n = strlen(text);

	if (n >= size)
		n = utf8_whole(text, size - 1);
	memcpy(to, text, n);
	to[n] = '\0';
}

/* Bytes of the character at p that does not belong on a plain line, 0 when it does. */
static size_t unwelcome(const unsigned char *p)
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
		size_t n = unwelcome((const unsigned char *)text);

		memset(text, ' ', n);
		text += n ? n : 1;
	}
}
