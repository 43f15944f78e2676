/* Is this turn for the bot? One table of rows (admission.c), looked at in their order; the first
 * that fits decides, and each that was of concern is in the turn's record. A turn that was deferred
 * goes through the whole table again. For control/room only. */
#ifndef CONTROL_ROOM_TURN_ADMISSION_H
#define CONTROL_ROOM_TURN_ADMISSION_H

#include "control/room/room.h"

/* What becomes of a turn that has its words. */
void room_turn_admit(struct room *room, struct room_turn *turn);
/* Its words could not be understood, but it stopped the bot: the brain shall know. */
void room_turn_admit_unclear(struct room *room, struct room_turn *turn);
/* The classifier has said whether a turn was meant for the bot. */
void room_turn_admit_classified(struct room *room, struct room_turn *turn, bool meant);

#endif
