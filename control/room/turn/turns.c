#include "control/room/turn/turns.h"

#include <errno.h>
#include <stdio.h>

#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/hearing.h"
#include "control/room/floor/floor.h"
#include "control/room/floor/followup.h"
#include "control/room/floor/music.h"
#include "control/room/turn/classifier.h"
#include "control/room/turn/segment.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

/* A playback reports its end by itself; this limit is for a mediad that never does. */
enum { CLOSING_S = 3 };

static struct room_turn *mark_live(struct room_turns *turns, struct room_turn *turn)
{
	size_t i = (size_t)(turn - turns->turn);

	turns->live[i / 64] |= 1ull << i % 64;
	return turn;
}

/* A free place, else the place of the turn that ended longest ago. */
static struct room_turn *find_place(struct room_turns *turns)
{
	struct room_turn *oldest = NULL;

	for (unsigned i = 0; i < ROOM_TURNS; i++) {
		struct room_turn *t = &turns->turn[i];

		if (t->phase == ROOM_PHASE_FREE)
			return mark_live(turns, t);
		if (t->phase == ROOM_PHASE_ENDED &&
		    (!oldest || t->ended_at < oldest->ended_at ||
		     (t->ended_at == oldest->ended_at && t->id < oldest->id)))
			oldest = t;
	}
	return oldest ? mark_live(turns, oldest) : NULL;
}

struct room_turn *room_turn_next(const struct room_context *context, const struct room_turn *after)
{
	struct room_turns *turns = context->turns;

	for (size_t from = after ? (size_t)(after - turns->turn) + 1 : 0; from < ROOM_TURNS;
	     from = (from / 64 + 1) * 64) {
		uint64_t rest = turns->live[from / 64] >> from % 64;

		if (rest)
			return &turns->turn[from + (unsigned)__builtin_ctzll(rest)];
	}
	return NULL;
}

struct room_turn *room_turn_known(const struct room_context *context, const struct room_turn *after)
{
	struct room_turns *turns = context->turns;

	for (size_t i = after ? (size_t)(after - turns->turn) + 1 : 0; i < ROOM_TURNS; i++)
		if (turns->turn[i].phase != ROOM_PHASE_FREE)
			return &turns->turn[i];
	return NULL;
}

struct room_turn *room_turn_new(struct room_context *context, unsigned place)
{
	const struct room_person *person = &context->people->person[place];
	struct room_turns *turns = context->turns;
	struct room_turn *t = find_place(turns);

	if (!t)
		return NULL;
	*t = (struct room_turn){.id = ++turns->last,
				.phase = ROOM_PHASE_HEARING,
				.user = person->user,
				.born_at = context->now,
				.deadline = UINT64_MAX};
	snprintf(t->name, sizeof t->name, "%s", person->name);
	turns->hearing[place] = t;
	return t;
}

struct room_turn *room_turn_new_prompted(struct room_context *context, const char *text)
{
	struct room_turn *t = find_place(context->turns);

	if (!t)
		return NULL;
	*t = (struct room_turn){.id = ++context->turns->last,
				.phase = ROOM_PHASE_HEARING,
				.prompted = true,
				.born_at = context->now,
				.end_of_speech_at = context->now,
				.deadline = UINT64_MAX};
	memcpy(t->name, context->name, sizeof t->name);
	room_segment_add(t, 0, t->name, 0, text);
	return t;
}

struct room_turn *room_turn_copy(struct room_context *context, const struct room_turn *of)
{
	struct room_turn *t = find_place(context->turns);

	if (!t)
		return NULL;
	*t = (struct room_turn){.id = ++context->turns->last,
				.phase = ROOM_PHASE_HEARING,
				.user = of->user,
				.named = of->named,
				.language = of->language,
				.latched = of->latched,
				.born_at = context->now,
				.end_of_speech_at = of->end_of_speech_at,
				.deadline = UINT64_MAX};
	memcpy(t->name, of->name, sizeof t->name);
	room_segment_merge(t, of);
	return t;
}

/* The person's open capture no longer belongs to this turn. */
static void close_hearing(struct room_context *context, const struct room_turn *turn)
{
	unsigned place = room_place(context, turn->user);

	if (place < ROOM_SPEAKERS && context->turns->hearing[place] == turn)
		context->turns->hearing[place] = NULL;
}

void room_turn_await_transcripts(struct room_context *context, struct room_turn *turn)
{
	turn->phase = ROOM_PHASE_TRANSCRIBING;
	turn->deadline = context->now + context->settings->asr_wait_ms * NS_PER_MS;
	close_hearing(context, turn);
}

void room_turn_reassign(struct room_turn *turn)
{
	turn->user = turn->segment[0].user;
	memcpy(turn->name, turn->segment[0].name, sizeof turn->name);
}

void room_turn_forget(struct room_context *context, unsigned place)
{
	context->turns->hearing[place] = NULL;
}

struct room_turn *room_turn_active(const struct room_context *context)
{
	return context->turns->active;
}

struct room_turn *room_turn_on_floor(const struct room_context *context)
{
	struct room_turn *t = context->turns->active;

	return t && room_speculative_holds(context, t->id) ? NULL : t;
}

void room_turn_activate(struct room_context *context, struct room_turn *turn)
{
	context->turns->active = turn;
}

uint64_t room_turn_free_at(const struct room_context *context)
{
	return context->turns->free_at;
}

struct room_turn *room_turn_hearing(const struct room_context *context, unsigned place)
{
	return context->turns->hearing[place];
}

bool room_turn_pending(const struct room_context *context)
{
	for (const struct room_turn *t = room_turn_next(context, NULL); t;
	     t = room_turn_next(context, t))
		if (t->phase > ROOM_PHASE_HEARING && t->phase < ROOM_PHASE_ENDED)
			return true;
	return false;
}

struct room_turn *room_turn_by_id(const struct room_context *context, uint32_t id)
{
	struct room_turns *turns = context->turns;

	for (unsigned i = 0; i < ROOM_TURNS; i++)
		if (turns->turn[i].phase != ROOM_PHASE_FREE && turns->turn[i].id == id)
			return &turns->turn[i];
	return NULL;
}

/* Updates floor, follow-ups and activity after an answer that was played, completely or in
 * part. */
static void update_after_answer(struct room_context *context, const struct room_turn *turn)
{
	if (!turn->first_audio_at)
		return;
	if (turn->user)
		room_floor_bot_spoke(context->floor, turn->user, context->now);
	room_report_activity(context);
	room_answer_restart_silence(context);
	if (turn->reason == ROOM_REASON_INTERRUPTED)
		room_followup_interrupted(context->followup, turn, context->now);
	else
		room_followup_answered(context->followup);
	if (turn->reason == ROOM_REASON_ANSWERED)
		room_music_answered(context->music, context);
}

void room_turn_end(struct room_context *context, struct room_turn *turn, enum room_reason reason)
{
	struct room_turns *turns = context->turns;
	size_t i = (size_t)(turn - turns->turn);

	if (turn->phase == ROOM_PHASE_ENDED)
		return;
	if (turn->reason == ROOM_REASON_NONE)
		turn->reason = reason;
	room_answer_close(context, turn);
	turn->phase = ROOM_PHASE_ENDED;
	turns->live[i / 64] &= ~(1ull << i % 64);
	turn->ended_at = context->now;
	turn->deadline = UINT64_MAX;
	turn->sinks = 0;
	turns->counts[turn->reason]++;
	update_after_answer(context, turn);
	if (turns->active == turn) {
		turns->active = NULL;
		/* A speculative answer did not have the floor. */
		if (!room_turn_speculated(turn))
			turns->free_at = context->now;
	}
	close_hearing(context, turn);
	room_emit(context, ROOM_DO_RECORD)->record = turn;
}

/* ---- aborting: all work for the turn ends, in this order, each part once ---- */

static void stop_tools(struct room_context *context, const struct room_turn *turn)
{
	struct room_effect *e = room_emit(context, ROOM_DO_TOOL_CANCEL);

	e->turn = turn->id;
	e->user = turn->user;
	e->text = room_reason_name(turn->reason);
}

static void stop_work(struct room_context *context, struct room_turn *turn)
{
	if (turn->sinks & ROOM_SINK_ASR)
		room_asr_abandon(context, turn);
	if (turn->sinks & ROOM_SINK_BRAIN)
		room_emit(context, ROOM_DO_BRAIN_CANCEL)->turn = turn->id;
	if (turn->sinks & ROOM_SINK_TOOLS)
		stop_tools(context, turn);
	if (turn->sinks & ROOM_SINK_TTS)
		room_emit(context, ROOM_DO_SPEAK_CANCEL)->turn = turn->id;
	turn->sinks &= (unsigned)ROOM_SINK_PLAYBACK;
}

static void stop_playback(struct room_context *context, struct room_turn *turn)
{
	struct room_effect *e;

	if (turn->sinks & ROOM_SINK_PLAYBACK) {
		e = room_emit(context, ROOM_DO_SAY_STOP);
		e->turn = turn->id;
		e->ms = context->settings->stop_fade_ms;
	}
	turn->sinks = 0;
}

static enum room_abort abort_from_reason(enum room_reason reason)
{
	switch (reason) {
	case ROOM_REASON_INTERRUPTED:
		return ROOM_ABORT_BARGE_IN;
	case ROOM_REASON_EOT_REVOKED:
	case ROOM_REASON_SPECULATION_UNUSED:
		return ROOM_ABORT_EOT_REVOKED;
	case ROOM_REASON_CANCELLED:
		return ROOM_ABORT_USER_CANCEL;
	case ROOM_REASON_EXPIRED:
	case ROOM_REASON_ASR_FAILED:
	case ROOM_REASON_BRAIN_FAILED:
	case ROOM_REASON_SPECULATION_FAILED:
	case ROOM_REASON_SPEECH_FAILED:
	case ROOM_REASON_TOOL_FAILED:
	case ROOM_REASON_PLAYBACK_FAILED:
		return ROOM_ABORT_TIMEOUT;
	default:
		return ROOM_ABORT_EXTERNAL;
	}
}

void room_turn_cancel(struct room_context *context, struct room_turn *turn, enum room_reason reason)
{
	bool sounds = turn->released && (turn->sinks & ROOM_SINK_PLAYBACK);

	if (turn->phase == ROOM_PHASE_ENDED || turn->phase == ROOM_PHASE_CLOSING)
		return;
	turn->reason = reason;
	if (turn->abort == ROOM_ABORT_NONE) {
		turn->abort = abort_from_reason(reason);
		stop_work(context, turn);
		stop_playback(context, turn);
	}
	if (sounds) {
		turn->phase = ROOM_PHASE_CLOSING;
		turn->deadline = context->now + CLOSING_S * NS_PER_S;
	} else {
		room_turn_end(context, turn, reason);
	}
}

/* Names the part that keeps an answer from going on. */
static enum room_reason blame_stall(const struct room_turn *turn)
{
	if (turn->sinks & ROOM_SINK_TTS)
		return ROOM_REASON_SPEECH_FAILED;
	if (turn->sinks & ROOM_SINK_TOOLS)
		return ROOM_REASON_TOOL_FAILED;
	return turn->brain_done ? ROOM_REASON_PLAYBACK_FAILED : ROOM_REASON_BRAIN_FAILED;
}

/* The deadline of this turn passed. */
static void time_out_turn(struct room_context *context, struct room_turn *turn)
{
	const struct settings *s = context->settings;

	switch (turn->phase) {
	case ROOM_PHASE_TRANSCRIBING:
		room_turn_decide(turn, ROOM_RULE_ASR_WAIT, false, s->asr_wait_ms, s->asr_wait_ms);
		/* The words of a long capture that arrived are answered. */
		if (!room_long_capture_flush(context, turn))
			room_turn_cancel(context, turn, ROOM_REASON_ASR_FAILED);
		break;
	case ROOM_PHASE_CLASSIFYING:
		if (turn->overlap_judged)
			room_overlap_give_up(context, turn->question);
		else
			room_classifier_time_out(context->classifier, context, turn);
		break;
	case ROOM_PHASE_DEFERRED:
		room_turn_decide(turn, ROOM_RULE_DEFER_WAIT, false, s->defer_expire_ms,
				 s->defer_expire_ms);
		room_turn_cancel(context, turn, ROOM_REASON_EXPIRED);
		break;
	case ROOM_PHASE_QUEUED:
		room_turn_decide(turn, ROOM_RULE_QUEUE_WAIT, false, s->queue_expire_ms,
				 s->queue_expire_ms);
		room_turn_cancel(context, turn, ROOM_REASON_EXPIRED);
		break;
	case ROOM_PHASE_ASKED:
		room_turn_decide(turn, ROOM_RULE_FIRST_AUDIO, false, s->first_audio_ms,
				 s->first_audio_ms);
		room_turn_cancel(context, turn, blame_stall(turn));
		break;
	case ROOM_PHASE_SPEAKING:
		room_turn_decide(turn, ROOM_RULE_STALL, false, s->stall_ms, s->stall_ms);
		room_turn_cancel(context, turn, blame_stall(turn));
		break;
	case ROOM_PHASE_CLOSING:
		room_turn_end(context, turn, turn->reason);
		break;
	default:
		turn->deadline = UINT64_MAX;
	}
}

void room_turns_tick(struct room_context *context)
{
	for (struct room_turn *t = room_turn_next(context, NULL); t; t = room_turn_next(context, t))
		if (t->phase != ROOM_PHASE_FREE && t->phase != ROOM_PHASE_ENDED &&
		    context->now >= t->deadline)
			time_out_turn(context, t);
}

uint64_t room_turns_deadline(const struct room_context *context)
{
	uint64_t first = UINT64_MAX;

	for (const struct room_turn *t = room_turn_next(context, NULL); t;
	     t = room_turn_next(context, t))
		if (t->phase != ROOM_PHASE_FREE && t->phase != ROOM_PHASE_ENDED &&
		    t->deadline < first)
			first = t->deadline;
	return first;
}

int room_turns_why(const struct room_context *context, uint32_t turn, char *buf, size_t size)
{
	const struct room_turn *t = room_turn_by_id(context, turn);
	size_t n;

	if (!t)
		return ENOENT;
	n = (size_t)snprintf(buf, size, "turn %u of %s: %s (%s)\n", t->id, t->name,
			     room_reason_name(t->reason), room_reason_text(t->reason));
	for (unsigned i = 0; i < t->decisions && i < ROOM_CHAIN && n < size; i++) {
		const struct room_decision *d = &t->decision[i];

		n += (size_t)snprintf(
			buf + n, size - n, "  %-20s %-3s value=%lld limit=%lld%s%s: %s\n",
			room_rule_name(d->rule), d->yes ? "yes" : "no", (long long)d->value,
			(long long)d->limit, *room_rule_unit(d->rule) ? " " : "",
			room_rule_unit(d->rule), room_rule_text(d->rule));
	}
	return 0;
}

uint64_t room_turns_count(const struct room_context *context, enum room_reason reason)
{
	return reason < ROOM_REASON_COUNT ? context->turns->counts[reason] : 0;
}
