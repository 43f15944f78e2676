#include "control/room/turn/classifier.h"

#include <stdio.h>

#include "control/room/turn/admission.h"
#include "control/room/inside.h"
#include "control/room/turn/segment.h"
#include "proto/base/time.h"

int room_classifier_parse(const char *text, size_t n)
{
	static const struct {
		const char *word;
		int means;
	} words[] = {{"yes", 1}, {"allow", 1}, {"no", 0}, {"deny", 0}};

	while (n && (*text == ' ' || *text == '\n' || *text == '"' || *text == '*')) {
		text++;
		n--;
	}
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		size_t len = strlen(words[i].word);
		char after = n > len ? text[len] : ' ';

		if (n >= len && strncasecmp(text, words[i].word, len) == 0 &&
		    !((after | 0x20) >= 'a' && (after | 0x20) <= 'z'))
			return words[i].means;
	}
	return -1;
}

size_t room_classifier_prompt(const struct room *room, const struct room_turn *turn, char *buf,
			      size_t size)
{
	const struct room_speaker *holder =
		room_speaker((struct room *)room, room_floor_holder(&room->floor));
	bool active = room_floor_engaged(&room->floor, room->context.settings, room->context.now);
	char moments[ROOM_MOMENTS_MAX], lines[ROOM_TEXT_MAX + ROOM_SEGMENTS * (ROOM_NAME_MAX + 8)];
	size_t n;

	room_moments_text(&room->moments, room->context.now, moments, sizeof moments);
	room_segment_lines(turn, lines, sizeof lines);
	n = (size_t)snprintf(
		buf, size,
		"You are %s, in a voice channel with %u people. Was the last line meant for you? "
		"Answer exactly YES or NO.\nroom: %s\ntalking with you: %s\n"
		"since you spoke others had the word: %u times\nseconds since you spoke or were "
		"spoken to: %llu%s\n%s",
		room->context.name, room_people(room), active ? "ACTIVE" : "AMBIENT",
		active && holder ? holder->name : "nobody", room_floor_others(&room->floor),
		room_floor_relevant_at(&room->floor)
			? (unsigned long long)((room->context.now -
						room_floor_relevant_at(&room->floor)) /
					       NS_PER_S)
			: 9999ull,
		moments, lines);
	return n < size ? n : size - 1;
}

bool room_classifier_ready(const struct room *room)
{
	return room->context.now >= room->classifier.open_until &&
	       room->context.texts.n + ROOM_PROMPT_MAX <= ROOM_TEXTS_MANY;
}

void room_classifier_ask(struct room *room, struct room_turn *turn)
{
	const struct settings *s = room->context.settings;
	struct room_effect *e = room_emit(&room->context, ROOM_DO_CLASSIFY);
	char *prompt = room_text(&room->context, ROOM_PROMPT_MAX, ROOM_TEXTS_MANY);

	if (prompt)
		room_classifier_prompt(room, turn, prompt, ROOM_PROMPT_MAX);
	turn->phase = ROOM_PHASE_CLASSIFYING;
	turn->deadline = room->context.now + s->classify_ms * NS_PER_MS;
	e->turn = turn->id;
	e->text = prompt ? room_text_keep(&room->context, prompt) : "";
	e->ms = s->classify_ms;
}

static void apply_answer(struct room *room, struct room_turn *turn, int answer)
{
	struct room_classifier *c = &room->classifier;
	const struct settings *s = room->context.settings;
	uint64_t took = s->classify_ms - (turn->deadline > room->context.now
						  ? (turn->deadline - room->context.now) / NS_PER_MS
						  : 0);

	if (answer >= 0) {
		c->failures = 0;
		room_turn_decide(turn, ROOM_RULE_CLASSIFIER, answer, (int64_t)took, s->classify_ms);
	} else {
		room_turn_decide(turn, ROOM_RULE_CLASSIFIER_FAILED, true, (int64_t)took,
				 s->classify_ms);
		if (++c->failures >= s->classify_failures) {
			c->failures = 0;
			c->open_until = room->context.now + s->classify_rest_s * NS_PER_S;
		}
	}
	room_turn_admit_classified(room, turn, answer > 0);
}

void room_classifier_on_event(struct room *room, const struct room_event *ev)
{
	struct room_turn *t = ev->type == ROOM_CLASSIFIED ? room_turn_by_id(room, ev->turn) : NULL;

	if (t && t->phase == ROOM_PHASE_CLASSIFYING)
		apply_answer(room, t,
			     ev->yes ? room_classifier_parse((const char *)ev->text.p, ev->text.n)
				     : -1);
}

void room_classifier_time_out(struct room *room, struct room_turn *turn)
{
	apply_answer(room, turn, -1);
}
