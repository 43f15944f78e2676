/* Who holds the floor, by token, and what an abort reaches. One entry a floor (a voice channel):
 * the turn that is being answered there.
 *
 *   floor     input                                    next      what happens
 *   FREE      arm                                      ARMED     sinks hang on the token, if they
 * did not before ARMED     arm by another turn                      ARMED     the older is aborted
 * as external; the newer is untouched ARMED     barge-in, eot-revoked, user-cancel, …    FREE
 * runtime, slot (when there is one), speech, signal: each once ARMED     its runtime says that it
 * ended early     FREE      the same, by the runtime's reason, without telling it again ARMED
 * release                                  FREE      nothing: the turn ended by itself
 *
 * An aborted token has left its floor before the first sink is called, and no sink can reach
 * another turn: they are told the run they are for. Sinks do not wait: speech stops within the
 * step. */
#ifndef CONTROL_ROOM_TURN_CANCEL_H
#define CONTROL_ROOM_TURN_CANCEL_H

#include "control/room/turn/cancel_token.h"

enum { ROOM_FLOORS = 4 };

/* Each may be NULL. They are told the token's run; a failure is counted and stops nothing. */
struct room_sinks {
	int (*runtime)(uint32_t run, enum room_abort reason, void *arg);
	int (*slot)(int64_t slot, void *arg);
	int (*speech)(uint32_t run, void *arg);
	void *arg;
};

struct room_cancel {
	struct room_sinks sinks;
	bool disposed;
	bool bound;	/* voices over the bot's own are listened to */
	uint32_t quiet; /* run whose runtime told of its end and is not told */
	struct {
		uint64_t floor; /* 0 = free entry */
		struct room_token *token;
	} armed[ROOM_FLOORS];
};

void room_cancel_init(struct room_cancel *c, const struct room_sinks *sinks);
/* The sinks hang on the token, whether it holds a floor or not. ENOSPC. */
int room_cancel_hang(struct room_cancel *c, struct room_token *token);
/* The token, live and not armed yet, holds the floor from now on. EPIPE after dispose, EINVAL for
 * an aborted token or floor 0, EALREADY when its run holds a floor, ENOSPC. */
int room_cancel_arm(struct room_cancel *c, uint64_t floor, struct room_token *token);
/* NULL when the floor is free. */
struct room_token *room_cancel_current(const struct room_cancel *c, uint64_t floor);
/* Floors that are held; at most `max` are written. */
unsigned room_cancel_floors(const struct room_cancel *c, uint64_t *floors, unsigned max);
/* True once; false when the floor is free. */
bool room_cancel_abort(struct room_cancel *c, uint64_t floor, enum room_abort reason);
bool room_cancel_revoke_eot(struct room_cancel *c, uint64_t floor);
/* A voice over the bot's own that must stop it. False also while not bound. Binding twice is
 * binding. */
void room_cancel_bind(struct room_cancel *c, bool yes);
bool room_cancel_barge_in(struct room_cancel *c, uint64_t floor);
/* How many floors were aborted. */
unsigned room_cancel_abort_all(struct room_cancel *c, enum room_abort reason);
/* The runtime itself says that a run ended early. */
void room_cancel_runtime_ended(struct room_cancel *c, uint32_t run, const char *why);
/* The turn is over. Nothing when its floor is another's by now. */
void room_cancel_release(struct room_cancel *c, const struct room_token *token);
/* Forgets everybody, aborts nobody. For tests. */
void room_cancel_clear(struct room_cancel *c);
/* Aborts all as external; nothing can be armed any more. Again: nothing. */
void room_cancel_dispose(struct room_cancel *c);

#endif
