#include "control/room/answer/inherited_voice.h"

#include "control/room/hearing/captures.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

void room_inherited_voice_on_event(struct room_inherited_voice *v, struct room_context *context,
				   const struct room_event *ev)
{
	(void)context;
	if (ev->type == ROOM_INHERITED)
		*v = (struct room_inherited_voice){.plays = ev->yes};
	else if (ev->type == ROOM_SAY_STARTED)
		v->plays = false;
}

bool room_inherited_voice_plays(const struct room_context *context)
{
	return context->inherited_voice->plays;
}

static bool may_interrupt(const struct settings *s)
{
	return s->interruptions == SETTINGS_INTERRUPT_SPEAKER ||
	       s->interruptions == SETTINGS_INTERRUPT_ANYONE;
}

void room_inherited_voice_audio(struct room_context *context, unsigned place, uint64_t at,
				uint64_t ms)
{
	struct room_inherited_voice *v = context->inherited_voice;
	const struct settings *s = context->settings;
	struct room_effect *e;

	if (!v->plays || !may_interrupt(s) ||
	    room_capture_of(context, place)->phase != ROOM_CAPTURE_PROMOTED)
		return;
	if (at > v->over[place].voice_at + s->barge_in_gap_ms * NS_PER_MS)
		v->over[place].voice_ms = 0;
	v->over[place].voice_at = at;
	v->over[place].voice_ms += ms;
	if (v->over[place].voice_ms < s->barge_in_ms)
		return;
	v->plays = false;
	e = room_emit(context, ROOM_DO_SAY_STOP);
	e->ms = s->stop_fade_ms;
}
