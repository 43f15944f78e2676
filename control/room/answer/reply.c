#include "control/room/answer/reply.h"

#include <string.h>

#include "control/room/inside.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { DRAIN_SLACK_S = 5 };

void room_reply_begin(struct room *room, struct room_turn *turn)
{
	struct room_reply *r = &room->reply;
	const struct settings *s = room->context.settings;

	memset(r, 0, sizeof *r);
	r->turn = turn->id;
	r->planned = s->reply_path == SETTINGS_REPLY_BRAIN;
	room_chunker_init(&r->chunker, s->chunk_sentences, s->chunk_eager, s->chunk_max);
}

/* ---- whom it speaks to ---- */

/* The only person present with this name, or 0. */
static uint64_t find_user_by_name(const struct room *room, const char *name)
{
	char plain[ROOM_NAME_MAX];
	uint64_t user = 0;

	room_clean_name(name, strlen(name), plain, sizeof plain);
	for (unsigned i = 0; i < room->places; i++) {
		const struct room_speaker *sp = &room->speaker[i];

		if (!sp->used || sp->is_bot || strcasecmp(sp->name, plain) != 0)
			continue;
		if (user)
			return 0;
		user = sp->user;
	}
	return user;
}

static void apply_lead_directives(struct room *room, struct room_turn *turn)
{
	struct room_reply *r = &room->reply;
	const struct room_directive *d = &r->directive;
	enum room_target target = r->planned ? ROOM_TARGET_MISSING : ROOM_TARGET_UNTOLD;
	uint64_t user = 0;

	if (r->led || !d->led)
		return;
	r->led = true;
	if (d->to == ROOM_TO_ALL)
		target = ROOM_TARGET_ALL;
	else if (d->to == ROOM_TO_SPEAKER)
		target = ROOM_TARGET_SPEAKER;
	else if (d->to == ROOM_TO_NAME)
		target = (user = find_user_by_name(room, d->name)) ? ROOM_TARGET_USER
								   : ROOM_TARGET_UNRESOLVED;
	if (r->planned || d->to != ROOM_TO_NOBODY) {
		turn->policy = room_interruption_policy(room->context.settings->interruptions,
							target, user, turn->user);
		room_turn_decide(turn, ROOM_RULE_ADDRESSEE, d->to != ROOM_TO_NOBODY, d->to, 0);
	}
	if (d->lease != ROOM_OUTPUT_LEASE_NONE)
		room_turn_decide(turn, ROOM_RULE_LEASE,
				 room_output_lease_grant(&turn->lease, d->lease,
							 turn->first_audio_at, room->context.now),
				 d->lease, 0);
}

/* ---- words ---- */

/* Appends as much as fits, in whole characters. */
static void append_answer(struct room_turn *t, const char *text, size_t n)
{
	size_t at = strlen(t->answer), most = sizeof t->answer - 1 - at;

	if (n > most)
		n = utf8_whole(text, most);
	memcpy(t->answer + at, text, n);
	t->answer[at + n] = '\0';
}

static void chunk_out(const char *text, size_t n, void *arg)
{
	struct room *room = arg;

	room_plan_speech(&room->reply.plan, text, n);
}

static void emit_sound(struct room *room, const char *ref, size_t n)
{
	struct room_reply *r = &room->reply;
	const char *text = room_text_of(&room->context, ref, n);
	struct room_effect *e;

	if (!text)
		return;
	e = room_emit(&room->context, ROOM_DO_SOUNDBOARD);
	e->turn = r->turn;
	e->chunk = ++r->sounds;
	e->text = text;
}

static void handle_sound(struct room *room, const char *ref, size_t n)
{
	struct room_reply *r = &room->reply;

	if (r->planned) {
		room_chunker_flush(&r->chunker, chunk_out, room);
		room_plan_sound(&r->plan, ref, n);
	} else if (!room_speculative_holds(room, r->turn)) {
		emit_sound(room, ref, n);
	} else if (r->held < ROOM_SOUNDS_MAX && n <= ROOM_SOUND_REF_MAX) {
		memcpy(r->sound[r->held], ref, n);
		r->sound[r->held++][n] = '\0';
	}
}

static void emit_note(struct room *room, const char *words, size_t n)
{
	struct room_reply *r = &room->reply;
	const char *text =
		r->notes < ROOM_NOTES_MAX ? room_text_of(&room->context, words, n) : NULL;
	struct room_effect *e;

	if (!text)
		return;
	r->notes++;
	e = room_emit(&room->context, ROOM_DO_NOTE);
	e->turn = r->turn;
	e->text = text;
}

static void directive_out(enum room_directive_out what, const char *text, size_t n, void *arg)
{
	struct room *room = arg;
	struct room_reply *r = &room->reply;

	if (what == ROOM_OUT_SOUND) {
		handle_sound(room, text, n);
	} else if (what == ROOM_OUT_NOTE) {
		emit_note(room, text, n);
	} else if (r->planned) {
		room_chunker_add(&r->chunker, text, n, chunk_out, room);
	} else {
		struct room_turn *t = room_turn_by_id(&room->context, r->turn);

		append_answer(t, text, n);
		room_playout_add_text(&r->playout, 0, strlen(t->answer));
	}
}

bool room_reply_undecided(const struct room_reply *r)
{
	return !r->directive.led && (r->directive.in_body || r->directive.n || r->directive.skip);
}

static void process_text(struct room *room, struct room_turn *turn)
{
	apply_lead_directives(room, turn);
	if (room->reply.planned)
		room_reply_advance(room, turn);
}

void room_reply_add_text(struct room *room, struct room_turn *turn, struct slice text)
{
	struct room_reply *r = &room->reply;

	room_directive_add(&r->directive, (const char *)text.p, text.n, directive_out, room);
	process_text(room, turn);
}

void room_reply_complete(struct room *room, struct room_turn *turn)
{
	struct room_reply *r = &room->reply;

	room_directive_end(&r->directive, directive_out, room);
	if (r->planned) {
		room_chunker_flush(&r->chunker, chunk_out, room);
		room_plan_complete(&r->plan);
	} else {
		room_playout_complete(&r->playout);
	}
	if (room_directive_skips(&r->directive))
		room_turn_decide(turn, ROOM_RULE_SKIP, true, 0, 0);
	process_text(room, turn);
}

void room_reply_released(struct room *room, struct room_turn *turn)
{
	struct room_reply *r = &room->reply;

	for (unsigned i = 0; i < r->held; i++)
		emit_sound(room, r->sound[i], strlen(r->sound[i]));
	r->held = 0;
	if (r->planned)
		room_reply_advance(room, turn);
}

/* ---- sound ---- */

void room_reply_add_audio(struct room *room, struct room_turn *turn, uint32_t chunk,
			  uint64_t samples)
{
	struct room_reply *r = &room->reply;

	turn->samples += samples;
	r->written += samples;
	room_playout_add_audio(&r->playout, chunk, samples);
}

/* An upper bound of the audio that waits to be played: written, and it cannot have been played
 * yet. */
static uint64_t estimate_backlog(const struct room *room)
{
	const struct room_reply *r = &room->reply;
	uint64_t left = 0;

	if (r->started_at && room->context.now > r->started_at)
		left = (room->context.now - r->started_at) / NS_PER_MS * (ROOM_RATE / 1000);
	return r->written > left ? r->written - left : 0;
}

static uint64_t samples_from_ms(uint32_t ms)
{
	return (uint64_t)ms * ROOM_RATE / 1000;
}

static void emit_speak(struct room *room, struct room_turn *t, const struct room_plan_do *d)
{
	struct room_reply *r = &room->reply;
	const struct settings *s = room->context.settings;
	struct room_effect *e = room_emit(&room->context, ROOM_DO_SPEAK);
	const char *line = room_text_of(&room->context, d->text, strlen(d->text));

	e->text = line ? line : "";
	if (*t->answer)
		append_answer(t, " ", 1);
	append_answer(t, e->text, strlen(e->text));
	room_playout_add_text(&r->playout, d->chunk, strlen(t->answer));
	t->sinks |= ROOM_SINK_TTS;
	t->deadline =
		room->context.now + (t->released ? s->stall_ms : s->first_audio_ms) * NS_PER_MS;
	e->turn = t->id;
	e->chunk = d->chunk;
}

static void play_sound(struct room *room, struct room_turn *t, const struct room_plan_do *d)
{
	struct room_reply *r = &room->reply;
	struct room_effect *e = room_emit(&room->context, ROOM_DO_SOUNDBOARD);
	const char *ref = room_text_of(&room->context, d->text, strlen(d->text));

	r->sound_until = room->context.now + room->context.settings->sound_wait_ms * NS_PER_MS;
	t->deadline = r->sound_until + room->context.settings->stall_ms * NS_PER_MS;
	e->turn = t->id;
	e->chunk = d->chunk;
	e->text = ref ? ref : "";
}

static void end_reply(struct room *room, struct room_turn *t)
{
	const struct room_reply *r = &room->reply;
	enum room_reason why = ROOM_REASON_ANSWERED;

	if (t->brain_broke)
		why = ROOM_REASON_BRAIN_FAILED;
	else if (r->broke)
		why = ROOM_REASON_SPEECH_FAILED;
	else if (!t->released && !r->directive.sounds)
		why = ROOM_REASON_NO_ANSWER;
	else if (t->not_understood)
		why = ROOM_REASON_NOT_UNDERSTOOD;
	room_turn_end(room, t, why);
}

void room_reply_advance(struct room *room, struct room_turn *t)
{
	struct room_reply *r = &room->reply;
	const struct settings *s = room->context.settings;

	r->plan.held = room_speculative_holds(room, r->turn);
	while (r->turn == t->id && t->phase != ROOM_PHASE_ENDED && t->phase != ROOM_PHASE_CLOSING) {
		struct room_plan_do d = room_plan_next(&r->plan, estimate_backlog(room),
						       samples_from_ms(s->speech_pause_ms),
						       samples_from_ms(s->speech_resume_ms));

		switch (d.what) {
		case ROOM_PLAN_SPEAK:
			emit_speak(room, t, &d);
			break;
		case ROOM_PLAN_SOUND:
			play_sound(room, t, &d);
			break;
		case ROOM_PLAN_END:
			if (!t->released)
				room_answer_open_playback(room, t);
			room_emit(&room->context, ROOM_DO_SAY_END)->turn = t->id;
			t->deadline = room->context.now +
				      estimate_backlog(room) * NS_PER_S / ROOM_RATE +
				      DRAIN_SLACK_S * NS_PER_S;
			break;
		case ROOM_PLAN_DONE:
			end_reply(room, t);
			return;
		case ROOM_PLAN_WAIT:
			if (r->plan.paused && r->plan.phase == ROOM_PLAN_READY)
				t->deadline = room->context.now +
					      estimate_backlog(room) * NS_PER_S / ROOM_RATE +
					      s->stall_ms * NS_PER_MS;
			return;
		}
	}
}

static void abandon_plan(struct room *room, struct room_turn *t)
{
	struct room_reply *r = &room->reply;

	r->broke = true;
	room_plan_abandon(&r->plan);
	t->sinks &= ~(unsigned)ROOM_SINK_TTS;
	if (!t->brain_done) {
		t->brain_done = true;
		t->sinks &= ~(unsigned)ROOM_SINK_BRAIN;
		room_emit(&room->context, ROOM_DO_BRAIN_CANCEL)->turn = t->id;
	}
}

bool room_reply_on_event(struct room *room, struct room_turn *t, const struct room_event *ev)
{
	struct room_reply *r = &room->reply;

	/* A voice model's words may have times, too: its answer is chunk 0. */
	if (ev->type == ROOM_SPEECH_WORD && ev->chunk == r->plan.running)
		room_playout_add_word(&r->playout, ev->chunk, t->answer, (const char *)ev->text.p,
				      ev->text.n, ev->samples);
	if (!r->planned)
		return false;
	switch (ev->type) {
	case ROOM_SPEECH_AUDIO:
		return ev->pcm.n >= 2 && room_plan_sounds(&r->plan, ev->chunk);
	case ROOM_SPEECH_DONE:
		if (!room_plan_spoken(&r->plan, ev->chunk))
			return false;
		room_playout_chunk_complete(&r->playout, ev->chunk);
		t->sinks &= ~(unsigned)ROOM_SINK_TTS;
		break;
	case ROOM_SPEECH_FAILED:
		if (!room_plan_spoken(&r->plan, ev->chunk))
			return false;
		abandon_plan(room, t);
		break;
	case ROOM_SOUND_DONE:
		if (!room_plan_sounded(&r->plan, ev->chunk))
			return false;
		r->sound_until = 0;
		break;
	default:
		return false;
	}
	room_reply_advance(room, t);
	return false;
}

void room_reply_drained(struct room *room, struct room_turn *t, uint64_t samples)
{
	struct room_reply *r = &room->reply;

	r->drained += samples < r->written ? samples : r->written;
	r->written = r->started_at = 0;
	r->open = false;
	t->samples_played = r->drained;
	room_plan_drained(&r->plan);
	room_reply_advance(room, t);
}

/* ---- the end ---- */

void room_reply_close(struct room *room, struct room_turn *t)
{
	struct room_reply *r = &room->reply;
	size_t n = strlen(t->answer), heard;

	if (!n || r->turn != t->id)
		return;
	if (!t->released || !t->samples)
		heard = 0;
	else if (t->samples_played >= t->samples && t->brain_done && !r->broke && !t->brain_broke)
		heard = n;
	else
		heard = room_playout_text_played(&r->playout, t->answer, t->samples_played,
						 ROOM_RATE);
	if (t->released && t->samples)
		room_turn_decide(t, ROOM_RULE_PLAYED, heard == n, (int64_t)heard, (int64_t)n);
	t->answer_cut = heard < n;
	t->answer[heard] = '\0';
	utf8_mend(t->answer);
	if (t->first_audio_at)
		room_history_add(&room->history, t->first_audio_at, t->id, true, t->answer_cut,
				 room->context.name, t->answer);
}

static bool is_active(const struct room *room)
{
	const struct room_turn *t = room->active;

	return t && room->reply.planned && t->id == room->reply.turn &&
	       (t->phase == ROOM_PHASE_ASKED || t->phase == ROOM_PHASE_SPEAKING);
}

void room_reply_tick(struct room *room)
{
	struct room_reply *r = &room->reply;

	if (!is_active(room))
		return;
	if (r->sound_until && room->context.now >= r->sound_until) {
		r->sound_until = 0;
		room_plan_sounded(&r->plan, r->plan.running);
	}
	room_reply_advance(room, room->active);
}

uint64_t room_reply_deadline(const struct room *room)
{
	const struct room_reply *r = &room->reply;
	uint64_t resume = samples_from_ms(room->context.settings->speech_resume_ms),
		 at = UINT64_MAX, over_by;

	if (!is_active(room))
		return at;
	if (r->sound_until)
		at = r->sound_until;
	if (!r->plan.paused || !r->started_at || r->plan.phase != ROOM_PLAN_READY)
		return at;
	over_by = r->written > resume ? r->written - resume : 0;
	over_by = r->started_at + (over_by * 1000 / ROOM_RATE + 1) * NS_PER_MS;
	return over_by < at ? over_by : at;
}

/* ---- for other machines ---- */

bool room_reply_planned(const struct room_reply *r)
{
	return r->planned;
}

bool room_reply_skips(const struct room_reply *r)
{
	return room_directive_skips(&r->directive);
}

void room_reply_open(struct room_reply *r)
{
	r->open = true;
}

void room_reply_started(struct room_reply *r, uint64_t at)
{
	r->started_at = at;
}

bool room_reply_is_open(const struct room_reply *r)
{
	return r->open;
}

uint64_t room_reply_drained_samples(const struct room_reply *r)
{
	return r->drained;
}
