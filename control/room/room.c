#include "control/room/room.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/room/hearing/long_capture.h"
#include "control/room/turn/deferred.h"
#include "control/room/inside.h"
#include "control/room/turn/turn_queue.h"
#include "control/room/turn/segment.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

/* What of the settings the room keeps in a form of its own. */
static void take_settings(struct room *room)
{
	const struct settings *s = room->settings;

	room->guest = settings_guest(s);
	if (*s->bot_name)
		room_clean_name(s->bot_name, strlen(s->bot_name), room->name, sizeof room->name);
	room->names = (struct room_names){0};
	room_names_add(&room->names, room->name);
	room_names_add(&room->names, s->aliases);
}

/* How often speech that goes on counts as such. */
enum { ACTIVITY_MS = 2000 };

int room_alloc(struct room **out, const struct settings *settings, const char *name)
{
	struct room *room;

	if (!out || !settings)
		return EINVAL;
	if (*settings->bot_name)
		name = settings->bot_name;
	if (!name || !*name)
		return EINVAL;
	room = calloc(1, sizeof *room);
	if (!room)
		return ENOMEM;
	room->settings = settings;
	room_clean_name(name, strlen(name), room->name, sizeof room->name);
	take_settings(room);
	room->shared = settings->asr_sessions == SETTINGS_ASR_SHARED;
	room->files = settings->asr_sessions == SETTINGS_ASR_FILE;
	*out = room;
	return 0;
}

struct room *room_free(struct room *room)
{
	free(room);
	return NULL;
}

struct room_effect *room_emit(struct room *room, enum room_effect_type type)
{
	static struct room_effect nowhere;
	struct room_effect *e = &nowhere;

	/* ROOM_EFFECTS holds the most that any step can ask for: 3 a speaker and 8 a turn. */
	_Static_assert(ROOM_EFFECTS >= 3 * ROOM_SPEAKERS + 8 * ROOM_TURNS, "effects");
	assert(room->fx->n < ROOM_EFFECTS);
	if (room->fx->n < ROOM_EFFECTS)
		e = &room->fx->v[room->fx->n++];
	*e = (struct room_effect){.type = type};
	return e;
}

char *room_text(struct room *room, size_t size, size_t most)
{
	struct room_texts *t = &room->texts;

	if (t->n > most || size > most - t->n)
		return NULL;
	t->buf[t->n] = '\0';
	return t->buf + t->n;
}

const char *room_text_keep(struct room *room, const char *text)
{
	room->texts.n = (size_t)(text - room->texts.buf) + strlen(text) + 1;
	return text;
}

const char *room_text_of(struct room *room, const char *text, size_t n)
{
	char *to = room_text(room, n + 1, ROOM_TEXTS_MANY);

	if (!to)
		return NULL;
	memcpy(to, text, n);
	to[n] = '\0';
	utf8_mend(to);
	return room_text_keep(room, to);
}

struct room_speaker *room_speaker(struct room *room, uint64_t user)
{
	for (unsigned i = 0; i < room->places; i++)
		if (room->speaker[i].used && room->speaker[i].user == user)
			return &room->speaker[i];
	return NULL;
}

unsigned room_live_captures(const struct room *room)
{
	unsigned n = 0;

	for (unsigned i = 0; i < room->places; i++)
		n += room->speaker[i].used && room->speaker[i].capture.phase != ROOM_CAPTURE_NONE;
	return n;
}

unsigned room_people(const struct room *room)
{
	unsigned n = 0;

	for (unsigned i = 0; i < room->places; i++)
		n += room->speaker[i].used && !room->speaker[i].is_bot;
	return n;
}

const struct room_turn *room_active(const struct room *room)
{
	return room->active;
}

uint64_t room_count(const struct room *room, enum room_reason reason)
{
	return reason < ROOM_REASON_COUNT ? room->counts[reason] : 0;
}

/* ---- captures: what a capture says becomes speech-to-text and turns ---- */

static void capture_promoted(struct room *room, struct room_speaker *sp)
{
	struct room_turn *t = room_turn_new(room, sp);

	room_thought_on_speech(room);
	if (room->shared)
		room_asr_promote(room, sp);
	if (!t)
		return;
	t->latched = room_music_latched(&room->music, sp->user, room->now);
	room_turn_decide(t, ROOM_RULE_PROMOTED, true, (int64_t)room_signal_ms(&sp->capture.signal),
			 room->settings->promote_ms);
}

static void capture_ended(struct room *room, struct room_speaker *sp, enum room_capture_end end)
{
	struct room_turn *t = sp->turn;

	if (!t) {
		room_asr_discard(room, sp);
		return;
	}
	t->end_of_speech_at = sp->capture.voice_at;
	if (end == ROOM_CAPTURE_NOISE || end == ROOM_CAPTURE_DISCARDED) {
		room_asr_discard(room, sp);
		if (!t->chunks) {
			bool voiceless = room_capture_lacks_voice(&sp->capture, room->settings);

			room_turn_decide(t, ROOM_RULE_VOICED, !voiceless,
					 (int64_t)room_signal_ms(&sp->capture.voiced),
					 room->settings->noise_voice_ms);
			if (!voiceless)
				room_turn_decide(t, ROOM_RULE_NOISE_GATE, false,
						 room_signal_rms(&sp->capture.signal),
						 room->settings->noise_rms);
			room_turn_end(room, t, ROOM_REASON_NOISE);
			return;
		}
	} else if (end != ROOM_CAPTURE_CONSUMED) {
		room_asr_commit(room, sp);
	}
	if (end != ROOM_CAPTURE_CHUNK)
		room_turn_end_capture(room, t);
}

static void capture_did(struct room *room, struct room_speaker *sp,
			const struct room_capture_out *out, const struct room_event *ev)
{
	/* Only a frame is appended, so there is one. */
	assert(!out->append || ev);
	if (out->start)
		room_asr_start(room, sp);
	if (out->append && ev) {
		struct room_effect *e = room_emit(room, ROOM_DO_ASR_APPEND);

		e->user = sp->user;
		e->utterance = sp->capture.utterance;
		e->pcm = ev->pcm;
	}
	if (out->promote)
		capture_promoted(room, sp);
	if (out->append && ev)
		room_overlap_audio(room, sp, &out->frame, ev->at);
	if (out->append && sp->capture.voice_at == ev->at)
		room_speculative_on_voice(room, sp->user, room_signal_ms(&out->frame));
	if (out->append && room_capture_confirmed(&sp->capture, room->settings) &&
	    room->now >= room->session.active_at + ACTIVITY_MS * NS_PER_MS)
		room_session_active(room);
	if (out->end != ROOM_CAPTURE_CONTINUES)
		capture_ended(room, sp, out->end);
}

static void capture_fact(struct room *room, const struct room_event *ev)
{
	struct room_speaker *sp = room_speaker(room, ev->user);
	const struct settings *s = room->settings;
	struct room_capture_out out;

	if (!sp || sp->is_bot)
		return;
	if (ev->type == ROOM_SPEAKING)
		out = room_capture_on_speaking(&sp->capture, s, ev->yes, ev->at,
					       room_live_captures(room), room->now);
	else if (ev->type == ROOM_HEARD)
		out = room_capture_on_audio(&sp->capture, s, ev->pcm, ev->at, room->now);
	else
		out = room_capture_finish(&sp->capture, s, ev->at);
	capture_did(room, sp, &out, ev);
}

/* ---- who is there ---- */

static void member_left(struct room *room, struct room_speaker *sp)
{
	room_moment_add(&room->moments, ROOM_MOMENT_LEAVE, sp->user, sp->name, NULL, room->now);
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		struct room_turn *t = &room->turn[i];

		/* An answer that others hear already is spoken to its end. */
		if (t->phase == ROOM_PHASE_FREE || t->phase == ROOM_PHASE_ENDED)
			continue;
		if (t->user == sp->user && room_people(room) > 1 &&
		    room_long_capture_flush(room, t))
			continue;
		/* What others said in the same turn is still to be answered. */
		if (t->phase < ROOM_PHASE_ASKED && room_segment_drop(t, sp->user))
			room_turn_reassign(t);
		/* An answer that others hear already, or asked for too, is spoken to its end. */
		else if (t->user == sp->user &&
			 (room_people(room) <= 1 || !(t->first_audio_at || room_segment_shared(t))))
			room_turn_cancel(room, t, ROOM_REASON_LEFT);
	}
	if (sp->asr_open)
		room_asr_close(room, sp, "user_left");
	if (!sp->is_bot)
		room_emit(room, ROOM_DO_UNLISTEN)->user = sp->user;
	*sp = (struct room_speaker){0};
	while (room->places && !room->speaker[room->places - 1].used)
		room->places--;
}

static void listen_to(struct room *room, const struct room_speaker *sp)
{
	struct room_effect *e = room_emit(room, ROOM_DO_LISTEN);

	e->user = sp->user;
	e->ms = room->settings->silence_ms;
}

static void member_came(struct room *room, const struct room_event *ev)
{
	struct room_speaker *sp = NULL;

	for (unsigned i = 0; i < ROOM_SPEAKERS && !sp; i++)
		if (!room->speaker[i].used)
			sp = &room->speaker[i];
	if (!sp)
		return; /* past the cap nobody more is heard */
	if (sp == &room->speaker[room->places])
		room->places++;
	*sp = (struct room_speaker){.used = true, .user = ev->user, .is_bot = ev->is_bot};
	room_clean_name((const char *)ev->text.p, ev->text.n, sp->name, sizeof sp->name);
	room_moment_add(&room->moments, ROOM_MOMENT_JOIN, sp->user, sp->name, NULL, room->now);
	room->thought.quiet_at = room->now;
	if (!ev->is_bot)
		listen_to(room, sp);
}

static void member_fact(struct room *room, const struct room_event *ev)
{
	struct room_speaker *sp = room_speaker(room, ev->user);

	if (sp && !ev->yes)
		member_left(room, sp);
	else if (sp)
		room_clean_name((const char *)ev->text.p, ev->text.n, sp->name, sizeof sp->name);
	else if (ev->yes)
		member_came(room, ev);
	else
		return;
	room_instructions_changed(room);
}

/* ---- the call and the end ---- */

static void end_captures(struct room *room)
{
	for (unsigned i = 0; i < room->places; i++) {
		struct room_speaker *sp = &room->speaker[i];
		struct room_capture_out out;

		if (!sp->used)
			continue;
		out = room_capture_finish(&sp->capture, room->settings, 0);
		capture_did(room, sp, &out, NULL);
	}
}

static void call_fact(struct room *room, const struct room_event *ev)
{
	struct room_effect *e;
	bool up = ev->yes;

	if (room->up && !up)
		end_captures(room);
	room->up = up;
	room_session_on_call(room, ev);
	if (!up || room->greeted)
		return;
	room->greeted = true;
	room_moment_add(&room->moments, ROOM_MOMENT_SELF_JOIN, 0, room->name, NULL, room->now);
	if (!room->guest)
		return;
	room->words = (struct words){0};
	words_guest(&room->words, room->name);
	e = room_emit(room, ROOM_DO_TELL);
	e->words = &room->words;
	e->text = room->words.text;
}

void room_shut_down(struct room *room)
{
	room->over = true;
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		struct room_turn *t = &room->turn[i];

		if (t->phase == ROOM_PHASE_FREE || t->phase == ROOM_PHASE_ENDED)
			continue;
		room_turn_cancel(room, t, ROOM_REASON_SHUTDOWN);
		room_turn_end(room, t, ROOM_REASON_SHUTDOWN);
	}
	for (unsigned i = 0; i < room->places; i++) {
		struct room_speaker *sp = &room->speaker[i];

		if (sp->used && sp->asr_open)
			room_asr_close(room, sp, "shutdown");
		if (sp->used && !sp->is_bot)
			room_emit(room, ROOM_DO_UNLISTEN)->user = sp->user;
		*sp = (struct room_speaker){0};
	}
	room->places = 0;
}

/* Somebody played a sound of the soundboard. */
static void beat(struct room *room, const struct room_event *ev)
{
	const struct room_speaker *sp = room_speaker(room, ev->user);
	char name[ROOM_MOMENT_TEXT];

	if (!sp)
		return;
	room_clean_name((const char *)ev->text.p, ev->text.n, name, sizeof name);
	room_moment_add(&room->moments, ROOM_MOMENT_SOUNDBOARD, sp->user, sp->name, name,
			room->now);
	room_instructions_changed(room);
}

/* The settings are the caller's and have changed in place. */
static void settings_fact(struct room *room, bool allowed)
{
	if (!allowed) {
		room_session_end(room, ROOM_END_CHANNEL_BLOCKED);
		return;
	}
	take_settings(room);
	room_instructions_changed(room);
	for (unsigned i = 0; i < room->places; i++)
		if (room->speaker[i].used && !room->speaker[i].is_bot)
			listen_to(room, &room->speaker[i]);
}

/* ---- the door ---- */

static void dispatch(struct room *room, const struct room_event *ev)
{
	switch (ev->type) {
	case ROOM_CALL:
		call_fact(room, ev);
		break;
	case ROOM_MEMBER:
		member_fact(room, ev);
		break;
	case ROOM_MUTE:
		room->muted = ev->yes;
		break;
	case ROOM_SPEAKING:
	case ROOM_HEARD:
	case ROOM_HEARD_END:
		capture_fact(room, ev);
		break;
	case ROOM_PARTIAL:
	case ROOM_TRANSCRIPT:
	case ROOM_TRANSCRIPT_FAILED:
		room_asr_on_event(room, ev);
		break;
	case ROOM_BRAIN_AUDIO:
	case ROOM_BRAIN_TEXT:
	case ROOM_BRAIN_DONE:
	case ROOM_BRAIN_FAILED:
		room_answer_on_brain(room, ev);
		break;
	case ROOM_SAY_STARTED:
	case ROOM_SAY_DRAINED:
	case ROOM_SAY_STOPPED:
		room_answer_on_playback(room, ev);
		break;
	case ROOM_SPEECH_AUDIO:
	case ROOM_SPEECH_WORD:
	case ROOM_SPEECH_DONE:
	case ROOM_SPEECH_FAILED:
	case ROOM_SOUND_DONE:
		room_answer_on_speech(room, ev);
		break;
	case ROOM_INSTRUCTED:
		room_instructions_applied(room);
		break;
	case ROOM_TIMER:
		break; /* time passes in every step */
	case ROOM_SHUTDOWN:
		room_shut_down(room);
		break;
	case ROOM_TOOL:
		room_watchdog_on_tool(room, ev);
		room_followup_tool(&room->followup, room->settings, ev->yes, ev->user, room->now);
		break;
	case ROOM_EOT:
		room_speculative_on_eot(room, ev);
		break;
	case ROOM_POWER:
		room_speculative_on_power(room, ev);
		break;
	case ROOM_CHOICE:
		if (ev->yes)
			room_choice_offer(&room->choice, ev->user, (const char *)ev->text.p,
					  ev->text.n, room->now);
		else
			room_choice_clear(&room->choice);
		break;
	case ROOM_MUSIC:
		room_music_on_event(room, ev);
		break;
	case ROOM_SOUNDBOARD_PLAYED:
		beat(room, ev);
		break;
	case ROOM_END:
		room_session_on_end(room, ev);
		break;
	case ROOM_SETTINGS:
		settings_fact(room, ev->yes);
		break;
	case ROOM_CLASSIFIED:
		room_classifier_on_event(room, ev);
		break;
	}
}

static void pass_time(struct room *room)
{
	for (unsigned i = 0; i < room->places; i++) {
		struct room_speaker *sp = &room->speaker[i];

		if (!sp->used)
			continue;
		if (sp->capture.phase != ROOM_CAPTURE_NONE &&
		    room->now >= room_capture_deadline(&sp->capture, room->settings)) {
			struct room_capture_out out =
				room_capture_tick(&sp->capture, room->settings, room->now);

			capture_did(room, sp, &out, NULL);
		}
		if (sp->asr_open)
			room_asr_tick(room, sp);
	}
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		struct room_turn *t = &room->turn[i];

		if (t->phase != ROOM_PHASE_FREE && t->phase != ROOM_PHASE_ENDED &&
		    room->now >= t->deadline)
			room_turn_time_out(room, t);
	}
	room_reply_tick(room);
	room_instructions_tick(room);
}

void room_step(struct room *room, const struct room_event *event, uint64_t now,
	       struct room_effects *effects)
{
	effects->n = 0;
	room->fx = effects;
	room->now = now;
	room->texts.n = 0;
	room->messages.n = 0;
	if (!room->over) {
		dispatch(room, event);
		if (!room->over)
			room_session_tick(room);
		if (!room->over) {
			pass_time(room);
			room_watchdog_tick(room);
			room_deferred_tick(room);
			room_turn_queue_tick(room);
			room_thought_tick(room);
			room_music_tick(room);
			room_barge_in_tick(room);
			room_speculative_tick(room);
			room_endpointing_tick(room);
			room_output_tick(room);
		}
	}
	room->fx = NULL;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t room_deadline(const struct room *room)
{
	const struct settings *s = room->settings;
	uint64_t at = UINT64_MAX;

	if (room->over)
		return at;
	at = earlier(room_deferred_deadline(room), room_barge_in_deadline(room));
	at = earlier(at, room_music_deadline(room));
	at = earlier(at, room_thought_deadline(room));
	at = earlier(at, room_session_deadline(room));
	at = earlier(at, room_watchdog_deadline(room));
	at = earlier(at, room_reply_deadline(room));
	at = earlier(at, room_instructions_deadline(room));
	for (unsigned i = 0; i < room->places; i++) {
		const struct room_speaker *sp = &room->speaker[i];

		if (!sp->used)
			continue;
		/* Who says something may pause, whose session is open may not need it. */
		if (sp->capture.phase != ROOM_CAPTURE_NONE) {
			at = earlier(at, room_capture_deadline(&sp->capture, s));
			at = earlier(at, room_endpointing_deadline(room, sp));
		} else if (sp->asr_open) {
			at = earlier(at, room_asr_idle_at(room, sp));
		}
	}
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		const struct room_turn *t = &room->turn[i];

		if (t->phase == ROOM_PHASE_FREE || t->phase == ROOM_PHASE_ENDED)
			continue;
		at = earlier(at, t->deadline);
		/* Who waits for the brain to be told waits for what it says to that. */
		if (t->phase == ROOM_PHASE_QUEUED && !room->active && room->up &&
		    (room->settings->reply_path != SETTINGS_REPLY_BRIDGE ||
		     !room_instructions_pending(room)))
			at = earlier(at, room_turn_hold_until(room, t));
	}
	return at;
}
