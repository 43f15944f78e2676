#include "control/room/answer/tool_results.h"

#include <stdio.h>
#include <string.h>

#include "control/prompts/prompts.def"
#include "control/room/answer/thought.h"
#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/people.h"
#include "control/room/base/turns.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

static void keep_note(struct room_tool_results *r, const char *text, size_t n)
{
	char *note = r->note[r->notes++ % ROOM_TOOL_NOTES];

	snprintf(note, ROOM_TOOL_NOTE_MAX, "%.*s", (int)n, text);
	utf8_mend(note);
	utf8_plain(note);
}

/* text begins with the name of the tool and a colon. */
static void keep_name(struct room_tool_results *r, const char *text, size_t n)
{
	static const char rest[] = ": its result was not told";
	char note[ROOM_TOOL_NOTE_MAX];
	const char *end = memchr(text, ':', n);
	size_t name = end ? (size_t)(end - text) : 0;

	snprintf(note, sizeof note, "%.*s%s", (int)(name < 100 ? name : 100), text, rest);
	keep_note(r, note, strlen(note));
}

static void keep_result_note(struct room_tool_results *r, const struct room_result *x)
{
	if (x->order || x->writer)
		return;
	if (x->tainted)
		keep_name(r, x->text, strlen(x->text));
	else
		keep_note(r, x->text, strlen(x->text));
}

/* A free place, else that of the oldest result, which becomes a note. */
static struct room_result *find_place(struct room_tool_results *r)
{
	struct room_result *best = &r->result[0];

	for (unsigned i = 1; i < ROOM_RESULTS; i++)
		if (r->result[i].since < best->since)
			best = &r->result[i];
	if (best->since)
		keep_result_note(r, best);
	return best;
}

static void keep_result(struct room_tool_results *r, const struct room_context *context,
			const struct room_event *ev)
{
	struct room_result *place = find_place(r);

	*place = (struct room_result){.since = context->now,
				      .tainted = ev->tainted,
				      .order = ev->type == ROOM_ORDER,
				      .number = ev->type == ROOM_ORDER ? ev->message : 0};
	if (ev->type == ROOM_WRITTEN)
		place->writer = ev->user;
	snprintf(place->text, sizeof place->text, "%.*s", (int)ev->text.n,
		 (const char *)ev->text.p);
	utf8_mend(place->text);
	utf8_plain(place->text);
	r->look_at = context->now;
}

/* Somebody who stops the bot does not want to hear earlier words. */
static void drop_orders(struct room_tool_results *r)
{
	for (unsigned i = 0; i < ROOM_RESULTS; i++)
		if (r->result[i].order || r->result[i].writer)
			r->result[i] = (struct room_result){0};
}

static void drop_questions(struct room_tool_results *r, uint64_t writer)
{
	for (unsigned i = 0; i < ROOM_RESULTS; i++)
		if (r->result[i].writer == writer)
			r->result[i] = (struct room_result){0};
}

void room_tool_results_on_event(struct room_tool_results *r, struct room_context *context,
				const struct room_event *ev)
{
	bool told = (ev->yes && (ev->type == ROOM_TOOL_RESULT || ev->type == ROOM_ORDER)) ||
		    ev->type == ROOM_WRITTEN;
	bool noted = told || (ev->type == ROOM_TOOL && !ev->yes) || ev->type == ROOM_TOOL_RESULT;

	/* A note may quote what a tool found in the memory. */
	if (ev->type == ROOM_WITHDRAWN) {
		memset(r->note, 0, sizeof r->note);
		drop_questions(r, ev->user);
	}
	if (ev->type == ROOM_ORDER && !ev->yes)
		drop_orders(r);
	if (!noted || !ev->text.n)
		return;
	if (told)
		keep_result(r, context, ev);
	else if (ev->tainted)
		keep_name(r, (const char *)ev->text.p, ev->text.n);
	else
		keep_note(r, (const char *)ev->text.p, ev->text.n);
}

/* Its turn is over: heard, or withdrawn. */
static void follow_turn(struct room_context *context, struct room_result *x)
{
	const struct room_turn *t = room_turn_by_id(context, x->turn);

	if (t && t->phase != ROOM_PHASE_ENDED)
		return;
	x->turn = 0;
	if (!t || t->reason != ROOM_REASON_THOUGHT_WITHDRAWN)
		x->since = 0;
}

/* Of the prompt with a question in writing, the question is its writer's. */
static void quote_writer(struct room_turn *t, const struct room_result *x, const char *name)
{
	const char *at = x->writer ? strstr(t->transcript, x->text) : NULL;

	if (!at)
		return;
	t->quoted_at = (uint16_t)(at - t->transcript);
	t->quoted_n = (uint16_t)strlen(x->text);
	t->quoted_user = x->writer;
	t->quoted_since = x->since;
	snprintf(t->quoted_name, sizeof t->quoted_name, "%s", name);
}

static void tell_result(struct room_context *context, struct room_result *x)
{
	char line[sizeof PROMPT_TOOL_RESULT + sizeof PROMPT_ORDER + sizeof PROMPT_WRITTEN +
		  ROOM_NAME_MAX + ROOM_RESULT_MAX];
	char name[ROOM_NAME_MAX] = "";
	struct room_turn *t;

	if (x->writer) {
		room_person_label(context, x->writer, "", name);
		snprintf(line, sizeof line, PROMPT_WRITTEN, name, x->text);
	} else {
		snprintf(line, sizeof line, x->order ? PROMPT_ORDER : PROMPT_TOOL_RESULT, x->text);
	}
	t = room_turn_new_prompted(context, line);
	if (!t)
		return;
	quote_writer(t, x, name);
	t->order = x->number;
	x->turn = t->id;
	room_turn_decide(t,
			 x->writer  ? ROOM_RULE_WRITTEN
			 : x->order ? ROOM_RULE_ORDER
				    : ROOM_RULE_TOOL_RESULT,
			 true, (int64_t)((context->now - x->since) / NS_PER_MS), 0);
	room_answer_ask(context, t);
}

void room_tool_results_tick(struct room_tool_results *r, struct room_context *context)
{
	bool looked = context->now >= r->look_at;

	for (unsigned i = 0; i < ROOM_RESULTS; i++) {
		struct room_result *x = &r->result[i];

		if (x->turn)
			follow_turn(context, x);
		if (!x->since || x->turn || !looked)
			continue;
		if (context->now >= x->since + ROOM_RESULT_S * NS_PER_S) {
			keep_result_note(r, x);
			x->since = 0;
		} else if (x->order || x->writer ? room_thought_has_floor(context)
						 : room_thought_is_quiet(context)) {
			tell_result(context, x);
		}
	}
	if (looked)
		r->look_at = context->now + context->settings->retry_ms * NS_PER_MS;
}

uint64_t room_tool_results_deadline(const struct room_tool_results *r,
				    const struct room_context *context)
{
	(void)context;
	for (unsigned i = 0; i < ROOM_RESULTS; i++)
		if (r->result[i].since && !r->result[i].turn)
			return r->look_at;
	return UINT64_MAX;
}

bool room_tool_results_holds(const struct room_tool_results *r, uint64_t order)
{
	for (unsigned i = 0; order && i < ROOM_RESULTS; i++)
		if (r->result[i].since && r->result[i].number == order)
			return true;
	return false;
}

void room_tool_results_text(const struct room_tool_results *r, char *buf, size_t size)
{
	unsigned kept = r->notes < ROOM_TOOL_NOTES ? r->notes : ROOM_TOOL_NOTES;
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = r->notes - kept; i < r->notes && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s\n", r->note[i % ROOM_TOOL_NOTES]);
}
