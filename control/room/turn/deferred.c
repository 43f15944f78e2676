#include "control/room/turn/deferred.h"

#include "control/room/turn/admission.h"
#include "control/room/inside.h"
#include "control/room/turn/turn_queue.h"
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
static uint64_t live_captures_until(const struct room *room)
{
	uint64_t live = room_speech_until(&room->context, NULL, true);
	uint64_t most = room->free_at + room->context.settings->hold_ms * NS_PER_MS;

	return live < most ? live : most;
}

enum room_blocker room_deferred_blocker(const struct room *room)
{
	enum room_output_phase stands = room_output_state_now(room).phase;
	bool pending = stands == ROOM_OUTPUT_RESPONSE_PENDING;
	bool tools = stands == ROOM_OUTPUT_AWAITING_TOOL_OUTPUTS;

	return room_blocker(&(struct room_blocker_input){
		.inactive = room->context.over || !room->context.up,
		.captures = !room->active && room->context.now < live_captures_until(room),
		.pending = pending,
		.responding = room->active && !pending && !tools,
		.tools_awaited = tools,
		.tools_run = room_followup_tools_until(&room->followup, room->context.now)});
}

struct room_turn *room_turn_deferred_of(struct room *room, uint64_t user)
{
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS; i = room_turn_next(room, i + 1))
		if (room->turn[i].phase == ROOM_PHASE_DEFERRED && room->turn[i].user == user)
			return &room->turn[i];
	return NULL;
}

/* The turn that has been deferred longest, other than `not`. */
static struct room_turn *find_oldest(struct room *room, const struct room_turn * not,
				     unsigned *count)
{
	struct room_turn *old = NULL;

	*count = 0;
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		struct room_turn *t = &room->turn[i];

		if (t->phase != ROOM_PHASE_DEFERRED)
			continue;
		(*count)++;
		if (t != not &&(!old || t->id < old->id))
			old = t;
	}
	return old;
}

void room_turn_defer(struct room *room, struct room_turn *turn)
{
	uint64_t expire = room->context.settings->defer_expire_ms * NS_PER_MS;
	struct room_turn *old, *next;
	unsigned count;

	if (turn->deferred_at)
		turn->retry_at = room->context.now + room->context.settings->retry_ms * NS_PER_MS;
	else
		turn->deferred_at = room->context.now;
	turn->deadline = expire ? turn->deferred_at + expire : UINT64_MAX;
	turn->phase = ROOM_PHASE_DEFERRED;
	old = find_oldest(room, NULL, &count);
	if (count <= room->context.settings->defer_max)
		return;
	next = find_oldest(room, old, &count);
	room_turn_merge(room, old, next, ROOM_RULE_DEFER_FULL);
}

/* The next turn: those that name the bot first, then the latest. */
static struct room_turn *pick_next(struct room *room, uint32_t before, bool named)
{
	struct room_turn *best = NULL;

	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		struct room_turn *t = &room->turn[i];

		if (t->phase == ROOM_PHASE_DEFERRED && t->named == named && t->id < before &&
		    room->context.now >= t->retry_at && (!best || t->id > best->id))
			best = t;
	}
	return best;
}

/* Passes a deferred turn through admission again. Its record keeps the first and the last
 * attempt; those between would repeat the same and crowd out the end. */
static void retry_admission(struct room *room, struct room_turn *t)
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
			 (int64_t)((room->context.now - t->end_of_speech_at) / NS_PER_MS),
			 room->context.settings->defer_expire_ms);
	room_turn_admit(room, t);
	t->agains = t->phase == ROOM_PHASE_DEFERRED ? t->decisions - t->again : 0;
}

void room_deferred_tick(struct room *room)
{
	struct room_turn *t;

	if (room_deferred_deadline(room) > room->context.now || room_deferred_blocker(room))
		return;
	for (int named = 1; named >= 0; named--)
		for (uint32_t before = UINT32_MAX; (t = pick_next(room, before, named));
		     before = t->id)
			retry_admission(room, t);
}

uint64_t room_deferred_deadline(const struct room *room)
{
	uint64_t at = UINT64_MAX, live, tools;

	if (room->active || !room->context.up || room->context.over)
		return UINT64_MAX;
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS; i = room_turn_next(room, i + 1))
		if (room->turn[i].phase == ROOM_PHASE_DEFERRED && room->turn[i].retry_at < at)
			at = room->turn[i].retry_at;
	if (at == UINT64_MAX)
		return at;
	live = live_captures_until(room);
	tools = room_followup_tools_until(&room->followup, room->context.now);
	if (tools > at)
		at = tools;
	return at > live ? at : live;
}
