/* The response watchdog of the room: applies the retry policy (retry_policy.h) to the active turn
 * while a model answers it. For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_RESPONSE_WATCHDOG_H
#define CONTROL_ROOM_ANSWER_RESPONSE_WATCHDOG_H

#include "control/room/answer/retry_policy.h"

struct room_context;
struct room_event;
struct room_turn;

void room_watchdog_asked(struct room_retry *l, const struct room_context *context,
			 struct room_turn *turn);
/* The brain has finished this turn. Returns true if the turn goes on: its tools still work, or
 * it was silent and will be asked again. */
bool room_watchdog_done(struct room_retry *l, struct room_context *context, struct room_turn *turn);
void room_watchdog_on_event(struct room_retry *l, struct room_context *context,
			    const struct room_event *ev);
void room_watchdog_tick(struct room_retry *l, struct room_context *context);
uint64_t room_watchdog_deadline(const struct room_retry *l, const struct room_context *context);

#endif
