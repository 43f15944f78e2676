#include "control/room/answer/instructions.h"

#include <string.h>

#include "control/room/base/answers.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

enum { IN_FLIGHT_S = 5 };

void room_report_change(struct room_context *context)
{
	struct room_instructions *f = context->instructions;

	if (f->dirty)
		return;
	f->dirty = true;
	f->due = context->now;
	if (f->told)
		f->due += context->settings->context_refresh_ms * NS_PER_MS;
}

void room_instructions_tick(struct room_instructions *f, struct room_context *context)
{
	char text[ROOM_PROMPT_MAX];
	struct room_effect *e;

	if (f->in_flight && context->now >= f->until)
		f->in_flight = false;
	if (!f->dirty || f->in_flight || context->now < f->due)
		return;
	f->dirty = false;
	room_prompt_instructions(context, text, sizeof text);
	if (f->told && strcmp(text, f->text) == 0)
		return;
	memcpy(f->text, text, sizeof f->text);
	f->told = f->in_flight = true;
	f->until = context->now + IN_FLIGHT_S * NS_PER_S;
	e = room_emit(context, ROOM_DO_INSTRUCT);
	e->text = f->text;
	e->chunk = ++f->number;
}

void room_instructions_on_event(struct room_instructions *f, const struct room_context *context,
				const struct room_event *ev)
{
	(void)context;
	if (ev->type != ROOM_INSTRUCTED || ev->chunk != f->number)
		return;
	f->in_flight = false;
	f->due = 0;
}

bool room_answer_instruct(struct room_context *context)
{
	struct room_instructions *f = context->instructions;

	if (f->dirty)
		f->due = context->now;
	room_instructions_tick(f, context);
	return !room_answer_uninstructed(context);
}

bool room_answer_uninstructed(const struct room_context *context)
{
	return context->instructions->dirty || context->instructions->in_flight;
}

uint64_t room_instructions_deadline(const struct room_instructions *f,
				    const struct room_context *context)
{
	(void)context;
	if (f->in_flight)
		return f->until;
	return f->dirty ? f->due : UINT64_MAX;
}
