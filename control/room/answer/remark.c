#include "control/room/answer/remark.h"

#include "control/prompts/prompts.def"
#include "control/room/answer/thought.h"
#include "control/room/base/hearing.h"
#include "control/room/base/turns.h"
#include "control/room/turn/admission.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

enum { SILENCE_S = 2, FRESH_S = 20 };

static struct room_turn *find_turn(const struct room_remark *r, struct room_context *context)
{
	return r->turn ? room_turn_by_id(context, r->turn) : NULL;
}

/* Its screen is not shown any more: nothing of it is said, or said to the end. */
static void stop_remark(const struct room_remark *r, struct room_context *context)
{
	struct room_turn *t = find_turn(r, context);

	if (t && (t->phase == ROOM_PHASE_QUEUED || t == room_turn_active(context)))
		room_turn_cancel(context, t, ROOM_REASON_THOUGHT_WITHDRAWN);
}

void room_remark_on_event(struct room_remark *r, struct room_context *context,
			  const struct room_event *ev)
{
	bool hidden = ev->type == ROOM_SCREEN_SHARE && !ev->yes;

	if (ev->type == ROOM_SCREEN_CHANGED && context->settings->screen_commentary) {
		r->user = ev->user;
		r->changed_at = context->now;
	} else if ((hidden && ev->user == r->user) || ev->type == ROOM_SETTINGS) {
		r->changed_at = 0;
	}
	if (hidden && ev->user == r->about)
		stop_remark(r, context);
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t find_due(const struct room_remark *r, const struct room_context *context,
			 uint64_t up_at)
{
	uint64_t quiet =
		later_of(room_thought_quiet_since(context, up_at), room_last_voice_at(context));

	return later_of(later_of(r->changed_at, r->look_at), quiet + SILENCE_S * NS_PER_S);
}

static bool is_stale(const struct room_remark *r, const struct room_context *context)
{
	return context->now - r->changed_at >= FRESH_S * NS_PER_S;
}

static void make_remark(struct room_remark *r, struct room_context *context)
{
	struct room_turn *t = room_turn_new_prompted(context, PROMPT_REMARK);

	if (!t)
		return;
	t->remark = true;
	r->turn = t->id;
	r->about = r->user;
	room_turn_admit(context, t);
}

void room_remark_tick(struct room_remark *r, struct room_context *context, uint64_t up_at)
{
	const struct settings *s = context->settings;

	if (r->changed_at && is_stale(r, context))
		r->changed_at = 0;
	if (!r->changed_at || context->now < find_due(r, context, up_at))
		return;
	r->look_at = context->now + s->retry_ms * NS_PER_MS;
	if (!room_thought_may_speak(context))
		return;
	r->look_at = context->now + s->commentary_interval_s * NS_PER_S;
	r->changed_at = 0;
	if (room_thought_draw(context, ++r->drawn, s->commentary_eagerness))
		make_remark(r, context);
}

uint64_t room_remark_deadline(const struct room_remark *r, const struct room_context *context,
			      uint64_t up_at)
{
	uint64_t due = r->changed_at ? find_due(r, context, up_at) : UINT64_MAX;
	uint64_t end = r->changed_at + FRESH_S * NS_PER_S;

	return r->changed_at && end < due ? end : due;
}

void room_remark_withdraw(const struct room_remark *r, struct room_context *context)
{
	struct room_turn *t = find_turn(r, context);

	if (t && t->phase == ROOM_PHASE_QUEUED)
		room_turn_cancel(context, t, ROOM_REASON_THOUGHT_WITHDRAWN);
}
