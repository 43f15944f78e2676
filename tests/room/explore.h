/* Drives a room with random events that are derived from its state: events that may come next, and
 * events that should not come but can (late ids, duplicates, a wrong person, after a long time).
 * Every step is checked (watch.h).
 *
 * A run is a list of operations. An operation names no ids but picks among what exists ("the oldest
 * pending transcript"), so a list stays meaningful when some operations are removed; a failing run
 * is shortened this way. */
#ifndef TESTS_ROOM_EXPLORE_H
#define TESTS_ROOM_EXPLORE_H

#include <stdint.h>
#include <stdio.h>

#include "tests/room/watch.h"

struct explore;

struct explore_op {
	uint8_t kind, who, pick, text;
	uint16_t ms;   /* of sound */
	uint32_t wait; /* before it, ms */
};

enum { EXPLORE_OPS = 4096, EXPLORE_SETTINGS = 12 };

/* Settings that a run changes. */
struct explore_policy {
	unsigned n;
	struct {
		char name[48], value[24];
	} set[EXPLORE_SETTINGS];
};

struct explore_run {
	struct explore_policy policy;
	unsigned n;
	struct explore_op op[EXPLORE_OPS];
};

/* seen: what is counted, may be NULL. Caller owns *out. */
int explore_alloc(struct explore **out, struct seen *seen);
struct explore *explore_free(struct explore *x);

/* Each of these: NULL, or what does not hold; the run that fails is left in *run. */

/* A run of n ops by seed, played while it is made. */
const char *explore_random(struct explore *x, struct explore_run *run, uint64_t seed, unsigned n);
/* All orders of `depth` ops after each of the beginnings. */
const char *explore_orders(struct explore *x, struct explore_run *run, unsigned depth);
/* All interleavings of what a few do at the same time, each in the order of their own; *played
 * counts them. */
const char *explore_interleavings(struct explore *x, struct explore_run *run, uint64_t *played);
/* Plays a run. scenario: written there as it goes, NULL for nowhere. */
const char *explore_play(struct explore *x, const struct explore_run *run, FILE *scenario);

/* Takes out what is not needed for it to fail in the same way. */
void explore_shrink(struct explore *x, struct explore_run *run, const char *broken);

#endif
