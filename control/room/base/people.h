/* The people in the channel. A person has a place from join to leave; what a machine keeps for each
 * person is in an array by place, in the machine's own state, and people.c has it cleared when the
 * person leaves.
 *
 * Ownership: people.c alone writes; the context has a pointer to const. For control/room only. */
#ifndef CONTROL_ROOM_BASE_PEOPLE_H
#define CONTROL_ROOM_BASE_PEOPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/room/base/turn.h"

enum { ROOM_SPEAKERS = 64 };

struct room_context;

struct room_person {
	bool used, is_bot;
	uint64_t user;
	char name[ROOM_NAME_MAX]; /* by room_person_label */
};

struct room_people {
	unsigned places; /* places in use; those beyond are free */
	struct room_person person[ROOM_SPEAKERS];
};

/* The place of this user; ROOM_SPEAKERS if they are not in the channel. */
unsigned room_place(const struct room_context *context, uint64_t user);
/* People in the room without bots. */
unsigned room_people_present(const struct room_context *context);
/* True if this user is the only person in the room, bots aside. */
bool room_is_alone(const struct room_context *context, uint64_t user);
/* The names of people without bots, in the order of their places: begins with *place = 0 and counts
 * it on. NULL: there is nobody else. */
const char *room_person_next(const struct room_context *context, unsigned *place);
/* The name of somebody who is in the room, else NULL. */
const char *room_person_name(const struct room_context *context, uint64_t user);
/* The name by which the room knows somebody whose name is `name`: a present person's own. Nobody
 * else who is present or in the history has it: a second Ana is "Ana (2)". */
void room_person_label(const struct room_context *context, uint64_t user, const char *name,
		       char to[ROOM_NAME_MAX]);
/* The only person present with this name, in any case, bots aside; 0 = nobody or several. */
uint64_t room_person_by_name(const struct room_context *context, const char *name);

#endif
