/* The turn queue: one place, in which admitted turns become one. For control/room only. */
#ifndef CONTROL_ROOM_TURN_TURN_QUEUE_H
#define CONTROL_ROOM_TURN_TURN_QUEUE_H

#include "control/room/turn/turn.h"

struct room;

/* The turn that waits for the floor, or NULL. */
struct room_turn *room_turn_queued(struct room *room);
/* Queues the turn, or ends it as merged into the one that waits. */
void room_turn_enqueue(struct room *room, struct room_turn *turn);
/* Puts all that was said in `turn` after what was said in `into`; `turn` ends. */
void room_turn_merge(struct room *room, struct room_turn *into, struct room_turn *turn,
		     enum room_rule rule);
/* When those who speak now will have paused if they say no more: the turn's speaker, and others too
 * if asked for. 0: nobody speaks. turn may be NULL. */
uint64_t room_speech_until(const struct room *room, const struct room_turn *turn, bool others);
/* Takes the turn up when the floor is free and nothing holds it. */
void room_turn_queue_tick(struct room *room);
uint64_t room_turn_queue_deadline(const struct room *room);

#endif
