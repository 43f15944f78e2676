/* Runs a room's journal (control/room/journal.h) again, with its own settings or others.
 *
 * With other settings the room may number utterances and turns differently. Events about them are
 * then delivered to the one of the same person that began at the same time, and dropped if there is
 * none. Input that the other run would have caused (the answer to a question that was never asked)
 * is not invented: such a turn ends without it. */
#ifndef CONTROL_AGAIN_RERUN_H
#define CONTROL_AGAIN_RERUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/room/room.h"

struct settings;

enum { RERUN_TURNS = 20000, RERUN_UTTERANCES = 100000 };

struct rerun {
	uint64_t steps, sum;
	bool whole; /* the journal came to its end; then what it says of itself: */
	uint64_t said_steps, said_sum;
	size_t n_turns; /* that ended, in that order */
	struct room_turn *turn;
	size_t n_starts; /* utterances: whose, when, number */
	struct rerun_start {
		uint64_t user, at;
		uint32_t utterance;
	} * start;
	uint64_t began_at; /* time of the first event */
	uint64_t ended_at; /* and of the last one that was run */
};

/* What is run. Borrowed. */
struct rerun_conf {
	const void *data;
	size_t n;
	/* Called with the settings of the journal before the room is made, and again after they
	 * changed; may be NULL. A nonzero result ends it. */
	int (*change)(struct settings *s, void *arg);
	void *arg;
	/* What the journal gave under its own settings, to translate numbers by; NULL when nothing
	 * changes. */
	const struct rerun *base;
	uint32_t turn;	/* ends once this turn has ended; 0: goes on */
	uint64_t until; /* ends before the first event after this time; 0: goes on */
};

/* EBADMSG, ENOMEM, the result of change. */
int rerun_bytes(struct rerun *out, const struct rerun_conf *conf);
void rerun_clear(struct rerun *r);
/* The turn of the same person that began when `turn` did; NULL when there is none. */
const struct room_turn *rerun_same(const struct rerun *r, const struct room_turn *turn);

/* The turn of this number; NULL when there is none. */
const struct room_turn *rerun_turn(const struct rerun *r, uint32_t turn);
/* The last decision on this rule; NULL when there is none. */
const struct room_decision *rerun_decision(const struct room_turn *turn, enum room_rule rule);
/* True if both turns ended for the same reason, by decisions that hold alike. */
bool rerun_is_same(const struct room_turn *was, const struct room_turn *is);

#endif
