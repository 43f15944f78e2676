/* The current states of a room's machines (control/room/states.def). */
#ifndef TESTS_ROOM_STATES_H
#define TESTS_ROOM_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/room/states.def"

struct room;

enum states_machine {
#define M(NAME, name, states, square) STATES_##NAME,
	ROOM_MACHINES(M)
#undef M
		STATES_MACHINES
};

enum { STATES_MOST = 16, STATES_NAME = 16 };

const char *states_machine(unsigned machine);
unsigned states_count(unsigned machine);
/* Always terminated. */
void states_name(unsigned machine, unsigned state, char name[STATES_NAME]);
/* The sentence why a step cannot lead from one to the other; NULL when it can. */
const char *states_never(unsigned machine, unsigned from, unsigned to);

/* The same of a state of the output beside one of a machine that is paired with it. */
const char *states_never_both(unsigned machine, unsigned output, unsigned state);
/* ROOM_PAIRS has this machine. */
bool states_paired(unsigned machine);

/* Of all machines of the room; those of a turn or a person are left as they are. */
void states_of(const struct room *room, uint64_t now, uint8_t at[STATES_MACHINES]);

#endif
