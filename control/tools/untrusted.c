#include "control/tools/untrusted.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/utf8.h"

/* Characters that are not seen, in order. */
static const struct range {
	uint32_t first, last;
} unseen[] = {
	{0x0000, 0x0008},   {0x000b, 0x001f},	{0x007f, 0x009f}, {0x00ad, 0x00ad},
	{0x034f, 0x034f},   {0x061c, 0x061c},	{0x115f, 0x1160}, {0x17b4, 0x17b5},
	{0x180b, 0x180f},   {0x200b, 0x200f},	{0x2028, 0x202e}, {0x2060, 0x206f},
	{0x3164, 0x3164},   {0xfeff, 0xfeff},	{0xffa0, 0xffa0}, {0xfff0, 0xfffb},
	{0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static bool is_unseen(uint32_t c)
{
	for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++)
		if (c <= unseen[i].last)
			return c >= unseen[i].first;
	return false;
}

/* Reads one character of well-formed UTF-8. */
static size_t read_char(const char *p, uint32_t *c)
{
	unsigned char first = (unsigned char)*p;
	size_t n = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	*c = n == 1 ? first : first & (0x7fu >> n);
	for (size_t i = 1; i < n; i++)
		*c = *c << 6 | ((unsigned char)p[i] & 0x3f);
	return n;
}

static size_t clean(char *text, bool line)
{
	char *to = text;
	uint32_t c;

	utf8_mend(text);
	for (const char *p = text; *p;) {
		size_t n = read_char(p, &c);

		if (line && (c == '\t' || c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029)) {
			*to++ = ' ';
		} else if (!is_unseen(c)) {
			memmove(to, p, n);
			to += n;
		}
		p += n;
	}
	*to = '\0';
	return (size_t)(to - text);
}

size_t untrusted_clean(char *text)
{
	return clean(text, false);
}

size_t untrusted_clean_line(char *text)
{
	return clean(text, true);
}

/* An origin that cannot end its attribute. */
static void write_origin(char to[UNTRUSTED_ORIGIN_MAX], const char *origin)
{
	utf8_copy(to, UNTRUSTED_ORIGIN_MAX, origin);
	untrusted_clean_line(to);
	for (char *p = to; *p; p++)
		if (*p == '"' || *p == '<' || *p == '>')
			*p = '\'';
}

int untrusted_wrap(char **out, const uint8_t mark[UNTRUSTED_MARK], const char *origin,
		   const char *text)
{
	char id[2 * UNTRUSTED_MARK + 1], from[UNTRUSTED_ORIGIN_MAX], *copy = strdup(text), *whole;
	size_t size;

	if (!copy)
		return ENOMEM;
	for (size_t i = 0; i < UNTRUSTED_MARK; i++)
		snprintf(id + 2 * i, 3, "%02x", mark[i]);
	write_origin(from, origin);
	size = untrusted_clean(copy) + sizeof from + 2 * sizeof id + 64;
	whole = malloc(size);
	if (whole)
		snprintf(whole, size,
			 "<untrusted id=\"%s\" origin=\"%s\">\n%s\n</untrusted id=\"%s\">", id,
			 from, copy, id);
	free(copy);
	if (!whole)
		return ENOMEM;
	*out = whole;
	return 0;
}
