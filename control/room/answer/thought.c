#include "control/room/answer/thought.h"

#include <stdio.h>

#include "control/room/answer/remark.h"
#include "control/room/base/answers.h"
#include "control/prompts/prompts.def"
#include "control/room/base/turns.h"
#include "control/room/floor/floor.h"
#include "control/room/floor/music.h"
#include "control/room/hearing/captures.h"
#include "control/room/turn/admission.h"
#include "control/room/turn/history.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

enum { GREET_MS = 1000, SUMMARY_LINES = 4 };

enum kind { NOTHING, GREETING, SUMMARY, THOUGHT };

bool room_thought_has_floor(const struct room_context *context)
{
	return !room_turn_active(context) && context->up && !context->muted &&
	       room_people_present(context) && !room_live_captures(context) &&
	       !room_turn_pending(context);
}

bool room_thought_is_quiet(const struct room_context *context)
{
	return room_thought_has_floor(context) && room_music_idle(context->music);
}

bool room_thought_may_speak(const struct room_context *context)
{
	return room_thought_is_quiet(context) && !context->guest &&
	       !context->settings->command_only;
}

/* splitmix64 of values that a replay knows as well. */
bool room_thought_draw(const struct room_context *context, unsigned number, unsigned percent)
{
	uint64_t z = context->now + number * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	return z % 100 < percent;
}

static bool thoughts_enabled(const struct room_context *context)
{
	return context->settings->volition != SETTINGS_VOLITION_OFF &&
	       context->settings->thought_eagerness && !context->guest;
}

static void speak_thought(struct room_thought *th, struct room_context *context, const char *what,
			  enum room_rule rule)
{
	struct room_turn *t = room_turn_new_prompted(context, what);

	if (!t)
		return;
	th->turn = t->id;
	room_turn_decide(t, rule, true, (int64_t)((context->now - th->quiet_at) / NS_PER_MS), 0);
	room_answer_ask(context, t);
}

/* ---- the greeting ---- */

static void greet(struct room_thought *th, struct room_context *context)
{
	struct room_turn *t = room_turn_new_prompted(context, PROMPT_GREETING);

	if (!t)
		return;
	t->arrival = true;
	th->greeting = th->turn = t->id;
	th->greetings++;
	room_turn_admit(context, t);
}

/* The turn that greeted, once it has ended. */
static const struct room_turn *find_ended_greeting(const struct room_thought *th,
						   const struct room_context *context)
{
	const struct room_turn *t = th->greeting ? room_turn_by_id(context, th->greeting) : NULL;

	return t && t->phase == ROOM_PHASE_ENDED ? t : NULL;
}

/* Retries the greeting when it produced no audio and nobody has spoken since. */
static void end_greeting(struct room_thought *th, const struct room_context *context)
{
	const struct room_turn *t = find_ended_greeting(th, context);

	if (!t)
		return;
	th->greeting = 0;
	th->look_at = context->now + context->settings->retry_ms * NS_PER_MS;
	if (t->first_audio_at ||
	    (t->reason != ROOM_REASON_NO_ANSWER && t->reason != ROOM_REASON_BRAIN_FAILED &&
	     t->reason != ROOM_REASON_SPEECH_FAILED))
		th->greetings = ROOM_GREETINGS;
}

static void withdraw_greeting(struct room_thought *th, struct room_context *context)
{
	struct room_turn *t = th->greeting ? room_turn_by_id(context, th->greeting) : NULL;

	th->greetings = ROOM_GREETINGS;
	if (t && t->phase == ROOM_PHASE_QUEUED)
		room_turn_cancel(context, t, ROOM_REASON_THOUGHT_WITHDRAWN);
}

/* ---- the summary ---- */

/* Lines of people that no spoken summary had. */
static bool owes_summary(const struct room_thought *th, const struct room_context *context)
{
	const struct room_history *h = context->history;
	unsigned lines = 0;

	if (!context->settings->summary_silence_s || context->guest)
		return false;
	for (unsigned i = room_history_count(h); i-- > 0 && lines < SUMMARY_LINES;) {
		const struct room_history_line *l = room_history_at(h, i);

		lines += !l->bot && !l->withheld && l->at > th->summed_at;
	}
	return lines == SUMMARY_LINES;
}

void room_answer_speech_began(struct room_context *context)
{
	struct room_thought *th = context->thought;
	struct room_turn *a = room_turn_active(context);

	withdraw_greeting(th, context);
	room_remark_withdraw(context->remark, context);
	th->quiet_at = context->now;
	if (a && !a->user && !a->first_audio_at)
		room_turn_cancel(context, a, ROOM_REASON_THOUGHT_WITHDRAWN);
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t room_thought_quiet_since(const struct room_context *context, uint64_t up_at)
{
	return later_of(context->thought->quiet_at, later_of(room_turn_free_at(context), up_at));
}

/* When the next words are due, and which. */
static uint64_t next_due(const struct room_thought *th, const struct room_context *context,
			 uint64_t up_at, enum kind *what)
{
	uint64_t quiet = room_thought_quiet_since(context, up_at);
	const struct settings *s = context->settings;
	uint64_t at = UINT64_MAX;

	*what = NOTHING;
	if (!context->up)
		return at;
	if (th->greetings < ROOM_GREETINGS && !th->greeting && s->greet && !context->guest) {
		*what = GREETING;
		return later_of(up_at + GREET_MS * NS_PER_MS, th->look_at);
	}
	if (!room_people_present(context))
		return at;
	if (owes_summary(th, context)) {
		*what = SUMMARY;
		at = quiet + s->summary_silence_s * NS_PER_S;
	}
	if (thoughts_enabled(context) && quiet + s->thought_silence_s * NS_PER_S < at) {
		*what = THOUGHT;
		at = quiet + s->thought_silence_s * NS_PER_S;
	}
	return at == UINT64_MAX ? at : later_of(at, th->look_at);
}

static void speak_unasked(struct room_thought *th, struct room_context *context)
{
	const struct settings *s = context->settings;

	if (room_floor_volition_in(context->floor, s, context->now))
		return;
	th->drawn++;
	th->look_at = context->now + s->thought_interval_s * NS_PER_S;
	if (!room_thought_draw(context, th->drawn, s->thought_eagerness))
		return;
	room_floor_apply(context->floor, s, ROOM_FLOOR_OFFER_VOLITION, 0, context->now);
	speak_thought(th, context, PROMPT_THOUGHT, ROOM_RULE_THOUGHT);
}

/* For those who look at the room alone: nothing is decided by it. */
static void note_heard(struct room_thought *th, const struct room_context *context)
{
	const struct room_turn *t = th->turn ? room_turn_by_id(context, th->turn) : NULL;

	if (t && t->first_audio_at)
		th->heard_at = t->first_audio_at;
	if (!t || t->phase == ROOM_PHASE_ENDED)
		th->turn = 0;
}

void room_thought_tick(struct room_thought *th, struct room_context *context, uint64_t up_at)
{
	enum kind what;

	note_heard(th, context);
	end_greeting(th, context);
	if (context->now < next_due(th, context, up_at, &what))
		return;
	th->look_at = context->now + context->settings->retry_ms * NS_PER_MS;
	if (!room_thought_may_speak(context))
		return;
	th->tried_at = context->now;
	if (what == GREETING) {
		greet(th, context);
	} else if (what == SUMMARY) {
		th->summed_at = context->now;
		speak_thought(th, context, PROMPT_SPOKEN_SUMMARY, ROOM_RULE_SPOKEN_SUMMARY);
	} else {
		speak_unasked(th, context);
	}
}

uint64_t room_thought_due(const struct room_thought *th, const struct room_context *context,
			  uint64_t up_at)
{
	enum kind what;

	return next_due(th, context, up_at, &what);
}

uint64_t room_thought_deadline(const struct room_thought *th, const struct room_context *context,
			       uint64_t up_at)
{
	enum kind what;

	return find_ended_greeting(th, context) ? context->now
						: next_due(th, context, up_at, &what);
}

void room_answer_restart_silence(struct room_context *context)
{
	context->thought->quiet_at = context->now;
}
