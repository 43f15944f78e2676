#include "control/room/turn/classifier.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "control/prompts/prompts.def"
#include "control/room/floor/floor.h"
#include "control/room/turn/admission.h"
#include "control/room/turn/history.h"
#include "control/room/turn/moments.h"
#include "control/room/turn/segment.h"
#include "control/room/base/turns.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

int room_classifier_parse(const char *text, size_t n)
{
	static const struct {
		const char *word;
		int means;
	} words[] = {{"yes", 1}, {"allow", 1}, {"interrupt", 1},
		     {"no", 0},	 {"deny", 0},  {"ignore", 0}};

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

/* ---- circuit breakers ---- */

bool room_breaker_open(const struct room_breaker *b, uint64_t now)
{
	return now < b->open_until;
}

void room_breaker_record(struct room_breaker *b, const struct settings *s, bool failed,
			 uint64_t now)
{
	if (!failed) {
		b->failures = 0;
	} else if (++b->failures >= s->classify_failures) {
		b->failures = 0;
		b->open_until = now + s->classify_rest_s * NS_PER_S;
	}
}

/* ---- the prompt ---- */

enum { PROMPT_MAX = 16384, PEOPLE_MAX = 2048, EARLIER_MAX = 8192 };

void room_classifier_people(const struct room_context *context, char *buf, size_t size)
{
	unsigned place = 0, most = context->settings->classify_people;
	const char *name;
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < most && n + ROOM_NAME_MAX + 4 < size; i++) {
		name = room_person_next(context, &place);
		if (!name)
			return;
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? ", " : ": ", name);
	}
}

const char *room_classifier_cut(const char *text, unsigned chars)
{
	const char *p = text + strlen(text);

	while (p > text && chars) {
		p--;
		chars -= (*p & 0xc0) != 0x80;
	}
	return p;
}

/* The latest lines before the turn's own words, oldest first. */
static void write_earlier(const struct room_context *context, const struct room_turn *turn,
			  char *buf, size_t size)
{
	const struct settings *s = context->settings;
	const struct room_history *h = context->history;
	unsigned from = room_history_count(h), left = s->classify_turns;
	size_t n = 0;

	buf[0] = '\0';
	while (from > 0 && left) {
		const struct room_history_line *l = room_history_at(h, --from);

		left -= l->turn != turn->id || l->bot;
	}
	for (; from < room_history_count(h); from++) {
		const struct room_history_line *l = room_history_at(h, from);
		const char *text = room_classifier_cut(l->text, s->classify_chars);

		if ((l->turn == turn->id && !l->bot) || l->withheld ||
		    n + strlen(text) + ROOM_NAME_MAX + 8 > size)
			continue;
		n += (size_t)snprintf(buf + n, size - n, "[%s]: %s\n",
				      l->bot ? context->name : l->name, text);
	}
}

/* Always terminated. */
static void write_prompt(const struct room_context *context, const struct room_turn *turn,
			 char *buf)
{
	const struct room_floor *floor = context->floor;
	const char *holder = room_person_name(context, room_floor_holder(floor));
	bool active = room_floor_engaged(floor, context->settings, context->now);
	const char *own = context->settings->classify_prompt;
	char moments[ROOM_MOMENTS_MAX], lines[ROOM_TEXT_MAX + ROOM_SEGMENTS * (ROOM_NAME_MAX + 8)];
	char people[PEOPLE_MAX], earlier[EARLIER_MAX];
	int n;

	room_moments_text(context->moments, context->now, moments, sizeof moments);
	room_segment_lines(turn, lines, sizeof lines);
	room_classifier_people(context, people, sizeof people);
	write_earlier(context, turn, earlier, sizeof earlier);
	n = snprintf(buf, PROMPT_MAX, PROMPT_REPLY_DECISION, context->name,
		     room_people_present(context), people, *own ? own : PROMPT_REPLY_QUESTION,
		     active ? "ACTIVE" : "AMBIENT", active && holder ? holder : "nobody",
		     room_floor_others(floor),
		     room_floor_relevant_at(floor)
			     ? (unsigned long long)((context->now - room_floor_relevant_at(floor)) /
						    NS_PER_S)
			     : 9999ull,
		     moments, earlier, lines);
	if (n >= PROMPT_MAX)
		buf[utf8_whole(buf, PROMPT_MAX - 1)] = '\0';
}

bool room_classifier_ready(const struct room_classifier *c, const struct room_context *context)
{
	return !room_breaker_open(&c->breaker, context->now) &&
	       context->texts.n + PROMPT_MAX <= ROOM_TEXTS_MANY;
}

uint32_t room_classifier_number(struct room_context *context)
{
	return ++context->classifier->question;
}

void room_classifier_ask(struct room_context *context, struct room_turn *turn)
{
	const struct settings *s = context->settings;
	struct room_effect *e = room_emit(context, ROOM_DO_CLASSIFY);
	char *prompt = room_text(context, PROMPT_MAX, ROOM_TEXTS_MANY);

	if (prompt)
		write_prompt(context, turn, prompt);
	turn->phase = ROOM_PHASE_CLASSIFYING;
	turn->question = room_classifier_number(context);
	turn->deadline = context->now + s->classify_ms * NS_PER_MS;
	e->turn = turn->id;
	e->chunk = turn->question;
	e->text = prompt ? room_text_keep(context, prompt) : "";
	e->ms = s->classify_ms;
}

static void apply_answer(struct room_classifier *c, struct room_context *context,
			 struct room_turn *turn, int answer, bool late)
{
	const struct settings *s = context->settings;
	uint64_t now = context->now;
	uint64_t left = turn->deadline > now ? (turn->deadline - now) / NS_PER_MS : 0;
	uint64_t took = s->classify_ms - left;

	if (answer < 0 && !late && ++turn->classify_attempts < s->classify_attempts) {
		room_classifier_ask(context, turn);
		return;
	}
	if (answer >= 0) {
		room_turn_decide(turn, ROOM_RULE_CLASSIFIER, answer, (int64_t)took, s->classify_ms);
	} else {
		room_turn_decide(turn, ROOM_RULE_CLASSIFIER_FAILED, true, (int64_t)took,
				 s->classify_ms);
	}
	turn->question = 0;
	room_breaker_record(&c->breaker, s, answer < 0, now);
	room_turn_admit_classified(context, turn, answer > 0);
}

void room_classifier_on_event(struct room_classifier *c, struct room_context *context,
			      const struct room_event *ev)
{
	struct room_turn *t =
		ev->type == ROOM_CLASSIFIED ? room_turn_by_id(context, ev->turn) : NULL;

	if (t && t->phase == ROOM_PHASE_CLASSIFYING && !t->overlap_judged &&
	    t->question == ev->chunk)
		apply_answer(c, context, t,
			     ev->yes ? room_classifier_parse((const char *)ev->text.p, ev->text.n)
				     : -1,
			     !ev->yes);
}

void room_classifier_time_out(struct room_classifier *c, struct room_context *context,
			      struct room_turn *turn)
{
	apply_answer(c, context, turn, -1, true);
}
