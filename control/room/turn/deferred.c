#include "control/room/turn/deferred.h"

#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/hearing.h"
#include "control/room/base/turns.h"
#include "control/room/floor/followup.h"
#include "control/room/turn/admission.h"
#include "control/room/turn/turn_queue.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

enum room_blocker room_blocker(const struct room_blocker_input *input)
{
	return input->inactive	      ? ROOM_BLOCKER_SESSION_INACTIVE
	       : input->captures      ? ROOM_BLOCKER_ACTIVE_CAPTURES
	       : input->pending	      ? ROOM_BLOCKER_PENDING_RESPONSE
	       : input->responding    ? ROOM_BLOCKER_ACTIVE_RESPONSE
	       : input->tools_awaited ? ROOM_BLOCKER_AWAITING_TOOLS
	       : input->tools_run     ? ROOM_BLOCKER_TOOLS_RUNNING
				      : ROOM_BLOCKER_NONE;
}

const char *room_blocker_name(enum room_blocker block)
{
	static const char *const names[] = {"none",
					    "session_inactive",
					    "active_captures",
					    "pending_response",
					    "active_response",
					    "awaiting_tool_outputs",
					    "tool_calls_running"};

	return names[block];
}

/* Live speech blocks for hold_ms from the moment the floor was free. */
static uint64_t live_captures_until(const struct room_context *context)
{
	uint64_t live = room_speech_until(context, NULL, true);
	uint64_t most = room_turn_free_at(context) + context->settings->hold_ms * NS_PER_MS;

	return live < most ? live : most;
}

enum room_blocker room_deferred_blocker(const struct room_context *context)
{
	enum room_output_phase stands =
		room_turn_on_floor(context) ? room_output_phase_now(context) : ROOM_OUTPUT_IDLE;
	bool pending = stands == ROOM_OUTPUT_RESPONSE_PENDING;
	bool tools = stands == ROOM_OUTPUT_AWAITING_TOOL_OUTPUTS;

	return room_blocker(&(struct room_blocker_input){
		.inactive = context->over || !context->up,
		.captures =
			!room_turn_on_floor(context) && context->now < live_captures_until(context),
		.pending = pending,
		.responding = room_turn_on_floor(context) && !pending && !tools,
		.tools_awaited = tools,
		.tools_run = room_followup_tools_until(context->followup, context->now)});
}

struct room_turn *room_turn_deferred_of(struct room_context *context, uint64_t user)
{
	for (struct room_turn *t = room_turn_next(context, NULL); t; t = room_turn_next(context, t))
		if (t->phase == ROOM_PHASE_DEFERRED && t->user == user)
			return t;
	return NULL;
}

/* The turn that has been deferred longest, other than `not`. */
static struct room_turn *find_oldest(struct room_context *context, const struct room_turn * not,
				     unsigned *count)
{
	struct room_turn *old = NULL;

	*count = 0;
	for (struct room_turn *t = room_turn_next(context, NULL); t;
	     t = room_turn_next(context, t)) {
		if (t->phase != ROOM_PHASE_DEFERRED)
			continue;
		(*count)++;
		if (t != not &&(!old || t->id < old->id))
			old = t;
	}
	return old;
}

void room_turn_defer(struct room_context *context, struct room_turn *turn)
{
	uint64_t expire = context->settings->defer_expire_ms * NS_PER_MS;
	struct room_turn *old, *next;
	unsigned count;

	if (turn->deferred_at)
		turn->retry_at = context->now + context->settings->retry_ms * NS_PER_MS;
	else
		turn->deferred_at = context->now;
	turn->deadline = expire ? turn->deferred_at + expire : UINT64_MAX;
	turn->phase = ROOM_PHASE_DEFERRED;
	old = find_oldest(context, NULL, &count);
	if (count <= context->settings->defer_max)
		return;
	next = find_oldest(context, old, &count);
	room_turn_merge(context, old, next, ROOM_RULE_DEFER_FULL);
}

/* The next turn: those that name the bot first, then the latest. */
static struct room_turn *pick_next(struct room_context *context, uint32_t before, bool named)
{
	struct room_turn *best = NULL;

	for (struct room_turn *t = room_turn_next(context, NULL); t; t = room_turn_next(context, t))
		if (t->phase == ROOM_PHASE_DEFERRED && t->named == named && t->id < before &&
		    context->now >= t->retry_at && (!best || t->id > best->id))
			best = t;
	return best;
}

/* Passes a deferred turn through admission again. Its record keeps the first and the last
 * attempt; those between would repeat the same and crowd out the end. */
static void retry_admission(struct room_context *context, struct room_turn *t)
{
	if (t->agains && t->again + t->agains <= ROOM_CHAIN) {
		unsigned n = t->decisions < ROOM_CHAIN ? t->decisions : ROOM_CHAIN;
		unsigned after = t->again + t->agains;

		memmove(&t->decision[t->again], &t->decision[after],
			(n - after) * sizeof t->decision[0]);
		t->decisions = n - t->agains;
	}
	t->again = t->decisions;
	room_turn_decide(t, ROOM_RULE_DEFER_WAIT, true,
			 (int64_t)((context->now - t->end_of_speech_at) / NS_PER_MS),
			 context->settings->defer_expire_ms);
	room_turn_admit(context, t);
	t->agains = t->phase == ROOM_PHASE_DEFERRED ? t->decisions - t->again : 0;
}

void room_deferred_tick(struct room_context *context)
{
	struct room_turn *t;

	if (room_deferred_deadline(context) > context->now || room_deferred_blocker(context))
		return;
	for (int named = 1; named >= 0; named--)
		for (uint32_t before = UINT32_MAX; (t = pick_next(context, before, named));
		     before = t->id)
			retry_admission(context, t);
}

uint64_t room_deferred_deadline(const struct room_context *context)
{
	uint64_t at = UINT64_MAX, live, tools;

	if (room_turn_on_floor(context) || !context->up || context->over)
		return UINT64_MAX;
	for (struct room_turn *t = room_turn_next(context, NULL); t; t = room_turn_next(context, t))
		if (t->phase == ROOM_PHASE_DEFERRED && t->retry_at < at)
			at = t->retry_at;
	if (at == UINT64_MAX)
		return at;
	live = live_captures_until(context);
	tools = room_followup_tools_until(context->followup, context->now);
	if (tools > at)
		at = tools;
	return at > live ? at : live;
}
