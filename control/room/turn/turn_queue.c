#include "control/room/inside.h"
#include "control/room/turn/turn_queue.h"
#include "control/room/turn/segment.h"
#include "proto/base/time.h"

struct room_turn *room_turn_queued(const struct room_context *context)
{
	struct room *room = room_of(context);

	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS; i = room_turn_next(room, i + 1))
		if (room->turn[i].phase == ROOM_PHASE_QUEUED)
			return &room->turn[i];
	return NULL;
}

void room_turn_merge(struct room *room, struct room_turn *into, struct room_turn *turn,
		     enum room_rule rule)
{
	uint32_t dropped = into->dropped_head;

	room_turn_decide(turn, rule, true, into->id, 0);
	room_segment_merge(into, turn);
	if (into->dropped_head > dropped)
		room_turn_decide(into, ROOM_RULE_FITS, false, into->dropped_head, 0);
	if (turn->end_of_speech_at > into->end_of_speech_at)
		into->end_of_speech_at = turn->end_of_speech_at;
	into->named = into->named || turn->named;
	into->sound_ms += turn->sound_ms;
	if (!turn->deferred_at)
		into->deferred_at = 0;
	into->latched = into->latched || turn->latched;
	room_turn_end(&room->context, turn, ROOM_REASON_MERGED);
}

void room_turn_enqueue(struct room *room, struct room_turn *turn)
{
	struct room_turn *waits = room_turn_queued(&room->context);

	if (waits && waits != turn) {
		room_turn_merge(room, waits, turn, ROOM_RULE_COALESCED);
		return;
	}
	turn->phase = ROOM_PHASE_QUEUED;
	turn->queued_at = room->context.now;
	turn->deadline = room->context.now + room->context.settings->queue_expire_ms * NS_PER_MS;
}

uint64_t room_speech_until(const struct room_context *context, const struct room_turn *turn,
			   bool others)
{
	const struct room *room = room_of(context);
	const struct settings *s = room->context.settings;
	uint64_t until = 0;

	for (unsigned i = 0; i < room->places; i++) {
		const struct room_speaker *sp = &room->speaker[i];
		uint64_t pause = sp->capture.voice_at + s->end_long_ms * NS_PER_MS;

		if (sp->used && sp->capture.phase == ROOM_CAPTURE_PROMOTED &&
		    ((turn && sp->user == turn->user) || others) && pause > room->context.now &&
		    pause > until)
			until = pause;
	}
	return until;
}

/* When the transcripts of more speech are due at the latest, or 0. */
static uint64_t transcripts_until(const struct room *room, const struct room_turn *turn,
				  bool others)
{
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		const struct room_turn *t = &room->turn[i];

		if (t->phase == ROOM_PHASE_TRANSCRIBING && (t->user == turn->user || others))
			return t->deadline;
	}
	return 0;
}

static uint64_t hold_until(const struct room *room, const struct room_turn *turn)
{
	const struct settings *s = room->context.settings;
	bool waited = turn->deferred_at || turn->queued_at < room->free_at;
	uint64_t from = waited ? room->free_at : turn->queued_at;
	uint64_t most = from + s->hold_ms * NS_PER_MS;
	bool much = s->hold_bypass_ms && turn->sound_ms >= s->hold_bypass_ms;
	bool others = (!turn->named && !much) || turn->deferred_at;
	uint64_t live = room_speech_until(&room->context, turn, others);
	uint64_t more = transcripts_until(room, turn, others), until = live > more ? live : more;

	return until < most ? until : most;
}

void room_turn_queue_tick(struct room *room)
{
	struct room_turn *next = room_turn_queued(&room->context);
	uint64_t waited;

	if (!next || room->active || !room->context.up ||
	    room->context.now < hold_until(room, next))
		return;
	if (room->context.settings->reply_path == SETTINGS_REPLY_BRIDGE &&
	    !room_instructions_flush(&room->instructions, &room->context))
		return;
	room_turn_decide(next, ROOM_RULE_MUTED, !room->context.muted, room->context.muted, 0);
	if (room->context.muted) {
		room_turn_end(&room->context, next, ROOM_REASON_MUTED);
		return;
	}
	waited = (room->context.now - next->queued_at) / NS_PER_MS;
	room_turn_decide(next, ROOM_RULE_ROOM_QUIET, true, (int64_t)waited,
			 room->context.settings->hold_ms);
	room_answer_ask(&room->context, next);
}

uint64_t room_turn_queue_deadline(const struct room *room)
{
	uint64_t first = UINT64_MAX;

	/* While new instructions are on their way, the brain's confirmation is awaited instead.
	 * */
	if (room->active || !room->context.up ||
	    (room->context.settings->reply_path == SETTINGS_REPLY_BRIDGE &&
	     room_instructions_pending(&room->instructions)))
		return first;
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		const struct room_turn *t = &room->turn[i];
		uint64_t at = t->phase == ROOM_PHASE_QUEUED ? hold_until(room, t) : UINT64_MAX;

		if (at < first)
			first = at;
	}
	return first;
}
