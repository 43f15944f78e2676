/* How the last turns of each person ended, for /why: a subscriber of the bus. Holds no words. All
 * zero at first; the oldest gives way. */
#ifndef CONTROL_REPORT_OWN_TURNS_H
#define CONTROL_REPORT_OWN_TURNS_H

#include <stdint.h>

struct bus_event;

enum {
	OWN_TURNS = 2048,
	OWN_TURNS_EACH = 25, /* of a person in a server: as many as Discord suggests */
	OWN_TURN_REASON = 160
};

struct own_turns {
	unsigned n;
	struct own_turn {
		uint64_t guild, user, at_ms;
		uint32_t turn;		      /* its number in its voice session */
		char reason[OWN_TURN_REASON]; /* as a sentence, in English */
	} v[OWN_TURNS];			      /* the oldest first */
};

/* TURN. Turns that went into others, or that nobody heard of, are none. arg: the own_turns. */
void own_turns_take_event(const struct bus_event *ev, void *arg);
/* Of the last one. NULL: nothing of theirs is known. Borrowed until the next event. */
const char *own_turns_reason(const struct own_turns *t, uint64_t guild, uint64_t user);
/* The newest one of this number; NULL: it is not known. Borrowed as above. */
const struct own_turn *own_turns_find(const struct own_turns *t, uint64_t guild, uint64_t user,
				      uint32_t turn);
/* The newest first, of each number one. Returns how many. */
unsigned own_turns_list(const struct own_turns *t, uint64_t guild, uint64_t user,
			const struct own_turn *out[OWN_TURNS_EACH]);
/* The person is forgotten. */
void own_turns_forget(struct own_turns *t, uint64_t user);

#endif
