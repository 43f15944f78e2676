#include "control/room/answer/response_watchdog.h"

#include <string.h>

#include "control/room/answer/output.h"
#include "control/room/answer/prompt.h"
#include "control/room/answer/reply.h"
#include "control/room/answer/wait_line.h"
#include "control/room/base/hearing.h"
#include "control/room/base/context.h"
#include "control/room/base/turns.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

/* The turn whose first audio is awaited, or NULL. */
static struct room_turn *find_awaited_turn(const struct room_context *context)
{
	struct room_turn *t = room_turn_active(context);

	/* A complete answer that is held back is not requested again. */
	return t && t->phase == ROOM_PHASE_ASKED && !t->brain_done && !room_answer_planned(context)
		       ? t
		       : NULL;
}

void room_watchdog_asked(struct room_retry *l, const struct room_context *context,
			 struct room_turn *turn)
{
	*l = (struct room_retry){0};
	room_retry_asked(l, context->now);
	if (!room_answer_planned(context))
		turn->deadline = UINT64_MAX;
}

static void ask_on(struct room_retry *l, struct room_context *context, struct room_turn *t)
{
	struct room_effect *e;

	l->waits_until = 0;
	t->sinks |= ROOM_SINK_BRAIN;
	room_retry_asked(l, context->now);
	t->deadline = find_awaited_turn(context) && !t->samples
			      ? UINT64_MAX
			      : context->now + context->settings->stall_ms * NS_PER_MS;
	e = room_emit(context, ROOM_DO_ASK_AGAIN);
	e->turn = t->id;
	room_prompt_writings(context, e);
}

/* All its tools are done: asks the brain to continue with their outputs. A voice model speaks
 * faster than its audio is played, so it is asked when little of that is left. */
static void ask_with_outputs(struct room_retry *l, struct room_context *context,
			     struct room_turn *t)
{
	uint64_t until =
		room_answer_planned(context) ? 0 : room_reply_wait(context->reply, context);

	if (until <= context->now) {
		ask_on(l, context, t);
		return;
	}
	/* A playback that does not begin is no reason to wait for ever. */
	if (!l->waits_until || until != UINT64_MAX)
		t->deadline = (until == UINT64_MAX ? context->now : until) +
			      context->settings->stall_ms * NS_PER_MS;
	l->waits_for = t->id;
	l->waits_until = until;
}

bool room_watchdog_done(struct room_retry *l, struct room_context *context, struct room_turn *turn)
{
	if (l->tools) {
		/* The brain is asked again when their outputs arrive. */
		turn->sinks &= ~(unsigned)ROOM_SINK_BRAIN;
		turn->deadline = context->now + context->settings->tool_ms * NS_PER_MS;
		return true;
	}
	if (l->outputs) {
		ask_with_outputs(l, context, turn);
		return true;
	}
	if (turn->phase != ROOM_PHASE_ASKED || room_answer_planned(context) || turn->samples ||
	    *turn->answer)
		return false;
	turn->sinks &= ~(unsigned)ROOM_SINK_BRAIN;
	return room_retry_done(l, context->now);
}

/* The active turn, if the tool works for it. */
static struct room_turn *find_served(const struct room_context *context,
				     const struct room_event *ev)
{
	struct room_turn *t = room_turn_active(context);
	bool own = t && (ev->turn ? t->id == ev->turn : t->user == ev->user);

	return own && t->phase >= ROOM_PHASE_ASKED && t->phase <= ROOM_PHASE_SPEAKING ? t : NULL;
}

/* A tool decided that nothing is said. */
static bool keep_silent(struct room_context *context, const struct room_event *ev,
			struct room_turn *t)
{
	if (ev->yes || ev->follow != ROOM_TOOL_SILENCE || t->released)
		return false;
	room_turn_decide(t, ROOM_RULE_SKIP, true, 0, 0);
	room_turn_cancel(context, t, ROOM_REASON_NO_ANSWER);
	return true;
}

/* Says that it takes a moment. */
static void say_wait(struct room_retry *l, struct room_context *context,
		     const struct room_event *ev)
{
	struct room_turn *t = find_served(context, ev);
	enum room_wait_line which = ev->chunk ? ROOM_WAIT_LINE_STILL : ROOM_WAIT_LINE_FIRST;
	const char *line = room_wait_line_text(context->settings, which);

	if (!t || !*line)
		return;
	if (!room_answer_planned(context)) {
		room_wait_line_say(l, context, t, which);
		return;
	}
	room_reply_add_text(context->reply, context, t,
			    (struct slice){(const uint8_t *)line, strlen(line)});
	room_reply_add_text(context->reply, context, t, (struct slice){(const uint8_t *)" ", 1});
}

static void watch_tools(struct room_retry *l, struct room_context *context,
			const struct room_event *ev)
{
	struct room_turn *t = ev->type == ROOM_TOOL ? find_served(context, ev) : NULL;
	bool worked = l->tools;

	if (!t)
		return;
	room_retry_tool(l, ev->yes, ev->follow == ROOM_TOOL_GOES_ON, context->now);
	t->sinks = l->tools ? t->sinks | ROOM_SINK_TOOLS : t->sinks & ~(unsigned)ROOM_SINK_TOOLS;
	if (keep_silent(context, ev, t) || !worked || l->tools || (t->sinks & ROOM_SINK_BRAIN) ||
	    t->brain_done)
		return;
	if (l->outputs)
		ask_with_outputs(l, context, t);
	else
		room_output_complete(context, t);
}

void room_watchdog_on_event(struct room_retry *l, struct room_context *context,
			    const struct room_event *ev)
{
	if (ev->type == ROOM_TOOL_WAIT)
		say_wait(l, context, ev);
	watch_tools(l, context, ev);
}

/* The audio that was waited for was played, or begins to be. */
static void tick_outputs(struct room_retry *l, struct room_context *context)
{
	struct room_turn *t = room_turn_active(context);

	if (!l->waits_until || l->tools)
		return;
	if (!t || t->id != l->waits_for || t->phase < ROOM_PHASE_ASKED ||
	    t->phase > ROOM_PHASE_SPEAKING)
		l->waits_until = 0;
	else if (l->waits_until == UINT64_MAX || context->now >= l->waits_until)
		ask_with_outputs(l, context, t);
}

void room_watchdog_tick(struct room_retry *l, struct room_context *context)
{
	const struct settings *s = context->settings;
	struct room_turn *t = find_awaited_turn(context);
	bool done = l->done_at;

	tick_outputs(l, context);
	if (!t)
		return;
	switch (room_retry_tick(l, s, room_speech_until(context, NULL, true), context->now)) {
	case ROOM_RETRY_WAIT:
		break;
	case ROOM_RETRY_AGAIN:
		room_turn_decide(t, ROOM_RULE_SILENT_RETRY, true, l->retries, s->response_retries);
		room_answer_ask_again(context, t, false);
		break;
	case ROOM_RETRY_RECOVER:
		room_turn_decide(t, ROOM_RULE_HARD_RECOVERY, true, l->retries, s->response_retries);
		room_answer_ask_again(context, t, true);
		break;
	case ROOM_RETRY_GIVE_UP:
		room_turn_decide(t, ROOM_RULE_SILENT_RETRY, false, l->retries + 1,
				 s->response_retries);
		room_turn_cancel(context, t,
				 done ? ROOM_REASON_NO_ANSWER : ROOM_REASON_BRAIN_FAILED);
		break;
	case ROOM_RETRY_WATCHDOG:
		room_turn_decide(t, ROOM_RULE_FIRST_AUDIO, false,
				 (int64_t)(l->tools ? s->tool_ms : s->first_audio_ms),
				 (int64_t)(l->tools ? s->tool_ms : s->first_audio_ms));
		room_turn_cancel(context, t,
				 l->tools ? ROOM_REASON_TOOL_FAILED : ROOM_REASON_BRAIN_FAILED);
		break;
	}
}

uint64_t room_watchdog_deadline(const struct room_retry *l, const struct room_context *context)
{
	uint64_t waits = l->waits_until ? l->waits_until : UINT64_MAX, at;

	if (!find_awaited_turn(context))
		return waits;
	at = room_retry_deadline(l, context->settings, room_speech_until(context, NULL, true));
	return waits < at ? waits : at;
}
