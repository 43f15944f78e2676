/* What the brain is told besides the words: its part, its name, who is there. Names come from
 * Discord and could hold anything, so they are made one plain line before they stand next to
 * instructions. */
#include <stdio.h>

#include "control/room/inside.h"
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

void room_instruct(struct room *room)
{
	/* Names go in whole or not at all; this much is left for the words after them. */
	static const char more[] = ", and others";
	char *buf = room->instructions;
	size_t size = sizeof room->instructions - sizeof more, n;
	bool any = false;

	n = (size_t)snprintf(buf, size, "%s\nYour name is %s.\npeople in the room: ",
			     room->settings->instructions, room->name);
	for (unsigned i = 0; i < ROOM_SPEAKERS; i++) {
		const struct room_speaker *sp = &room->speaker[i];

		if (!sp->used || sp->is_bot)
			continue;
		if (n + strlen(sp->name) + 3 > size) {
			memcpy(buf + n, more, sizeof more);
			break;
		}
		n += (size_t)snprintf(buf + n, size - n, "%s%s", any ? ", " : "", sp->name);
		any = true;
	}
	if (!any)
		snprintf(buf + n, size - n, "nobody");
	room_do(room, ROOM_DO_INSTRUCT)->text = buf;
}

const char *room_line(struct room *room, const struct room_turn *turn)
{
	snprintf(room->line, sizeof room->line, "[%s]: %s", turn->name, turn->heard);
	return room->line;
}
