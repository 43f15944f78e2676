#include "control/room/session.h"

#include "control/room/hearing/captures.h"
#include "control/room/inside.h"
#include "control/room/floor/music.h"
#include "proto/base/time.h"

static const struct {
	const char *name, *text;
} ends[ROOM_END_COUNT] = {{"none", ""},
#define X(NAME, name, text) {#name, text},
			  ROOM_ENDS(X)
#undef X
};

static const unsigned length_warnings[] = {120, 45};
enum { LENGTH_WARNINGS = sizeof length_warnings / sizeof length_warnings[0], IDLE_WARNING = 45 };

const char *room_end_name(enum room_end end)
{
	return end < ROOM_END_COUNT ? ends[end].name : "?";
}

static bool event_says(const struct room_event *ev, const char *word)
{
	return ev->text.n == strlen(word) && memcmp(ev->text.p, word, ev->text.n) == 0;
}

static void update_call_timers(struct room *room, const struct room_event *ev)
{
	struct room_session *s = &room->session;

	if (ev->yes) {
		s->lost_at = 0;
		if (!s->up_at)
			s->up_at = s->active_at = room->context.now;
		return;
	}
	if (s->lost_at && s->lost_as)
		return;
	s->lost_at = room->context.now;
	s->lost_as = event_says(ev, "crashed")	      ? ROOM_END_SUBPROCESS_CRASHED
		     : event_says(ev, "disconnected") ? ROOM_END_BOT_DISCONNECTED
						      : ROOM_END_NONE;
}

void room_session_active(struct room *room)
{
	room->session.active_at = room->context.now;
	room->session.idle_warned = false;
}

void room_shut_down(struct room *room)
{
	room->context.over = true;
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
			room_emit(&room->context, ROOM_DO_UNLISTEN)->user = sp->user;
		*sp = (struct room_speaker){0};
	}
	room->places = 0;
}

void room_session_end(struct room *room, enum room_end end)
{
	if (room->session.end || room->context.over)
		return;
	room->session.end = end;
	if (!room_music_idle(&room->music))
		room_music_command(room, ROOM_MUSIC_STOP);
	room_shut_down(room);
	room_emit(&room->context, ROOM_DO_LEAVE)->text = ends[end].name;
}

static void end_by_name(struct room *room, const struct room_event *ev)
{
	for (unsigned i = 1; i < ROOM_END_COUNT; i++)
		if (event_says(ev, ends[i].name))
			room_session_end(room, (enum room_end)i);
}

static void update_call(struct room *room, const struct room_event *ev)
{
	struct room_effect *e;
	bool up = ev->yes;

	if (room->context.up && !up)
		room_captures_end(room);
	room->context.up = up;
	update_call_timers(room, ev);
	if (!up || room->greeted)
		return;
	room->greeted = true;
	room_moment_add(&room->moments, ROOM_MOMENT_SELF_JOIN, 0, room->context.name, NULL,
			room->context.now);
	if (!room->context.guest)
		return;
	room->words = (struct words){0};
	words_guest(&room->words, room->context.name);
	e = room_emit(&room->context, ROOM_DO_TELL);
	e->words = &room->words;
	e->text = room->words.text;
}

void room_session_on_event(struct room *room, const struct room_event *ev)
{
	switch (ev->type) {
	case ROOM_CALL:
		update_call(room, ev);
		break;
	case ROOM_MUTE:
		room->context.muted = ev->yes;
		break;
	case ROOM_END:
		end_by_name(room, ev);
		break;
	case ROOM_SHUTDOWN:
		room_shut_down(room);
		break;
	case ROOM_SETTINGS:
		if (ev->yes)
			room_apply_settings(room);
		else
			room_session_end(room, ROOM_END_CHANNEL_BLOCKED);
		break;
	default:
		break;
	}
}

/* ---- time ---- */

static uint64_t length_end(const struct room *room)
{
	const struct room_session *s = &room->session;
	uint64_t min = room->context.settings->session_max_min;

	return min && s->up_at ? s->up_at + min * 60 * NS_PER_S : UINT64_MAX;
}

static uint64_t idle_end(const struct room *room)
{
	const struct room_session *s = &room->session;

	if (!room->context.settings->inactivity_s || !s->up_at || room->active ||
	    room_music_locks(&room->music))
		return UINT64_MAX;
	return s->active_at + room->context.settings->inactivity_s * NS_PER_S;
}

static uint64_t lost_end(const struct room *room)
{
	const struct room_session *s = &room->session;

	if (!s->lost_at || !s->lost_as)
		return UINT64_MAX;
	return s->lost_at + (s->lost_as == ROOM_END_SUBPROCESS_CRASHED
				     ? room->context.settings->media_recover_s * NS_PER_S
				     : room->context.settings->call_grace_ms * NS_PER_MS);
}

/* The next warning of the maximum length, or NULL; warnings as long as the session itself are
 * skipped. */
static const unsigned *find_next_warning(const struct room *room)
{
	unsigned n = room->session.warned;

	while (n < LENGTH_WARNINGS &&
	       room->context.settings->session_max_min * 60 <= length_warnings[n])
		n++;
	return n < LENGTH_WARNINGS ? &length_warnings[n] : NULL;
}

static uint64_t length_warning_time(const struct room *room)
{
	const unsigned *warning = find_next_warning(room);
	uint64_t at = length_end(room);

	return at == UINT64_MAX || !warning ? UINT64_MAX : at - *warning * NS_PER_S;
}

/* If the limit is short, there is no warning of every silence. */
static uint64_t idle_warning_time(const struct room *room)
{
	uint64_t at = idle_end(room);

	if (at == UINT64_MAX || room->session.idle_warned ||
	    room->context.settings->inactivity_s < 2 * IDLE_WARNING)
		return UINT64_MAX;
	return at - IDLE_WARNING * NS_PER_S;
}

static void emit_warning(struct room *room, bool idle, unsigned seconds)
{
	struct room_effect *e;

	room->words = (struct words){0};
	if (idle)
		words_leaves_idle(&room->words, seconds);
	else
		words_leaves_soon(&room->words, seconds);
	e = room_emit(&room->context, ROOM_DO_TELL);
	e->words = &room->words;
	e->text = room->words.text;
}

void room_session_tick(struct room *room)
{
	struct room_session *s = &room->session;
	const unsigned *warning = find_next_warning(room);

	if (room->context.now >= lost_end(room)) {
		room_session_end(room, s->lost_as);
	} else if (room->context.now >= length_end(room)) {
		room_session_end(room, ROOM_END_MAX_DURATION);
	} else if (room->context.now >= idle_end(room)) {
		room_session_end(room, ROOM_END_INACTIVITY_TIMEOUT);
	} else if (warning && room->context.now >= length_warning_time(room)) {
		s->warned = (unsigned)(warning - length_warnings) + 1;
		emit_warning(room, false, *warning);
	} else if (room->context.now >= idle_warning_time(room)) {
		emit_warning(room, true, IDLE_WARNING);
		s->idle_warned = true;
	}
}

uint64_t room_session_deadline(const struct room *room)
{
	uint64_t at[] = {lost_end(room), length_end(room), idle_end(room),
			 length_warning_time(room), idle_warning_time(room)};
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
		if (at[i] < best)
			best = at[i];
	return best;
}

uint64_t room_session_up_at(const struct room *room)
{
	return room->session.up_at;
}

uint64_t room_session_active_at(const struct room *room)
{
	return room->session.active_at;
}
