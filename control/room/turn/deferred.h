/* Turns that came while the bot was busy wait here, and are judged anew when it is not.
 *
 *   input                                         next
 *   denied, and the denial passes                 DEFERRED; words of the same speaker go into the
 * turn that waits more than defer_max wait                      the two oldest become one: nobody's
 * words are lost nothing blocks                                admission again, the whole of it:
 * who named the bot first, then the latest denied again, and the denial passes           DEFERRED,
 * not before retry_ms have passed, with the same expiry denied for good ENDED defer_expire_ms ENDED
 * expired
 *
 * What blocks, the first that holds (statement 26): no call, confirmed live speech (at most
 * hold_ms, then it is let through), an answer that is awaited, one that is spoken, tools that run.
 * For control/room only. */
#ifndef CONTROL_ROOM_TURN_DEFERRED_H
#define CONTROL_ROOM_TURN_DEFERRED_H

#include "control/room/turn/turn.h"

struct room;

enum room_blocker {
	ROOM_BLOCKER_NONE,
	ROOM_BLOCKER_SESSION_INACTIVE,
	ROOM_BLOCKER_ACTIVE_CAPTURES,
	ROOM_BLOCKER_PENDING_RESPONSE,
	ROOM_BLOCKER_ACTIVE_RESPONSE,
	ROOM_BLOCKER_AWAITING_TOOLS,
	ROOM_BLOCKER_TOOLS_RUNNING,
};

struct room_blocker_input {
	bool inactive, captures, pending, responding, tools_awaited, tools_run;
};

enum room_blocker room_blocker(const struct room_blocker_input *facts);
const char *room_blocker_name(enum room_blocker block);
/* What stands in the way now. */
enum room_blocker room_deferred_blocker(const struct room *room);

void room_turn_defer(struct room *room, struct room_turn *turn);
/* Judges those that wait, when nothing blocks. */
void room_deferred_tick(struct room *room);
/* The turn of this user that waits, or NULL. */
struct room_turn *room_turn_deferred_of(struct room *room, uint64_t user);
/* When room_deferred_tick is wanted if nothing else happens; UINT64_MAX for never. */
uint64_t room_deferred_deadline(const struct room *room);

#endif
