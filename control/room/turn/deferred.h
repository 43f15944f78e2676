/* Deferred turns: turns that arrived while the bot was busy and pass admission again when it is
 * free.
 *
 *   input                                     result
 *   admission denies because the bot is busy  DEFERRED; later words of the same speaker join it
 *   more than defer_max turns are deferred    the two oldest are merged, so that no words are lost
 *   no blocker is left                        admission again: turns that name the bot first, then
 *                                             the latest
 *   the same denial again                     DEFERRED, for at least retry_ms, with the same
 *                                             expiry
 *   a final denial                            ENDED
 *   defer_expire_ms passed                    ENDED as expired
 *
 * Blockers, the first that holds (statement 26): no call, confirmed live speech (for hold_ms at
 * most), a pending response, an active response, running tools. For control/room only. */
#ifndef CONTROL_ROOM_TURN_DEFERRED_H
#define CONTROL_ROOM_TURN_DEFERRED_H

#include "control/room/base/turn.h"

struct room_context;

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

enum room_blocker room_blocker(const struct room_blocker_input *input);
const char *room_blocker_name(enum room_blocker block);
/* The current blocker. */
enum room_blocker room_deferred_blocker(const struct room_context *context);

void room_turn_defer(struct room_context *context, struct room_turn *turn);
/* Passes deferred turns through admission, if no blocker is left. */
void room_deferred_tick(struct room_context *context);
/* The deferred turn of this user, or NULL. */
struct room_turn *room_turn_deferred_of(struct room_context *context, uint64_t user);
/* When room_deferred_tick is due if nothing else happens; UINT64_MAX for never. */
uint64_t room_deferred_deadline(const struct room_context *context);

#endif
