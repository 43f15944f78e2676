/* The response watchdog of the room: applies the retry policy (retry_policy.h) to the active turn.
 */
#include "control/room/inside.h"
#include "control/room/answer/retry_policy.h"
#include "control/room/turn/turn_queue.h"
#include "proto/base/time.h"

/* The turn whose first audio is awaited, or NULL. */
static struct room_turn *find_awaited_turn(const struct room *room)
{
	struct room_turn *t = room->active;

	/* A complete answer that is held back is not requested again. */
	return t && t->phase == ROOM_PHASE_ASKED && !t->brain_done &&
			       !room_reply_planned(&room->reply)
		       ? t
		       : NULL;
}

void room_watchdog_asked(struct room *room, struct room_turn *turn)
{
	room->retry = (struct room_retry){0};
	room_retry_asked(&room->retry, room->context.now);
	if (!room_reply_planned(&room->reply))
		turn->deadline = UINT64_MAX;
}

/* All its tools are done: asks the brain to continue with their outputs. */
static void ask_with_outputs(struct room *room, struct room_turn *t)
{
	t->sinks |= ROOM_SINK_BRAIN;
	room_retry_asked(&room->retry, room->context.now);
	t->deadline = find_awaited_turn(room) && !t->samples
			      ? UINT64_MAX
			      : room->context.now + room->context.settings->stall_ms * NS_PER_MS;
	room_emit(&room->context, ROOM_DO_ASK_AGAIN)->turn = t->id;
}

bool room_watchdog_done(struct room *room, struct room_turn *turn)
{
	struct room_retry *l = &room->retry;

	if (l->tools) {
		/* The brain is asked again when their outputs arrive. */
		turn->sinks &= ~(unsigned)ROOM_SINK_BRAIN;
		turn->deadline = room->context.now + room->context.settings->tool_ms * NS_PER_MS;
		return true;
	}
	if (l->outputs) {
		ask_with_outputs(room, turn);
		return true;
	}
	if (turn->phase != ROOM_PHASE_ASKED || room_reply_planned(&room->reply) || turn->samples ||
	    *turn->answer)
		return false;
	turn->sinks &= ~(unsigned)ROOM_SINK_BRAIN;
	return room_retry_done(l, room->context.now);
}

void room_watchdog_on_event(struct room *room, const struct room_event *ev)
{
	struct room_turn *t = room->active;
	struct room_retry *l = &room->retry;
	bool worked = l->tools;

	if (ev->type != ROOM_TOOL || !t || t->user != ev->user)
		return;
	room_retry_tool(l, ev->yes, room->context.now);
	if (!worked || l->tools || (t->sinks & ROOM_SINK_BRAIN) || t->brain_done ||
	    t->phase < ROOM_PHASE_ASKED || t->phase > ROOM_PHASE_SPEAKING)
		return;
	ask_with_outputs(room, t);
}

static void ask_again(struct room *room, struct room_turn *t, bool anew)
{
	struct room_effect *e;

	if (anew && (t->sinks & ROOM_SINK_BRAIN))
		room_emit(&room->context, ROOM_DO_BRAIN_CANCEL)->turn = t->id;
	t->sinks |= ROOM_SINK_BRAIN;
	t->answer[0] = '\0';
	room_reply_begin(room, t);
	e = room_emit(&room->context, anew ? ROOM_DO_ASK : ROOM_DO_ASK_AGAIN);
	e->turn = t->id;
	e->user = t->user;
	if (anew)
		room_prompt_ask(room, t, e);
}

void room_watchdog_tick(struct room *room)
{
	const struct settings *s = room->context.settings;
	struct room_turn *t = find_awaited_turn(room);
	struct room_retry *l = &room->retry;
	bool done = l->done_at;

	if (!t)
		return;
	switch (room_retry_tick(l, s, room_speech_until(&room->context, NULL, true),
				room->context.now)) {
	case ROOM_RETRY_WAIT:
		break;
	case ROOM_RETRY_AGAIN:
		room_turn_decide(t, ROOM_RULE_SILENT_RETRY, true, l->retries, s->response_retries);
		ask_again(room, t, false);
		break;
	case ROOM_RETRY_RECOVER:
		room_turn_decide(t, ROOM_RULE_HARD_RECOVERY, true, l->retries, s->response_retries);
		ask_again(room, t, true);
		break;
	case ROOM_RETRY_GIVE_UP:
		room_turn_decide(t, ROOM_RULE_SILENT_RETRY, false, l->retries + 1,
				 s->response_retries);
		room_turn_cancel(&room->context, t,
				 done ? ROOM_REASON_NO_ANSWER : ROOM_REASON_BRAIN_FAILED);
		break;
	case ROOM_RETRY_WATCHDOG:
		room_turn_decide(t, ROOM_RULE_FIRST_AUDIO, false,
				 (int64_t)(l->tools ? s->tool_ms : s->first_audio_ms),
				 (int64_t)(l->tools ? s->tool_ms : s->first_audio_ms));
		room_turn_cancel(&room->context, t, ROOM_REASON_BRAIN_FAILED);
		break;
	}
}

uint64_t room_watchdog_deadline(const struct room *room)
{
	if (!find_awaited_turn(room))
		return UINT64_MAX;
	return room_retry_deadline(&room->retry, room->context.settings,
				   room_speech_until(&room->context, NULL, true));
}
