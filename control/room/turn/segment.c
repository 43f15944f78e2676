#include "control/room/turn/segment.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/utf8.h"

/* Removes bytes [at, at + n) of the words and moves the segments. */
static void cut_bytes(struct room_turn *t, size_t at, size_t n)
{
	memmove(t->transcript + at, t->transcript + at + n, strlen(t->transcript + at + n) + 1);
	for (unsigned i = 0; i < t->segments; i++) {
		struct room_segment *s = &t->segment[i];

		if (s->at >= at + n) {
			s->at = (uint16_t)(s->at - n);
		} else if (s->at >= at) {
			size_t gone = at + n - s->at;

			s->n = (uint16_t)(s->n > gone ? s->n - gone : 0);
			s->at = (uint16_t)at;
		}
	}
}

static void remove_segment(struct room_turn *t, unsigned i)
{
	t->segments--;
	memmove(&t->segment[i], &t->segment[i + 1], (t->segments - i) * sizeof t->segment[0]);
}

/* Removes one segment with the blank next to it. */
static void drop_segment(struct room_turn *t, unsigned i)
{
	struct room_segment s = t->segment[i];
	size_t n = s.n, at = s.at;

	remove_segment(t, i);
	if (t->transcript[at + n] == ' ')
		n++;
	else if (at && t->transcript[at - 1] == ' ') {
		at--;
		n++;
	}
	cut_bytes(t, at, n);
}

/* Makes room for n more bytes: the oldest words go, up to a blank if there is one. */
static void drop_oldest_words(struct room_turn *t, size_t n)
{
	while (t->segments && strlen(t->transcript) + 1 + n >= sizeof t->transcript) {
		struct room_segment *s = &t->segment[0];
		size_t over = strlen(t->transcript) + 2 + n - sizeof t->transcript, k = over;

		while (k < s->n && t->transcript[s->at + k - 1] != ' ')
			k++;
		if (k >= s->n) {
			t->dropped_head += s->n;
			drop_segment(t, 0);
			continue;
		}
		t->dropped_head += (uint32_t)k;
		cut_bytes(t, s->at, k);
	}
}

void room_segment_add(struct room_turn *turn, uint64_t user, const char *name, uint32_t utterance,
		      const char *text)
{
	struct room_segment *s;
	size_t n, at;

	text += strspn(text, " ");
	n = strlen(text);
	while (n && text[n - 1] == ' ')
		n--;
	n = utf8_whole(text, n < sizeof turn->transcript - 2 ? n : sizeof turn->transcript - 2);
	if (!n)
		return;
	if (turn->segments == ROOM_SEGMENTS) {
		turn->dropped_head += turn->segment[0].n;
		drop_segment(turn, 0);
	}
	drop_oldest_words(turn, n);
	at = strlen(turn->transcript);
	if (at)
		turn->transcript[at++] = ' ';
	memcpy(turn->transcript + at, text, n);
	turn->transcript[at + n] = '\0';
	s = &turn->segment[turn->segments++];
	*s = (struct room_segment){
		.user = user, .utterance = utterance, .at = (uint16_t)at, .n = (uint16_t)n};
	snprintf(s->name, sizeof s->name, "%s", name);
}

void room_segment_text(const struct room_turn *turn, unsigned i, char *buf, size_t size)
{
	size_t n = i < turn->segments ? turn->segment[i].n : 0;

	n = utf8_whole(n ? turn->transcript + turn->segment[i].at : "", n < size ? n : size - 1);
	if (n)
		memcpy(buf, turn->transcript + turn->segment[i].at, n);
	buf[n] = '\0';
}

void room_segment_merge(struct room_turn *into, const struct room_turn *from)
{
	char text[ROOM_TEXT_MAX];

	for (unsigned i = 0; i < from->segments; i++) {
		const struct room_segment *s = &from->segment[i];
		unsigned before = into->segments;

		room_segment_text(from, i, text, sizeof text);
		room_segment_add(into, s->user, s->name, s->utterance, text);
		if (into->segments && (into->segments > before || before == ROOM_SEGMENTS))
			into->segment[into->segments - 1].revision = s->revision;
	}
	into->dropped_head += from->dropped_head;
}

enum room_revised room_segment_revise(struct room_turn *turn, uint64_t user, uint32_t utterance,
				      const char *text)
{
	char rest[ROOM_TEXT_MAX], was[ROOM_TEXT_MAX];
	struct room_turn *t = turn;
	struct room_segment tail[ROOM_SEGMENTS], s;
	unsigned i = 0, n;

	while (i < t->segments &&
	       (t->segment[i].user != user || t->segment[i].utterance != utterance))
		i++;
	if (i == t->segments)
		return ROOM_REVISED_NONE;
	room_segment_text(t, i, was, sizeof was);
	if (strcmp(was, text) == 0 || !text[strspn(text, " ")])
		return ROOM_REVISED_SAME;
	s = t->segment[i];
	n = t->segments - i - 1;
	memcpy(tail, &t->segment[i + 1], n * sizeof tail[0]);
	memcpy(rest, t->transcript, sizeof rest);
	t->segments = i;
	t->transcript[s.at && i ? s.at - 1 : 0] = '\0';
	room_segment_add(t, user, s.name, utterance, text);
	if (t->segments)
		t->segment[t->segments - 1].revision = s.revision + 1;
	for (unsigned k = 0; k < n; k++) {
		snprintf(was, sizeof was, "%.*s", (int)tail[k].n, rest + tail[k].at);
		room_segment_add(t, tail[k].user, tail[k].name, tail[k].utterance, was);
		t->segment[t->segments - 1].revision = tail[k].revision;
	}
	return ROOM_REVISED;
}

unsigned room_segment_drop(struct room_turn *turn, uint64_t user)
{
	for (unsigned i = turn->segments; i-- > 0;)
		if (turn->segment[i].user == user)
			drop_segment(turn, i);
	return turn->segments;
}

bool room_segment_of(const struct room_turn *turn, uint64_t user)
{
	for (unsigned i = 0; i < turn->segments; i++)
		if (turn->segment[i].user == user)
			return true;
	return false;
}

bool room_segment_of_others(const struct room_turn *turn, uint64_t user)
{
	for (unsigned i = 0; i < turn->segments; i++)
		if (turn->segment[i].user != user)
			return true;
	return false;
}

bool room_segment_shared(const struct room_turn *turn)
{
	return turn->segments && room_segment_of_others(turn, turn->segment[0].user);
}

size_t room_segment_lines(const struct room_turn *turn, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < turn->segments; i++) {
		const struct room_segment *s = &turn->segment[i];
		bool goes_on = i && turn->segment[i - 1].user == s->user;
		size_t left = n < size ? size - n : 0;

		if (goes_on || !s->user)
			n += (size_t)snprintf(left ? buf + n : NULL, left, " %.*s", (int)s->n,
					      turn->transcript + s->at);
		else
			n += (size_t)snprintf(left ? buf + n : NULL, left, "%s[%s]: %.*s",
					      i ? "\n" : "", s->name, (int)s->n,
					      turn->transcript + s->at);
	}
	return n;
}
