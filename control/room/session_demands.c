/* What the session (session.h) demands of the other machines: when the call begins, when it is
 * lost, when the settings change, and at the end. */
#include <string.h>

#include "control/room/hearing/captures.h"
#include "control/room/inside.h"

void room_call_began(struct room_context *context)
{
	struct room *room = room_of(context);

	room_moment_add(&room->moments, ROOM_MOMENT_SELF_JOIN, 0, context->name, NULL,
			context->now);
}

void room_call_lost(struct room_context *context)
{
	room_captures_end(room_of(context));
}

bool room_music_plays(const struct room_context *context)
{
	return room_music_locks(&room_of(context)->music);
}

void room_music_stop(struct room_context *context)
{
	struct room_music *music = &room_of(context)->music;

	if (!room_music_idle(music))
		room_music_command(music, context, ROOM_MUSIC_STOP);
}

/* Settings that the room keeps in a form of its own. */
void room_apply_settings(struct room_context *context)
{
	struct room *room = room_of(context);
	const struct settings *s = context->settings;

	context->guest = settings_guest(s);
	if (*s->bot_name)
		room_clean_name(s->bot_name, strlen(s->bot_name), context->name,
				sizeof context->name);
	room->names = (struct room_names){0};
	room_names_add(&room->names, context->name);
	room_names_add(&room->names, s->aliases);
}

void room_shut_down(struct room_context *context)
{
	struct room *room = room_of(context);

	context->over = true;
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		struct room_turn *t = &room->turn[i];

		if (t->phase == ROOM_PHASE_FREE || t->phase == ROOM_PHASE_ENDED)
			continue;
		room_turn_cancel(context, t, ROOM_REASON_SHUTDOWN);
		room_turn_end(context, t, ROOM_REASON_SHUTDOWN);
	}
	for (unsigned i = 0; i < room->places; i++) {
		struct room_speaker *sp = &room->speaker[i];

		if (sp->used && sp->asr_open)
			room_asr_close(room, sp, "shutdown");
		if (sp->used && !sp->is_bot)
			room_emit(context, ROOM_DO_UNLISTEN)->user = sp->user;
		*sp = (struct room_speaker){0};
	}
	room->places = 0;
}
