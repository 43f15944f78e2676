#include "control/memory/guard_hidden.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { HIDDEN_MIN = 12 }; /* digits of a word that may hold a text */

static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";

/* 64: none. "-" and "_" stand for "+" and "/" in addresses. */
static unsigned value_of(char c, unsigned bits)
{
	const char *at = c ? strchr(base64_digits, c) : NULL;
	size_t value = at ? (size_t)(at - base64_digits) : 64;

	if (bits == 6)
		return value < 64 ? (unsigned)value : value < 66 && at ? (unsigned)value - 2 : 64;
	return isdigit((unsigned char)c)    ? (unsigned)(c - '0')
	       : isxdigit((unsigned char)c) ? (unsigned)(tolower((unsigned char)c) - 'a') + 10
					    : 64;
}

/* False: what the n digits hold is no text. bits: of each digit. */
static bool decode(const char *p, size_t n, unsigned bits, char hidden[MEMORY_TEXT_MAX + 1])
{
	uint32_t held = 0;
	unsigned have = 0;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		held = held << bits | value_of(p[i], bits);
		have += bits;
		if (have < 8)
			continue;
		have -= 8;
		hidden[k] = (char)(held >> have & 0xff);
		if (k == MEMORY_TEXT_MAX || (unsigned char)hidden[k] < ' ' || hidden[k] == 0x7f)
			return false;
		k++;
	}
	hidden[k] = '\0';
	return true;
}

static size_t count_digits(const char *p, unsigned bits)
{
	size_t n = 0;

	while (value_of(p[n], bits) < 64)
		n++;
	return n;
}

const char *guard_hidden(const char *text, char hidden[MEMORY_TEXT_MAX + 1])
{
	while (*text) {
		size_t n = count_digits(text, 6), hex = count_digits(text, 4);

		if (hex == n && n >= HIDDEN_MIN && decode(text, n, 4, hidden))
			return text + n;
		if (n >= HIDDEN_MIN && decode(text, n, 6, hidden))
			return text + n;
		text += n ? n : 1;
	}
	return NULL;
}
