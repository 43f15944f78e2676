#include "control/room/answer/prompt.h"

#include <stdio.h>

#include "control/room/inside.h"
#include "control/room/turn/segment.h"
#include "proto/base/time.h"
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

/* Names come from Discord and could hold anything, so they are made one plain line before they
 * stand next to instructions. */
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

/* ---- sections ---- */

/* Of the text that is left, for one person's name and the words around it. */
enum { PEOPLE_MIN = 160 };

struct text {
	char *buf;
	size_t n, size; /* size: with the NUL */
};

static size_t left(const struct text *t)
{
	return t->size - 1 - t->n;
}

/* All of it, or none and false. */
static bool put(struct text *t, const char *what)
{
	size_t n = strlen(what);

	if (n > left(t))
		return false;
	memcpy(t->buf + t->n, what, n + 1);
	t->n += n;
	return true;
}

/* As much as fits and as `most` allows, whole characters. */
static void put_cut(struct text *t, const char *what, size_t most)
{
	size_t n = strlen(what), room_left = left(t);

	if (most > room_left)
		most = room_left;
	if (n > most)
		n = utf8_whole(what, most);
	memcpy(t->buf + t->n, what, n);
	t->n += n;
	t->buf[t->n] = '\0';
}

static void people(const struct room *room, struct text *t)
{
	static const char more[] = ", and others";
	unsigned n = 0;

	put(t, "\npeople in the room: ");
	/* Names go in whole or not at all; this much is left for the words after them. */
	t->size -= sizeof more;
	for (unsigned i = 0; i < room->places; i++) {
		const struct room_speaker *sp = &room->speaker[i];
		char one[ROOM_NAME_MAX + 2];

		if (!sp->used || sp->is_bot)
			continue;
		snprintf(one, sizeof one, "%s%s", n ? ", " : "", sp->name);
		if (n == ROOM_PROMPT_PEOPLE || !put(t, one)) {
			t->size += sizeof more;
			put(t, more);
			return;
		}
		n++;
	}
	t->size += sizeof more;
	if (!n)
		put(t, "nobody");
}

/* What is said now is not of the conversation before it, though its words came before it. */
static bool before_now(const struct room_history_line *l, const struct room_turn *turn)
{
	return l->turn != turn->id && (l->bot || !strstr(turn->transcript, l->text));
}

static size_t line_of(const struct room *room, const struct room_history_line *l, char *buf,
		      size_t size)
{
	return (size_t)snprintf(buf, size, "\n[%s]: %s%s", l->bot ? room->name : l->name,
				l->cut ? "[interrupted] " : "", l->text);
}

static void conversation(const struct room *room, const struct room_turn *turn, struct text *t)
{
	static const char head[] = "\nsaid before:";
	char one[ROOM_HISTORY_TEXT + ROOM_NAME_MAX + 32];
	size_t need = sizeof head - 1;
	unsigned from = room->history.n, lines = 0;

	while (from && lines < room->settings->context_turns) {
		const struct room_history_line *l = room_history_at(&room->history, from - 1);

		if (before_now(l, turn)) {
			need += line_of(room, l, one, sizeof one);
			if (need > left(t))
				break;
			lines++;
		}
		from--;
	}
	if (!lines)
		return;
	put(t, head);
	for (; from < room->history.n; from++) {
		const struct room_history_line *l = room_history_at(&room->history, from);

		if (!before_now(l, turn))
			continue;
		line_of(room, l, one, sizeof one);
		put(t, one);
	}
}

size_t room_prompt_build(const struct room *room, const struct room_turn *turn, char *buf,
			 size_t size)
{
	size_t most = room->settings->context_bytes + 1;
	struct text t = {.buf = buf, .size = most < size ? most : size};
	char lines[ROOM_PROMPT_NOW + 1] = "", name[ROOM_NAME_MAX + 32];
	size_t now = 0;

	if (turn) {
		char all[ROOM_TEXT_MAX + ROOM_SEGMENTS * (ROOM_NAME_MAX + 8)];

		room_segment_lines(turn, all, sizeof all);
		utf8_copy(lines, sizeof lines, all);
		now = strlen(lines) + 8;
	}
	buf[0] = '\0';
	t.size -= now < t.size ? now : 0;
	snprintf(name, sizeof name, "\nYour name is %s.", room->name);
	put_cut(&t, room->settings->instructions, left(&t) - strlen(name) - PEOPLE_MIN);
	put(&t, name);
	people(room, &t);
	if (turn) {
		char moments[ROOM_MOMENTS_MAX];

		room_moments_text(&room->moments, room->now, moments, sizeof moments);
		put_cut(&t, moments, sizeof moments);
		if (t.n && buf[t.n - 1] == '\n')
			buf[--t.n] = '\0';
		conversation(room, turn, &t);
		t.size += now;
		put(&t, "\nnow:\n");
		put_cut(&t, lines, sizeof lines);
	}
	return t.n;
}

/* ---- the instructions follow the room ---- */

enum { IN_FLIGHT_S = 5 };

void room_instructions_changed(struct room *room)
{
	struct room_instructions_refresh *f = &room->refresh;

	if (f->dirty)
		return;
	f->dirty = true;
	f->due = room->now;
	if (f->told)
		f->due += room->settings->context_refresh_ms * NS_PER_MS;
}

void room_instructions_tick(struct room *room)
{
	struct room_instructions_refresh *f = &room->refresh;
	char text[ROOM_PROMPT_MAX];

	if (f->in_flight && room->now >= f->until)
		f->in_flight = false;
	if (!f->dirty || f->in_flight || room->now < f->due)
		return;
	f->dirty = false;
	room_prompt_build(room, NULL, text, sizeof text);
	if (f->told && strcmp(text, room->instructions) == 0)
		return;
	memcpy(room->instructions, text, sizeof room->instructions);
	f->told = f->in_flight = true;
	f->until = room->now + IN_FLIGHT_S * NS_PER_S;
	room_emit(room, ROOM_DO_INSTRUCT)->text = room->instructions;
}

void room_instructions_applied(struct room *room)
{
	room->refresh.in_flight = false;
	room->refresh.due = 0;
}

bool room_instructions_flush(struct room *room)
{
	if (room->refresh.dirty)
		room->refresh.due = room->now;
	room_instructions_tick(room);
	return !room_instructions_pending(room);
}

bool room_instructions_pending(const struct room *room)
{
	return room->refresh.dirty || room->refresh.in_flight;
}

uint64_t room_instructions_deadline(const struct room *room)
{
	const struct room_instructions_refresh *f = &room->refresh;

	if (f->in_flight)
		return f->until;
	return f->dirty ? f->due : UINT64_MAX;
}

const char *room_prompt_line(struct room *room, const struct room_turn *turn)
{
	char *line = room_text(room, ROOM_LINE_MAX, ROOM_TEXTS);
	size_t n;

	if (!line)
		return "";
	n = room_followup_recovery(&room->followup, room->settings, turn, room->now, line,
				   ROOM_LINE_MAX);
	room_segment_lines(turn, line + n, ROOM_LINE_MAX - n);
	return room_text_keep(room, line);
}

const char *room_prompt_text(struct room *room, const struct room_turn *turn)
{
	char *prompt = room_text(room, ROOM_PROMPT_MAX, ROOM_TEXTS);

	if (!prompt)
		return "";
	room_prompt_build(room, turn, prompt, ROOM_PROMPT_MAX);
	return room_text_keep(room, prompt);
}
