#include "control/room/answer/addressee.h"

#include <stdio.h>
#include <string.h>

#include "control/prompts/prompts.def"
#include "control/room/answer/directive.h"
#include "control/room/base/text.h"
#include "control/room/base/turns.h"
#include "control/room/turn/segment.h"
#include "control/settings/settings.h"
#include "proto/base/utf8.h"

enum { PROMPT_MAX = 8192, NAMES_MAX = 1024, SAID_MAX = 1200 };

uint64_t room_addressee_by_name(const struct room_context *context, const char *name)
{
	char plain[ROOM_NAME_MAX];

	room_clean_name(name, strlen(name), plain, sizeof plain);
	return room_person_by_name(context, plain);
}

static void list_names(const struct room_context *context, char *buf)
{
	const char *name;
	unsigned place = 0;
	size_t n = 0;

	buf[0] = '\0';
	while ((name = room_person_next(context, &place)) && n + ROOM_NAME_MAX + 2 < NAMES_MAX)
		n += (size_t)snprintf(buf + n, NAMES_MAX - n, "%s%s", n ? ", " : "", name);
}

void room_addressee_ask(struct room_context *context, const struct room_turn *turn)
{
	const struct settings *s = context->settings;
	char lines[ROOM_TEXT_MAX + ROOM_SEGMENTS * (ROOM_NAME_MAX + 8)], names[NAMES_MAX], *prompt;
	struct room_effect *e;

	if (!s->ask_addressee || s->interruptions != SETTINGS_INTERRUPT_SPEAKER ||
	    s->reply_path == SETTINGS_REPLY_BRAIN || !turn->user || !*turn->answer ||
	    turn->policy.why == ROOM_POLICY_TARGET || turn->policy.why == ROOM_POLICY_TARGET_ALL ||
	    room_people_present(context) < 2)
		return;
	prompt = room_text(context, PROMPT_MAX, ROOM_TEXTS_MANY);
	if (!prompt)
		return;
	list_names(context, names);
	room_segment_lines(turn, lines, sizeof lines);
	snprintf(prompt, PROMPT_MAX, PROMPT_ADDRESSEE, context->name, names, SAID_MAX, lines,
		 context->name, SAID_MAX, turn->answer, turn->name);
	utf8_mend(prompt);
	e = room_emit(context, ROOM_DO_ADDRESSEE);
	e->turn = turn->id;
	e->text = room_text_keep(context, prompt);
}

/* The answer is one token; blanks, quotes and a full stop around it do not count. */
static struct slice trim_token(struct slice text)
{
	static const char around[] = " \n\r\t\"'*.[]";

	while (text.n && memchr(around, text.p[0], sizeof around - 1)) {
		text.p++;
		text.n--;
	}
	while (text.n && memchr(around, text.p[text.n - 1], sizeof around - 1))
		text.n--;
	return text;
}

void room_addressee_on_event(struct room_context *context, const struct room_event *ev)
{
	struct room_turn *t = ev->type == ROOM_ADDRESSEE ? room_turn_active(context) : NULL;
	struct slice token = trim_token(ev->text);
	char name[ROOM_TO_MAX + 1];
	enum room_target target = ROOM_TARGET_SPEAKER;
	uint64_t user = 0;
	enum room_to to;

	if (!t || t->id != ev->turn || t->phase < ROOM_PHASE_ASKED ||
	    t->phase > ROOM_PHASE_SPEAKING)
		return;
	to = room_directive_addressee((const char *)token.p, token.n);
	if (to == ROOM_TO_NAME) {
		snprintf(name, sizeof name, "%.*s", (int)token.n, (const char *)token.p);
		user = room_addressee_by_name(context, name);
		to = user ? to : ROOM_TO_NOBODY;
		target = ROOM_TARGET_USER;
	} else if (to == ROOM_TO_ALL) {
		target = ROOM_TARGET_ALL;
	}
	room_turn_decide(t, ROOM_RULE_ADDRESSEE, to != ROOM_TO_NOBODY, to, 0);
	if (to != ROOM_TO_NOBODY)
		t->policy = room_interruption_policy(context->settings->interruptions, target, user,
						     t->user);
}
