/* Demands of the session (session.h) on the other machines: when the call begins, when it is lost,
 * when the settings change, and at the end. */
#include "control/room/base/text.h"
#include "control/room/base/turns.h"
#include "control/room/floor/address.h"
#include "control/room/floor/music.h"
#include "control/room/hearing/captures.h"
#include "control/room/hearing/transcript.h"
#include "control/room/people.h"
#include "control/room/session.h"
#include "control/room/turn/moments.h"
#include "control/settings/settings.h"

void room_call_began(struct room_context *context)
{
	room_moment_add(context->moments, ROOM_MOMENT_SELF_JOIN, 0, context->name, NULL,
			context->now);
}

void room_call_lost(struct room_context *context)
{
	room_captures_end(context);
}

bool room_music_plays(const struct room_context *context)
{
	return room_music_locks(context->music);
}

void room_music_stop(struct room_context *context)
{
	if (!room_music_idle(context->music))
		room_music_command(context->music, context, 0, ROOM_MUSIC_STOP);
}

/* Settings that the room keeps in a form of its own. */
void room_apply_settings(struct room_context *context)
{
	const struct settings *s = context->settings;

	context->guest = settings_guest(s);
	if (*s->bot_name)
		room_clean_name(s->bot_name, strlen(s->bot_name), context->name,
				sizeof context->name);
	*context->names = (struct room_names){0};
	room_names_add(context->names, context->name);
	room_names_add(context->names, s->aliases);
}

void room_suspend(struct room_context *context)
{
	room_captures_end(context);
	for (struct room_turn *t = room_turn_next(context, NULL); t; t = room_turn_next(context, t))
		room_turn_cancel(context, t, ROOM_REASON_SUSPENDED);
	for (unsigned i = 0; i < context->people->places; i++)
		if (context->people->person[i].used)
			room_asr_close(context, i, "suspended");
}

void room_end_turns(struct room_context *context)
{
	for (struct room_turn *t = room_turn_next(context, NULL); t; t = room_turn_next(context, t))
		if (t->phase != ROOM_PHASE_FREE)
			room_turn_cancel(context, t, ROOM_REASON_CANCELLED);
}

void room_shut_down(struct room_context *context)
{
	context->over = true;
	for (struct room_turn *t = room_turn_next(context, NULL); t;
	     t = room_turn_next(context, t)) {
		if (t->phase == ROOM_PHASE_FREE || t->phase == ROOM_PHASE_ENDED)
			continue;
		room_turn_cancel(context, t, ROOM_REASON_SHUTDOWN);
		room_turn_end(context, t, ROOM_REASON_SHUTDOWN);
	}
	room_people_dismiss(context);
}
