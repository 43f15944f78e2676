#include "control/room/answer/thought.h"

#include <stdio.h>

#include "control/room/base/answers.h"
#include "control/prompts/prompts.def"
#include "control/room/base/turns.h"
#include "control/room/floor/floor.h"
#include "control/room/floor/music.h"
#include "control/room/hearing/captures.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

enum { GREET_MS = 1000 };

/* The conditions of a thought besides time. */
static bool may_speak(const struct room_context *context)
{
	return !room_turn_active(context) && context->up && !context->muted && !context->guest &&
	       room_people_present(context) && !context->settings->command_only &&
	       room_music_idle(context->music) && !room_live_captures(context) &&
	       !room_turn_pending(context);
}

/* splitmix64 of values that a replay knows as well. */
static bool draw_thought(const struct room_thought *th, const struct room_context *context)
{
	uint64_t z = context->now + th->drawn * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	return z % 100 < context->settings->thought_eagerness;
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
	room_turn_decide(t, rule, true, (int64_t)((context->now - th->quiet_at) / NS_PER_MS), 0);
	room_answer_ask(context, t);
	if (context->settings->interruptions != SETTINGS_INTERRUPT_NONE)
		t->policy = room_interruption_policy_own(ROOM_SCOPE_ANYONE, 0);
}

void room_answer_speech_began(struct room_context *context)
{
	struct room_thought *th = context->thought;
	struct room_turn *a = room_turn_active(context);

	th->greeted = true;
	th->quiet_at = context->now;
	if (a && !a->user && !a->first_audio_at)
		room_turn_cancel(context, a, ROOM_REASON_THOUGHT_WITHDRAWN);
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* When the next greeting or thought is due; `greets` tells which. */
static uint64_t next_due(const struct room_thought *th, const struct room_context *context,
			 uint64_t up_at, bool *greets)
{
	uint64_t quiet = later_of(th->quiet_at, later_of(room_turn_free_at(context), up_at));
	uint64_t at = UINT64_MAX;

	*greets = !th->greeted && context->settings->greet && !context->guest;
	if (!context->up)
		return at;
	if (*greets)
		at = up_at + GREET_MS * NS_PER_MS;
	else if (thoughts_enabled(context) && room_people_present(context))
		at = quiet + context->settings->thought_silence_s * NS_PER_S;
	return at == UINT64_MAX ? at : later_of(at, th->look_at);
}

void room_thought_tick(struct room_thought *th, struct room_context *context, uint64_t up_at)
{
	const struct settings *s = context->settings;
	bool greets;

	if (context->now < next_due(th, context, up_at, &greets))
		return;
	th->look_at = context->now + s->retry_ms * NS_PER_MS;
	if (!may_speak(context))
		return;
	if (greets) {
		th->greeted = true;
		speak_thought(th, context, PROMPT_GREETING, ROOM_RULE_GREETING);
		return;
	}
	if (room_floor_volition_in(context->floor, s, context->now))
		return;
	th->drawn++;
	th->look_at = context->now + s->thought_interval_s * NS_PER_S;
	if (!draw_thought(th, context))
		return;
	room_floor_apply(context->floor, s, ROOM_FLOOR_OFFER_VOLITION, 0, context->now);
	speak_thought(th, context, PROMPT_THOUGHT, ROOM_RULE_THOUGHT);
}

uint64_t room_thought_deadline(const struct room_thought *th, const struct room_context *context,
			       uint64_t up_at)
{
	bool greets;

	return next_due(th, context, up_at, &greets);
}

void room_answer_restart_silence(struct room_context *context)
{
	context->thought->quiet_at = context->now;
}
