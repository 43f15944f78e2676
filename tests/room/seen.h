/* The coverage of an exploration: how often it has seen each event, effect, reason, rule and end,
 * each possible transition, and each possible pair of states (control/room/states.def). */
#ifndef TESTS_ROOM_SEEN_H
#define TESTS_ROOM_SEEN_H

#include "control/room/room.h"
#include "control/room/session.h"
#include "tests/room/states.h"

struct seen {
	uint64_t events[ROOM_EVENT_COUNT], effects[ROOM_DO_COUNT], reasons[ROOM_REASON_COUNT],
		rules[ROOM_RULE_COUNT];
	uint64_t ends[ROOM_END_COUNT];
	uint64_t moves[STATES_MACHINES][STATES_MOST][STATES_MOST]; /* from, to */
	uint64_t pairs[STATES_MACHINES][STATES_MOST]
		      [STATES_MOST]; /* of the output, of the machine */
	uint64_t steps, changed;     /* changed: those that changed something */
};

void seen_add(struct seen *to, const struct seen *more);
/* A line for each kind, with what was seen less than `often` times. How many were. */
unsigned seen_print(const struct seen *s, uint64_t often);

#endif
