/* A newer turn of the same speaker takes the place of one whose answer nobody has heard yet.
 *
 *   stage              the older turn                      what happens to it
 *   PRE_GENERATION     waits, more is being transcribed    held, then becomes one with the newer:
 * the brain is asked once GENERATION         the brain was asked                 cancelled: no
 * sound, nothing in the history SPEECH             sound is on its way, none was heard cancelled:
 * dropped before it is spoken
 *
 * Only words qualify (admission has thrown out noise and sounds of listening before), only those of
 * the speaker who is answered, and not while the answer holds a lease or is meant for everybody.
 * Both turns' words are in the newer. A better transcript of an utterance that is being answered
 * counts as a newer turn. For control/room only. */
#ifndef CONTROL_ROOM_TURN_SUPERSEDE_H
#define CONTROL_ROOM_TURN_SUPERSEDE_H

#include "control/room/room.h"

enum room_stage {
	ROOM_STAGE_NONE,
	ROOM_STAGE_PRE_GENERATION,
	ROOM_STAGE_GENERATION,
	ROOM_STAGE_SPEECH,
};

/* At which stage words of this user would find the active turn; NONE: they do not replace it. */
enum room_stage room_supersede_stage(const struct room *room, uint64_t user);
/* The active turn is cancelled; its words stand before those of `newer`. */
void room_turn_supersede(struct room *room, struct room_turn *newer, enum room_stage stage);
/* ROOM_TRANSCRIPT of an utterance that has its words already. False: no turn knows it. */
bool room_turn_revise(struct room *room, const struct room_event *ev);

#endif
