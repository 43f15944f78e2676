/* What goes wrong in one server's calls: counted for /status, and what of it people are told and
 * when (words.def, WORDS_FAULTS). Each fault is told once when it has lasted, again no sooner than
 * its cool-down allows, and told to be over when it was told to be there.
 *
 * A value without I/O, all zero at first. Its owner tells it facts and calls faults_say until it
 * gives nothing, after each fact and at faults_deadline. Times in ns. */
#ifndef CONTROL_FAULTS_H
#define CONTROL_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/words/words.h"

enum {
	FAULTS_WELL_MS = 2000, /* so long it has to be over before that is told */
	FAULTS_COUNT_MS =
		3000, /* what lasts shorter, and would not be told yet, is part of joining */
};

enum fault_is {
	FAULT_IS_OVER,
	FAULT_IS_THERE,
	FAULT_IS_UNKNOWN, /* not to be seen just now: nothing is told, nothing is concluded */
	FAULT_IS_ONCE,	  /* happened, and lasts no longer than that */
};

struct fault_record {
	bool there, told, unknown, counted;
	bool due; /* happened, and is to be told */
	uint64_t changed, told_at;
	unsigned count;
	uint64_t last; /* when it began last */
};
struct faults {
	struct fault_record v[FAULT_COUNT];
};

void faults_set(struct faults *f, enum fault fault, enum fault_is is, uint64_t now);
/* People know it already, from another sentence. */
void faults_known(struct faults *f, enum fault fault, uint64_t now);
/* The call ended: nothing lasts, nothing is told; what was counted stays. */
void faults_end(struct faults *f);
/* Counts what has lasted, and adds a sentence for the room; false when there is none to say. */
bool faults_say(struct faults *f, uint64_t now, struct words *w);
/* The row's name, for events and logs: "brain". Borrowed for ever. */
const char *faults_name(enum fault fault);
/* UINT64_MAX = never. */
uint64_t faults_deadline(const struct faults *f);

#endif
