/* How the last turn of each person ended, for /why: a subscriber of the bus. Holds no words. All
 * zero at first; the oldest gives way. */
#ifndef CONTROL_REPORT_OWN_TURNS_H
#define CONTROL_REPORT_OWN_TURNS_H

#include <stdint.h>

struct bus_event;

enum { OWN_TURNS = 256, OWN_TURN_REASON = 160 };

struct own_turns {
	unsigned n;
	struct own_turn {
		uint64_t guild, user;
		char reason[OWN_TURN_REASON]; /* as a sentence, in English */
	} v[OWN_TURNS];			      /* the oldest first */
};

/* TURN. Turns that went into others, or that nobody heard of, are none. arg: the own_turns. */
void own_turns_take_event(const struct bus_event *ev, void *arg);
/* NULL: nothing of theirs is known. Borrowed until the next event. */
const char *own_turns_reason(const struct own_turns *t, uint64_t guild, uint64_t user);
/* Nothing is known of this person any more. */
void own_turns_forget(struct own_turns *t, uint64_t user);

#endif
