/* The answer that the control before this one began, which mediad still plays. The room knows none
 * of its words, only that it is audible and that people may speak over it: promoted speech of one
 * person for barge_in_ms stops it, unless the setting `interruptions` is `none` or `name`. A turn
 * that is cancelled ("never mind"), and the next answer, stop it as well (control/agent). For
 * control/room/answer only. */
#ifndef CONTROL_ROOM_ANSWER_INHERITED_VOICE_H
#define CONTROL_ROOM_ANSWER_INHERITED_VOICE_H

#include "control/room/base/context.h"
#include "control/room/base/people.h"

struct room_inherited_voice {
	bool plays;
	struct {
		uint64_t voice_at, voice_ms;
	} over[ROOM_SPEAKERS]; /* speech over it, by the person's place */
};

void room_inherited_voice_on_event(struct room_inherited_voice *v, struct room_context *context,
				   const struct room_event *ev);
bool room_inherited_voice_plays(const struct room_context *context);
/* A frame of this person's audio, which is voice, came at `at`. */
void room_inherited_voice_audio(struct room_context *context, unsigned place, uint64_t at,
				uint64_t ms);

#endif
