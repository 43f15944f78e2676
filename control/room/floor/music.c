#include "control/room/floor/music.h"

#include <string.h>

#include "control/room/base/context.h"
#include "control/room/base/hearing.h"
#include "control/room/base/people.h"
#include "control/room/base/turn.h"
#include "control/room/base/turns.h"
#include "control/room/floor/address.h"
#include "control/room/floor/loudness.h"
#include "control/room/floor/phrase.h"
#include "control/room/language/language.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

bool room_music_locks(const struct room_music *m)
{
	return m->phase == ROOM_MUSIC_LOADING || m->phase == ROOM_MUSIC_PLAYING;
}

bool room_music_gates(const struct room_music *m)
{
	return room_music_locks(m) || m->phase == ROOM_MUSIC_PAUSED_WAKE;
}

bool room_music_latched(const struct room_music *m, uint64_t user, uint64_t now)
{
	if (!room_music_gates(m) || now >= m->latch_until)
		return false;
	return m->phase != ROOM_MUSIC_PAUSED_WAKE || m->owner == user;
}

/* The number of words at word i that may stand around a command: the bot's name, a request that is
 * mere politeness, words that open a sentence before it, and polite words that end one after it.
 * "Para mañana" is no command: a time or place says more. 0 for others. */
static unsigned match_around(const struct room_saying *said, const struct room_words *w, unsigned i,
			     bool after)
{
	unsigned n = said->names ? room_name_at(said->names, w, i) : 0;
	uint32_t may = after ? ROOM_WORD_LAST : ROOM_WORD_LEAD | ROOM_WORD_CALL;

	if (n)
		return n;
	n = room_words_match(w, i, ROOM_WORD_STOP_AROUND);
	if (n && (room_words_match(w, i, ROOM_WORD_REQUEST) == n ||
		  room_words_match(w, i, ROOM_WORD_MODAL)))
		return n;
	n = room_words_match(w, i, may);
	if (after && room_words_match(w, i, ROOM_WORD_STOP_AROUND) != n)
		return 0;
	return room_words_match(w, i, ROOM_WORD_COUNTER | ROOM_WORD_QUESTION) ? 0 : n;
}

/* The command at word i and the number of its words; 0: none. */
static unsigned match_command(const struct room_words *w, unsigned i,
			      enum room_music_control *control)
{
	static const struct {
		uint32_t class;
		enum room_music_control control;
	} commands[] = {{ROOM_WORD_MUSIC_STOP, ROOM_MUSIC_STOP},
			{ROOM_WORD_MUSIC_PAUSE, ROOM_MUSIC_PAUSE},
			{ROOM_WORD_MUSIC_SKIP, ROOM_MUSIC_SKIP},
			{ROOM_WORD_MUSIC_RESUME, ROOM_MUSIC_RESUME}};
	bool louder;
	unsigned n = room_loudness_match(w, i, &louder);

	*control = !n ? ROOM_MUSIC_NO_CONTROL : louder ? ROOM_MUSIC_LOUDER : ROOM_MUSIC_QUIETER;
	for (unsigned k = 0; k < sizeof commands / sizeof commands[0]; k++) {
		unsigned words = room_words_match(w, i, commands[k].class);

		if (words <= n)
			continue;
		n = words;
		*control = commands[k].control;
	}
	return n;
}

static enum room_music_control find_control(const struct room_saying *said,
					    enum room_language language)
{
	enum room_music_control found = ROOM_MUSIC_NO_CONTROL;
	struct room_words w;

	room_words_split(&w, said->text, language ? language : ROOM_LANGUAGE_EN);
	if (w.question || w.cut)
		return ROOM_MUSIC_NO_CONTROL;
	for (unsigned i = 0, n; i < w.n; i += n) {
		enum room_music_control control;

		n = match_command(&w, i, &control);
		if (!n)
			n = match_around(said, &w, i, found != ROOM_MUSIC_NO_CONTROL);
		if (!n || (control && found))
			return ROOM_MUSIC_NO_CONTROL;
		found = control ? control : found;
	}
	return found;
}

/* Two short words may be of several languages ("go on"), so that of the room is tried as well. */
enum room_music_control room_music_control(const struct room_saying *said)
{
	enum room_language language = room_phrase_language(said);
	enum room_music_control found = find_control(said, language);

	if (!found && !said->told)
		found = find_control(said, said->language);
	return found;
}

bool room_music_obeys(const struct room_music *m, const struct room_context *context,
		      const struct room_turn *turn)
{
	return turn->named || m->asker == turn->user || room_people_present(context) == 1 ||
	       room_music_admits(m, turn->user, turn->latched, context->now);
}

static void emit_command(struct room_context *context, uint64_t user, const char *what)
{
	struct room_effect *e = room_emit(context, ROOM_DO_MUSIC);

	e->user = user;
	e->text = what;
	e->ms = context->settings->duck_fade_ms;
}

/* The music is over: nobody may go on in its latch. What was played stays known. */
static void forget_session(struct room_music *m)
{
	m->asker = m->latch_until = 0;
	m->renews = false;
}

/* The only place where the phase changes; the state of the old phase is cleared. */
static void enter_phase(struct room_music *m, struct room_context *context,
			enum room_music_phase phase)
{
	if (m->phase == phase)
		return;
	if (room_music_locks(m))
		room_report_activity(context); /* inactivity counts from its end */
	m->phase = phase;
	m->owner = 0;
	m->resumes = false;
	if (phase == ROOM_MUSIC_IDLE)
		forget_session(m);
	room_report_change(context);
}

/* Stops an answer that is older than the request for this music; a newer turn is not touched.
 * */
static void halt_speech(struct room_context *context, uint32_t by)
{
	struct room_turn *active = room_turn_active(context);

	if (by && active && active->id <= by)
		room_turn_cancel(context, active, ROOM_REASON_MUSIC_BEGAN);
}

static bool event_says(const struct room_event *ev, const char *word)
{
	return ev->text.n == strlen(word) && memcmp(ev->text.p, word, ev->text.n) == 0;
}

static void note_asker(struct room_music *m, const struct room_context *context, uint32_t turn)
{
	const struct room_turn *by = turn ? room_turn_by_id(context, turn) : NULL;

	m->asker = by ? by->user : m->asker;
}

/* A pause that nobody takes back would hold whatever plays later. */
static void end_music(struct room_music *m, struct room_context *context)
{
	if (m->resumes)
		emit_command(context, 0, "resume");
	enter_phase(m, context, ROOM_MUSIC_IDLE);
}

static void report_phase(struct room_music *m, struct room_context *context,
			 const struct room_event *ev)
{
	m->track = ev->yes;
	note_asker(m, context, ev->turn);
	if (event_says(ev, "loading")) {
		enter_phase(m, context, ROOM_MUSIC_LOADING);
	} else if (event_says(ev, "playing")) {
		enter_phase(m, context, ROOM_MUSIC_PLAYING);
		halt_speech(context, ev->turn);
	} else if (event_says(ev, "paused")) {
		if (m->phase != ROOM_MUSIC_PAUSED_WAKE || !m->resumes)
			enter_phase(m, context, ROOM_MUSIC_PAUSED);
	} else {
		end_music(m, context);
	}
}

static void pause_for(struct room_music *m, struct room_context *context, uint64_t user)
{
	emit_command(context, 0, "pause");
	enter_phase(m, context, ROOM_MUSIC_PAUSED_WAKE);
	m->owner = user;
	m->resumes = true;
}

/* The mixer ducks music under every answer, so that "duck" only takes a pause back. */
static void hand_off(struct room_music *m, struct room_context *context,
		     const struct room_event *ev)
{
	const struct room_turn *turn = room_turn_by_id(context, ev->turn);

	if (event_says(ev, "pause")) {
		if (m->phase == ROOM_MUSIC_PLAYING && turn)
			pause_for(m, context, turn->user);
	} else if (m->phase == ROOM_MUSIC_PAUSED_WAKE && m->resumes) {
		m->resumes = false;
		emit_command(context, 0, "resume");
	}
}

static void note_tracks(struct room_music *m, struct room_context *context,
			const struct room_event *ev)
{
	size_t n = ev->text.n;

	n = utf8_whole((const char *)ev->text.p, n < sizeof m->tracks ? n : sizeof m->tracks - 1);
	if (n)
		memcpy(m->tracks, ev->text.p, n);
	m->tracks[n] = '\0';
	room_report_change(context);
}

void room_music_on_event(struct room_music *m, struct room_context *context,
			 const struct room_event *ev)
{
	if (ev->type == ROOM_MUSIC)
		report_phase(m, context, ev);
	else if (ev->type == ROOM_HANDOFF)
		hand_off(m, context, ev);
	else if (ev->type == ROOM_TRACKS)
		note_tracks(m, context, ev);
}

void room_music_command(struct room_music *m, struct room_context *context, uint64_t user,
			enum room_music_control control)
{
	bool paused = room_music_paused(m);

	switch (control) {
	case ROOM_MUSIC_STOP:
		emit_command(context, user, "stop");
		enter_phase(m, context, ROOM_MUSIC_IDLE);
		break;
	case ROOM_MUSIC_PAUSE:
		if (room_music_locks(m) || paused) {
			emit_command(context, user, "pause");
			enter_phase(m, context, ROOM_MUSIC_PAUSED);
		}
		break;
	case ROOM_MUSIC_SKIP:
		emit_command(context, user, "skip");
		break;
	case ROOM_MUSIC_RESUME:
		if (paused)
			emit_command(context, user, "resume");
		break;
	case ROOM_MUSIC_LOUDER:
		emit_command(context, user, "louder");
		break;
	case ROOM_MUSIC_QUIETER:
		emit_command(context, user, "quieter");
		break;
	case ROOM_MUSIC_NO_CONTROL:
		break;
	}
}

void room_music_wake(struct room_music *m, struct room_context *context, uint64_t user)
{
	if (!room_music_gates(m))
		return;
	m->latch_until = context->now + context->settings->music_latch_s * NS_PER_S;
	m->renews = true;
	if (m->phase != ROOM_MUSIC_PLAYING || !context->settings->music_wake_pause)
		return;
	pause_for(m, context, user);
}

void room_music_answered(struct room_music *m, const struct room_context *context)
{
	if (m->renews)
		m->latch_until = context->now + context->settings->music_latch_s * NS_PER_S;
}

/* No answer, no live speech, no waiting turn. */
static bool room_is_still(const struct room_context *context)
{
	return !room_turn_active(context) && !room_speech_until(context, NULL, true) &&
	       !room_turn_pending(context);
}

void room_music_tick(struct room_music *m, struct room_context *context)
{
	if (!room_turn_active(context) && !room_turn_queued(context))
		m->renews = false;
	if (!m->resumes || !room_is_still(context))
		return;
	if (!m->track) {
		end_music(m, context);
		return;
	}
	m->resumes = false;
	emit_command(context, 0, "resume");
}

uint64_t room_music_deadline(const struct room_music *m, const struct room_context *context)
{
	uint64_t live = m->resumes ? room_speech_until(context, NULL, true) : 0;

	return live ? live : UINT64_MAX;
}

const char *room_music_tracks(const struct room_music *m)
{
	return m->tracks;
}

bool room_music_paused(const struct room_music *m)
{
	bool paused = m->phase == ROOM_MUSIC_PAUSED || m->phase == ROOM_MUSIC_PAUSED_WAKE;

	return paused;
}

bool room_music_idle(const struct room_music *m)
{
	return m->phase == ROOM_MUSIC_IDLE;
}

bool room_music_admits(const struct room_music *m, uint64_t user, bool latched, uint64_t now)
{
	bool others = m->phase == ROOM_MUSIC_PAUSED_WAKE && m->owner != user;

	return !others && (latched || m->owner == user || room_music_latched(m, user, now));
}

void room_music_renew(struct room_music *m)
{
	m->renews = true;
}
