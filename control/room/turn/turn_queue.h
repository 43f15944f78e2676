/* The turn queue: one place, in which admitted turns are merged until the floor is free.
 *
 * A turn that is admitted while another one waits is merged into it, whoever spoke, so that people
 * who talk at the same time get one answer. The waiting turn is held
 *
 *   while its own speaker goes on, or more of that speaker's audio is being transcribed;
 *   while somebody else speaks, unless the turn names the bot or is longer than hold_bypass_ms.
 *
 * and for transcript_batch_ms in any case, so that what several people say becomes one question.
 *
 * A turn that had to wait for the bot is held in both cases. A hold lasts hold_ms at most. A
 * speaker counts as going on until the capture would end without more audio. Only confirmed live
 * speech holds a turn, so an open microphone does not. For control/room only. */
#ifndef CONTROL_ROOM_TURN_TURN_QUEUE_H
#define CONTROL_ROOM_TURN_TURN_QUEUE_H

#include "control/room/base/turn.h"

struct room_context;

/* Queues the turn, or merges it into the one that waits. */
void room_turn_enqueue(struct room_context *context, struct room_turn *turn);
/* Merges the words of `turn` after those of `into`; `turn` ends. */
void room_turn_merge(struct room_context *context, struct room_turn *into, struct room_turn *turn,
		     enum room_rule rule);
/* Asks the brain when the floor is free and nothing holds the turn. */
void room_turn_queue_tick(struct room_context *context);
/* True while the turn that waits is held for more words. */
bool room_turn_queue_holds(const struct room_context *context);
uint64_t room_turn_queue_deadline(const struct room_context *context);

#endif
