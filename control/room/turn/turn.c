#include <errno.h>
#include <stdio.h>

#include "control/room/hearing/long_capture.h"
#include "control/room/inside.h"
#include "control/room/turn/segment.h"
#include "proto/base/time.h"

/* A playback reports its end by itself; this limit is for a mediad that never does. */
enum { CLOSING_S = 3 };

static struct room_turn *mark_live(struct room *room, struct room_turn *turn)
{
	size_t i = (size_t)(turn - room->turn);

	room->live[i / 64] |= 1ull << i % 64;
	return turn;
}

/* A free place, else the place of the turn that ended longest ago. */
static struct room_turn *find_place(struct room *room)
{
	struct room_turn *oldest = NULL;

	for (unsigned i = 0; i < ROOM_TURNS; i++) {
		struct room_turn *t = &room->turn[i];

		if (t->phase == ROOM_PHASE_FREE)
			return mark_live(room, t);
		if (t->phase == ROOM_PHASE_ENDED &&
		    (!oldest || t->ended_at < oldest->ended_at ||
		     (t->ended_at == oldest->ended_at && t->id < oldest->id)))
			oldest = t;
	}
	return oldest ? mark_live(room, oldest) : NULL;
}

unsigned room_turn_next(const struct room *room, unsigned from)
{
	for (; from < ROOM_TURNS; from = (from / 64 + 1) * 64) {
		uint64_t rest = room->live[from / 64] >> from % 64;

		if (rest)
			return from + (unsigned)__builtin_ctzll(rest);
	}
	return ROOM_TURNS;
}

struct room_turn *room_turn_new(struct room *room, struct room_speaker *sp)
{
	struct room_turn *t = find_place(room);

	if (!t)
		return NULL;
	*t = (struct room_turn){.id = ++room->last_turn,
				.phase = ROOM_PHASE_HEARING,
				.user = sp->user,
				.born_at = room->context.now,
				.deadline = UINT64_MAX};
	snprintf(t->name, sizeof t->name, "%s", sp->name);
	sp->turn = t;
	return t;
}

struct room_turn *room_turn_new_prompted(struct room_context *context, const char *text)
{
	struct room *room = room_of(context);
	struct room_turn *t = find_place(room);

	if (!t)
		return NULL;
	*t = (struct room_turn){.id = ++room->last_turn,
				.phase = ROOM_PHASE_HEARING,
				.born_at = room->context.now,
				.end_of_speech_at = room->context.now,
				.deadline = UINT64_MAX};
	memcpy(t->name, room->context.name, sizeof t->name);
	room_segment_add(t, 0, t->name, 0, text);
	return t;
}

struct room_turn *room_turn_copy(struct room *room, const struct room_turn *of)
{
	struct room_turn *t = find_place(room);

	if (!t)
		return NULL;
	*t = (struct room_turn){.id = ++room->last_turn,
				.phase = ROOM_PHASE_HEARING,
				.user = of->user,
				.named = of->named,
				.latched = of->latched,
				.born_at = room->context.now,
				.end_of_speech_at = of->end_of_speech_at,
				.deadline = UINT64_MAX};
	memcpy(t->name, of->name, sizeof t->name);
	room_segment_merge(t, of);
	return t;
}

void room_turn_reassign(struct room_turn *turn)
{
	turn->user = turn->segment[0].user;
	memcpy(turn->name, turn->segment[0].name, sizeof turn->name);
}

struct room_turn *room_turn_active(const struct room_context *context)
{
	return room_of(context)->active;
}

uint64_t room_turn_free_at(const struct room_context *context)
{
	return room_of(context)->free_at;
}

bool room_turn_pending(const struct room_context *context)
{
	const struct room *room = room_of(context);

	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS; i = room_turn_next(room, i + 1))
		if (room->turn[i].phase > ROOM_PHASE_HEARING &&
		    room->turn[i].phase < ROOM_PHASE_ENDED)
			return true;
	return false;
}

struct room_turn *room_turn_by_id(const struct room_context *context, uint32_t id)
{
	struct room *room = room_of(context);

	for (unsigned i = 0; i < ROOM_TURNS; i++)
		if (room->turn[i].phase != ROOM_PHASE_FREE && room->turn[i].id == id)
			return &room->turn[i];
	return NULL;
}

/* Updates floor, follow-ups and activity after an answer that was played, completely or in
 * part. */
static void update_after_answer(struct room *room, const struct room_turn *turn)
{
	if (!turn->first_audio_at)
		return;
	if (turn->user)
		room_floor_bot_spoke(&room->floor, turn->user, room->context.now);
	room_session_active(&room->session, &room->context);
	room_thought_restart(&room->thought, &room->context);
	if (turn->reason == ROOM_REASON_INTERRUPTED)
		room_followup_interrupted(&room->followup, turn, room->context.now);
	else
		room_followup_answered(&room->followup);
	if (turn->reason == ROOM_REASON_ANSWERED)
		room_music_answered(&room->music, &room->context);
}

void room_turn_end(struct room_context *context, struct room_turn *turn, enum room_reason reason)
{
	struct room *room = room_of(context);
	struct room_speaker *sp = room_speaker(room, turn->user);

	if (turn->phase == ROOM_PHASE_ENDED)
		return;
	if (turn->reason == ROOM_REASON_NONE)
		turn->reason = reason;
	if (turn->samples > turn->samples_played && !room_reply_planned(&room->reply)) {
		struct room_effect *e = room_emit(&room->context, ROOM_DO_BRAIN_TRUNCATE);

		e->turn = turn->id;
		e->ms = (uint32_t)(turn->samples_played * 1000 / ROOM_RATE);
	}
	room_reply_close(&room->reply, context, &room->history, turn);
	turn->phase = ROOM_PHASE_ENDED;
	room->live[(turn - room->turn) / 64] &= ~(1ull << (turn - room->turn) % 64);
	turn->ended_at = room->context.now;
	turn->deadline = UINT64_MAX;
	turn->sinks = 0;
	room->counts[turn->reason]++;
	update_after_answer(room, turn);
	if (room->active == turn) {
		room->active = NULL;
		room->free_at = room->context.now;
	}
	if (sp && sp->turn == turn)
		sp->turn = NULL;
	room_emit(&room->context, ROOM_DO_RECORD)->record = turn;
}

void room_asr_abandon(struct room *room, struct room_turn *turn)
{
	for (unsigned i = 0; i < turn->chunks; i++) {
		struct room_effect *e;

		if (turn->chunk[i].done)
			continue;
		turn->chunk[i].done = turn->chunk[i].failed = true;
		e = room_emit(&room->context, ROOM_DO_ASR_CANCEL);
		e->user = turn->user;
		e->utterance = turn->chunk[i].utterance;
		room_asr_release(room, turn->user, turn->chunk[i].utterance);
	}
}

/* ---- aborting: all work for the turn ends, in this order, each part once ---- */

static void stop_work(struct room *room, struct room_turn *turn)
{
	if (turn->sinks & ROOM_SINK_ASR)
		room_asr_abandon(room, turn);
	if (turn->sinks & ROOM_SINK_BRAIN)
		room_emit(&room->context, ROOM_DO_BRAIN_CANCEL)->turn = turn->id;
	if (turn->sinks & ROOM_SINK_TTS)
		room_emit(&room->context, ROOM_DO_SPEAK_CANCEL)->turn = turn->id;
	turn->sinks &= (unsigned)ROOM_SINK_PLAYBACK;
}

static void stop_playback(struct room *room, struct room_turn *turn)
{
	struct room_effect *e;

	if (turn->sinks & ROOM_SINK_PLAYBACK) {
		e = room_emit(&room->context, ROOM_DO_SAY_STOP);
		e->turn = turn->id;
		e->ms = room->context.settings->stop_fade_ms;
	}
	turn->sinks = 0;
}

static enum room_abort abort_from_reason(enum room_reason reason)
{
	switch (reason) {
	case ROOM_REASON_INTERRUPTED:
		return ROOM_ABORT_BARGE_IN;
	case ROOM_REASON_EOT_REVOKED:
		return ROOM_ABORT_EOT_REVOKED;
	case ROOM_REASON_CANCELLED:
		return ROOM_ABORT_USER_CANCEL;
	case ROOM_REASON_EXPIRED:
	case ROOM_REASON_ASR_FAILED:
	case ROOM_REASON_BRAIN_FAILED:
	case ROOM_REASON_PLAYBACK_FAILED:
		return ROOM_ABORT_TIMEOUT;
	default:
		return ROOM_ABORT_EXTERNAL;
	}
}

void room_turn_cancel(struct room_context *context, struct room_turn *turn, enum room_reason reason)
{
	struct room *room = room_of(context);
	bool sounds = turn->released && (turn->sinks & ROOM_SINK_PLAYBACK);

	if (turn->phase == ROOM_PHASE_ENDED || turn->phase == ROOM_PHASE_CLOSING)
		return;
	turn->reason = reason;
	if (turn->abort == ROOM_ABORT_NONE) {
		turn->abort = abort_from_reason(reason);
		stop_work(room, turn);
		stop_playback(room, turn);
	}
	if (sounds) {
		turn->phase = ROOM_PHASE_CLOSING;
		turn->deadline = room->context.now + CLOSING_S * NS_PER_S;
	} else {
		room_turn_end(&room->context, turn, reason);
	}
}

/* The deadline of this turn passed. */
static void time_out_turn(struct room *room, struct room_turn *turn)
{
	const struct settings *s = room->context.settings;

	switch (turn->phase) {
	case ROOM_PHASE_TRANSCRIBING:
		room_turn_decide(turn, ROOM_RULE_ASR_WAIT, false, s->asr_wait_ms, s->asr_wait_ms);
		/* The words of a long capture that arrived are answered. */
		if (!room_long_capture_flush(room, turn))
			room_turn_cancel(&room->context, turn, ROOM_REASON_ASR_FAILED);
		break;
	case ROOM_PHASE_CLASSIFYING:
		room_classifier_time_out(&room->classifier, &room->context, turn);
		break;
	case ROOM_PHASE_DEFERRED:
		room_turn_decide(turn, ROOM_RULE_DEFER_WAIT, false, s->defer_expire_ms,
				 s->defer_expire_ms);
		room_turn_cancel(&room->context, turn, ROOM_REASON_EXPIRED);
		break;
	case ROOM_PHASE_QUEUED:
		room_turn_decide(turn, ROOM_RULE_QUEUE_WAIT, false, s->queue_expire_ms,
				 s->queue_expire_ms);
		room_turn_cancel(&room->context, turn, ROOM_REASON_EXPIRED);
		break;
	case ROOM_PHASE_ASKED:
		room_turn_decide(turn, ROOM_RULE_FIRST_AUDIO, false, s->first_audio_ms,
				 s->first_audio_ms);
		room_turn_cancel(&room->context, turn, ROOM_REASON_BRAIN_FAILED);
		break;
	case ROOM_PHASE_SPEAKING:
		room_turn_decide(turn, ROOM_RULE_STALL, false, s->stall_ms, s->stall_ms);
		room_turn_cancel(&room->context, turn,
				 turn->brain_done ? ROOM_REASON_PLAYBACK_FAILED
						  : ROOM_REASON_BRAIN_FAILED);
		break;
	case ROOM_PHASE_CLOSING:
		room_turn_end(&room->context, turn, turn->reason);
		break;
	default:
		turn->deadline = UINT64_MAX;
	}
}

void room_turns_tick(struct room *room)
{
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		struct room_turn *t = &room->turn[i];

		if (t->phase != ROOM_PHASE_FREE && t->phase != ROOM_PHASE_ENDED &&
		    room->context.now >= t->deadline)
			time_out_turn(room, t);
	}
}

uint64_t room_turns_deadline(const struct room *room)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS; i = room_turn_next(room, i + 1))
		if (room->turn[i].phase != ROOM_PHASE_FREE &&
		    room->turn[i].phase != ROOM_PHASE_ENDED && room->turn[i].deadline < first)
			first = room->turn[i].deadline;
	return first;
}

int room_why(const struct room *room, uint32_t turn, char *buf, size_t size)
{
	const struct room_turn *t = NULL;
	size_t n;

	for (unsigned i = 0; i < ROOM_TURNS && !t; i++)
		if (room->turn[i].phase != ROOM_PHASE_FREE && room->turn[i].id == turn)
			t = &room->turn[i];
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

uint64_t room_count(const struct room *room, enum room_reason reason)
{
	return reason < ROOM_REASON_COUNT ? room->counts[reason] : 0;
}
