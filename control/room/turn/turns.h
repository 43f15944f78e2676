/* The machine of turns: their table, which turn has the floor, and how each ends. The phases of a
 * turn are in base/turn.h, what other machines may do with turns in base/turns.h. For control/room
 * only. */
#ifndef CONTROL_ROOM_TURN_TURNS_H
#define CONTROL_ROOM_TURN_TURNS_H

#include <stddef.h>

#include "control/room/base/people.h"
#include "control/room/base/turns.h"

struct room_turns {
	struct room_turn turn[ROOM_TURNS];
	uint64_t live[(ROOM_TURNS + 63) / 64];	  /* bit set of the turns that have not ended */
	struct room_turn *active;		  /* has the floor: ASKED, SPEAKING or CLOSING */
	struct room_turn *hearing[ROOM_SPEAKERS]; /* of the open capture, by the person's place */
	uint64_t free_at;			  /* when the floor became free */
	uint32_t last;				  /* the newest turn's id */
	uint64_t counts[ROOM_REASON_COUNT];
};

/* Ends what waited too long. */
void room_turns_tick(struct room_context *context);
uint64_t room_turns_deadline(const struct room_context *context);
/* See room_why() and room_count() in room.h. */
int room_turns_why(const struct room_context *context, uint32_t turn, char *buf, size_t size);
uint64_t room_turns_count(const struct room_context *context, enum room_reason reason);

#endif
