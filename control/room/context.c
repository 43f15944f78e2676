/* What the brain is told besides the words: its part, its name, who is there. Names come from
 * Discord and could hold anything, so they are made one plain line before they stand next to
 * instructions. */
#include <stdio.h>

#include "control/room/inside.h"

/* How many of the first n bytes are whole UTF-8 characters. */
static size_t whole_chars(const char *p, size_t n)
{
	size_t back = 0, need;
	unsigned char lead;

	while (back < n && back < 4 && ((unsigned char)p[n - 1 - back] & 0xc0) == 0x80)
		back++;
	if (back == n)
		return n - back;
	lead = (unsigned char)p[n - 1 - back];
	need = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
	return need == back ? n : n - back - 1;
}

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
		n = whole_chars(text, room_left);
	memcpy(to + len, text, n);
	to[len + n] = '\0';
}

void room_clean_name(const char *from, size_t n, char *to, size_t size)
{
	size_t k = 0;

	for (size_t i = 0; i < n && k + 1 < size; i++) {
		char ch = from[i];

		if ((unsigned char)ch < 0x20 || ch == 0x7f || strchr("[],:\"", ch))
			ch = ' ';
		if (ch == ' ' && (k == 0 || to[k - 1] == ' '))
			continue;
		to[k++] = ch;
	}
	k = k ? whole_chars(to, k) : 0;
	while (k && to[k - 1] == ' ')
		k--;
	to[k] = '\0';
	if (!k)
		snprintf(to, size, "someone");
}

void room_instruct(struct room *room)
{
	char *buf = room->instructions;
	size_t size = sizeof room->instructions, n;
	bool any = false;

	n = (size_t)snprintf(buf, size, "%s\nYour name is %s.\npeople in the room: ",
			     room->settings->instructions, room->name);
	for (unsigned i = 0; i < ROOM_SPEAKERS && n < size; i++) {
		const struct room_speaker *sp = &room->speaker[i];

		if (!sp->used || sp->is_bot)
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%s%s", any ? ", " : "", sp->name);
		any = true;
	}
	if (!any && n < size)
		snprintf(buf + n, size - n, "nobody");
	room_do(room, ROOM_DO_INSTRUCT)->text = buf;
}

const char *room_line(struct room *room, const struct room_turn *turn)
{
	snprintf(room->line, sizeof room->line, "[%s]: %s", turn->name, turn->heard);
	return room->line;
}
