#include "control/room/turn/turn_queue.h"

#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/hearing.h"
#include "control/room/base/turns.h"
#include "control/room/turn/segment.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

struct room_turn *room_turn_queued(const struct room_context *context)
{
	for (struct room_turn *t = room_turn_next(context, NULL); t; t = room_turn_next(context, t))
		if (t->phase == ROOM_PHASE_QUEUED)
			return t;
	return NULL;
}

void room_turn_merge(struct room_context *context, struct room_turn *into, struct room_turn *turn,
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
	room_turn_end(context, turn, ROOM_REASON_MERGED);
}

void room_turn_enqueue(struct room_context *context, struct room_turn *turn)
{
	struct room_turn *waits = room_turn_queued(context);

	if (waits && waits != turn) {
		room_turn_merge(context, waits, turn, ROOM_RULE_COALESCED);
		return;
	}
	turn->phase = ROOM_PHASE_QUEUED;
	turn->queued_at = context->now;
	turn->deadline = context->now + context->settings->queue_expire_ms * NS_PER_MS;
}

/* When the transcripts of more speech are due at the latest, or 0. */
static uint64_t transcripts_until(const struct room_context *context, const struct room_turn *turn,
				  bool others)
{
	for (const struct room_turn *t = room_turn_next(context, NULL); t;
	     t = room_turn_next(context, t))
		if (t->phase == ROOM_PHASE_TRANSCRIBING && (t->user == turn->user || others))
			return t->deadline;
	return 0;
}

static uint64_t hold_until(const struct room_context *context, const struct room_turn *turn)
{
	const struct settings *s = context->settings;
	bool waited = turn->deferred_at || turn->queued_at < room_turn_free_at(context);
	uint64_t from = waited ? room_turn_free_at(context) : turn->queued_at;
	uint64_t most = from + s->hold_ms * NS_PER_MS;
	bool much = s->hold_bypass_ms && turn->sound_ms >= s->hold_bypass_ms;
	bool others = (!turn->named && !much) || turn->deferred_at;
	uint64_t live = room_speech_until(context, turn, others);
	uint64_t more = transcripts_until(context, turn, others), until = live > more ? live : more;
	uint64_t batch = turn->queued_at + s->transcript_batch_ms * NS_PER_MS;

	if (s->debounce_ms && room_last_voice_at(context) + s->debounce_ms * NS_PER_MS > until)
		until = room_last_voice_at(context) + s->debounce_ms * NS_PER_MS;
	until = until < most ? until : most;
	return until > batch ? until : batch;
}

void room_turn_queue_tick(struct room_context *context)
{
	struct room_turn *next = room_turn_queued(context);
	uint64_t waited;

	if (!next || room_turn_on_floor(context) || !context->up ||
	    context->now < hold_until(context, next) ||
	    context->now < room_retrieval_until(context, next))
		return;
	if (context->settings->reply_path == SETTINGS_REPLY_BRIDGE &&
	    !room_answer_instruct(context))
		return;
	room_turn_decide(next, ROOM_RULE_AUDIBLE, !context->muted, 0, 0);
	if (context->muted) {
		room_turn_end(context, next, ROOM_REASON_MUTED);
		return;
	}
	waited = (context->now - next->queued_at) / NS_PER_MS;
	room_turn_decide(next, ROOM_RULE_ROOM_QUIET, true, (int64_t)waited,
			 context->settings->hold_ms);
	room_answer_ask(context, next);
}

bool room_turn_queue_holds(const struct room_context *context)
{
	const struct room_turn *next = room_turn_queued(context);

	return next && context->now < hold_until(context, next);
}

uint64_t room_turn_queue_deadline(const struct room_context *context)
{
	uint64_t first = UINT64_MAX;

	/* While new instructions are on their way, the brain's confirmation is awaited instead.
	 * */
	if (room_turn_on_floor(context) || !context->up ||
	    (context->settings->reply_path == SETTINGS_REPLY_BRIDGE &&
	     room_answer_uninstructed(context)))
		return first;
	for (struct room_turn *t = room_turn_next(context, NULL); t;
	     t = room_turn_next(context, t)) {
		uint64_t at, slice;

		if (t->phase != ROOM_PHASE_QUEUED)
			continue;
		at = hold_until(context, t);
		slice = room_retrieval_until(context, t);
		at = at > slice ? at : slice;
		if (at < first)
			first = at;
	}
	return first;
}
