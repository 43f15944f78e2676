#include "control/room/base/text.h"

#include <stdio.h>
#include <string.h>

#include "control/room/base/turn.h"
#include "proto/base/utf8.h"

void room_append(char *to, size_t size, const char *text, size_t n)
{
	size_t len = strlen(to), room_left;

	while (n && text[0] == ' ') {
		text++;
		n--;
	}
	if (!n)
		return;
	if (len && len + 2 < size)
		to[len++] = ' ';
	room_left = size - 1 - len;
	if (n > room_left)
		n = utf8_whole(text, room_left);
	memcpy(to + len, text, n);
	to[len + n] = '\0';
}

/* Names come from Discord and may hold anything, so they become one plain line before they are
 * put next to instructions. */
void room_clean_name(const char *from, size_t n, char *to, size_t size)
{
	char plain[4 * ROOM_NAME_MAX];
	size_t k = 0;

	n = utf8_whole(from, n < sizeof plain ? n : sizeof plain - 1);
	if (n)
		memcpy(plain, from, n);
	plain[n] = '\0';
	utf8_plain(plain);
	for (const char *p = plain; *p && k + 1 < size; p++) {
		char ch = strchr("[],:\"", *p) ? ' ' : *p;

		if (ch == ' ' && (k == 0 || to[k - 1] == ' '))
			continue;
		to[k++] = ch;
	}
	k = utf8_whole(to, k);
	while (k && to[k - 1] == ' ')
		k--;
	to[k] = '\0';
	if (!k)
		snprintf(to, size, "someone");
}

void room_clean_words(char *text)
{
	utf8_plain(text);
	for (; *text; text++)
		if (*text == '[' || *text == ']')
			*text = *text == '[' ? '(' : ')';
}

static bool is_ascii_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/* Bytes of UTF-8 sequences count as parts of words. */
bool room_is_word_byte(char ch)
{
	return is_ascii_letter(ch) || (ch >= '0' && ch <= '9') || (ch & 0x80);
}

static char lower_ascii(char ch)
{
	return is_ascii_letter(ch) ? (char)(ch | 0x20) : ch;
}

bool room_same_words(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a && !room_is_word_byte(*a))
			a++;
		while (*b && !room_is_word_byte(*b))
			b++;
		if (!*a || !*b)
			return *a == *b;
		if (lower_ascii(*a) != lower_ascii(*b))
			return false;
	}
}
