#include "control/room/session.h"

#include <string.h>

#include "control/room/base/turns.h"
#include "control/room/hearing/transcript.h"
#include "control/room/room.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

static const struct {
	const char *name, *text;
} ends[ROOM_END_COUNT] = {{"none", ""},
#define X(NAME, name, text) {#name, text},
			  ROOM_ENDS(X)
#undef X
};

/* Continuing speech counts as activity of the session this often at most. */
enum { ACTIVITY_MS = 2000 };

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

static void update_call_timers(struct room_session *s, const struct room_context *context,
			       const struct room_event *ev)
{
	if (ev->yes) {
		s->lost_at = 0;
		if (!s->up_at)
			s->up_at = s->active_at = context->now;
		return;
	}
	if (s->lost_at && s->lost_as)
		return;
	s->lost_at = context->now;
	s->lost_as = event_says(ev, "crashed")	      ? ROOM_END_SUBPROCESS_CRASHED
		     : event_says(ev, "disconnected") ? ROOM_END_BOT_DISCONNECTED
						      : ROOM_END_NONE;
}

void room_report_activity(struct room_context *context)
{
	struct room_session *s = context->session;

	s->active_at = context->now;
	s->idle_warned = false;
}

static void end_session(struct room_session *s, struct room_context *context, enum room_end end)
{
	if (s->end || context->over)
		return;
	s->end = end;
	room_music_stop(context);
	room_shut_down(context);
	room_emit(context, ROOM_DO_LEAVE)->text = ends[end].name;
}

void room_report_speech(struct room_context *context)
{
	if (context->now >= context->session->active_at + ACTIVITY_MS * NS_PER_MS)
		room_report_activity(context);
}

static void end_by_name(struct room_session *s, struct room_context *context,
			const struct room_event *ev)
{
	for (unsigned i = 1; i < ROOM_END_COUNT; i++)
		if (event_says(ev, ends[i].name))
			end_session(s, context, (enum room_end)i);
}

static void update_call(struct room_session *s, struct room_context *context,
			const struct room_event *ev)
{
	struct room_effect *e;
	bool up = ev->yes;

	if (context->up && !up)
		room_call_lost(context);
	context->up = up;
	update_call_timers(s, context, ev);
	if (!up || s->greeted)
		return;
	s->greeted = true;
	room_call_began(context);
	if (!context->guest)
		return;
	s->words = (struct words){0};
	words_speak(&s->words, room_spoken_language(context));
	words_guest(&s->words, context->name);
	e = room_emit(context, ROOM_DO_TELL);
	e->words = &s->words;
	e->text = s->words.text;
}

void room_session_on_event(struct room_session *s, struct room_context *context,
			   const struct room_event *ev)
{
	switch (ev->type) {
	case ROOM_CALL:
		update_call(s, context, ev);
		break;
	case ROOM_MUTE:
		context->muted = ev->yes;
		break;
	case ROOM_END:
		end_by_name(s, context, ev);
		break;
	case ROOM_SUSPEND:
		room_suspend(context);
		break;
	case ROOM_ORDER:
		if (!ev->yes)
			room_end_turns(context);
		break;
	case ROOM_SHUTDOWN:
		room_shut_down(context);
		break;
	case ROOM_SETTINGS:
		if (ev->yes)
			room_apply_settings(context);
		else
			end_session(s, context, ROOM_END_CHANNEL_BLOCKED);
		break;
	default:
		break;
	}
}

/* ---- time ---- */

static uint64_t length_end(const struct room_session *s, const struct room_context *context)
{
	uint64_t min = context->settings->session_max_min;

	return min && s->up_at ? s->up_at + min * 60 * NS_PER_S : UINT64_MAX;
}

static uint64_t idle_end(const struct room_session *s, const struct room_context *context)
{
	if (!context->settings->inactivity_s || !s->up_at || room_turn_active(context) ||
	    room_music_plays(context))
		return UINT64_MAX;
	return s->active_at + context->settings->inactivity_s * NS_PER_S;
}

void room_session_find_times(const struct room_session *s, const struct room_context *context,
			     struct room_times *out)
{
	*out = (struct room_times){.active_at = s->active_at,
				   .length_end = length_end(s, context),
				   .idle_end = idle_end(s, context)};
}

static uint64_t lost_end(const struct room_session *s, const struct room_context *context)
{
	if (!s->lost_at || !s->lost_as)
		return UINT64_MAX;
	return s->lost_at + (s->lost_as == ROOM_END_SUBPROCESS_CRASHED
				     ? context->settings->media_recover_s * NS_PER_S
				     : context->settings->call_grace_ms * NS_PER_MS);
}

/* The next warning of the maximum length, or NULL; warnings as long as the session itself are
 * skipped. */
static const unsigned *find_next_warning(const struct room_session *s,
					 const struct room_context *context)
{
	unsigned n = s->warned;

	while (n < LENGTH_WARNINGS && context->settings->session_max_min * 60 <= length_warnings[n])
		n++;
	return n < LENGTH_WARNINGS ? &length_warnings[n] : NULL;
}

static uint64_t length_warning_time(const struct room_session *s,
				    const struct room_context *context)
{
	const unsigned *warning = find_next_warning(s, context);
	uint64_t at = length_end(s, context);

	return at == UINT64_MAX || !warning ? UINT64_MAX : at - *warning * NS_PER_S;
}

/* If the limit is short, there is no warning of every silence. */
static uint64_t idle_warning_time(const struct room_session *s, const struct room_context *context)
{
	uint64_t at = idle_end(s, context);

	if (at == UINT64_MAX || s->idle_warned ||
	    context->settings->inactivity_s < 2 * IDLE_WARNING)
		return UINT64_MAX;
	return at - IDLE_WARNING * NS_PER_S;
}

static void emit_warning(struct room_session *s, struct room_context *context, bool idle,
			 unsigned seconds)
{
	struct room_effect *e;

	s->words = (struct words){0};
	words_speak(&s->words, room_spoken_language(context));
	if (idle)
		words_leaves_idle(&s->words, seconds);
	else
		words_leaves_soon(&s->words, seconds);
	e = room_emit(context, ROOM_DO_TELL);
	e->words = &s->words;
	e->text = s->words.text;
}

void room_session_tick(struct room_session *s, struct room_context *context)
{
	const unsigned *warning = find_next_warning(s, context);

	if (context->now >= lost_end(s, context)) {
		end_session(s, context, s->lost_as);
	} else if (context->now >= length_end(s, context)) {
		end_session(s, context, ROOM_END_MAX_DURATION);
	} else if (context->now >= idle_end(s, context)) {
		end_session(s, context, ROOM_END_INACTIVITY_TIMEOUT);
	} else if (warning && context->now >= length_warning_time(s, context)) {
		s->warned = (unsigned)(warning - length_warnings) + 1;
		emit_warning(s, context, false, *warning);
	} else if (context->now >= idle_warning_time(s, context)) {
		emit_warning(s, context, true, IDLE_WARNING);
		s->idle_warned = true;
	}
}

uint64_t room_session_deadline(const struct room_session *s, const struct room_context *context)
{
	uint64_t at[] = {lost_end(s, context), length_end(s, context), idle_end(s, context),
			 length_warning_time(s, context), idle_warning_time(s, context)};
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
		if (at[i] < best)
			best = at[i];
	return best;
}

uint64_t room_session_up_at(const struct room_session *s)
{
	return s->up_at;
}
