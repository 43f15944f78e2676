/* The faults of one server's calls: counts them for /status, and decides which of them the room is
 * told about, and when (words.def, WORDS_FAULTS). A fault is reported once when it has lasted,
 * again after its cool-down at the earliest, and its end is reported if its begin was.
 *
 * A value without I/O, all zero at first. After each faults_set, and at faults_deadline, its owner
 * calls faults_say until it returns false. Times in ns. */
#ifndef CONTROL_REPORT_FAULTS_H
#define CONTROL_REPORT_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/words/words.h"

enum {
	FAULTS_WELL_MS =
		2000, /* a fault must have been over for this long before its end is reported */
	FAULTS_COUNT_MS = 3000, /* a shorter fault that was not reported belongs to joining and is
				   not counted */
};

enum fault_is {
	FAULT_IS_OVER,
	FAULT_IS_THERE,
	FAULT_IS_UNKNOWN, /* cannot be observed now: nothing is reported or concluded */
	FAULT_IS_ONCE,	  /* an event without duration */
	FAULT_IS_NOTICED, /* active, and somebody is waiting for an answer because of it: told at
			     once */
};

/* Why the embedded engine does not start. */
enum embedded_fault {
	EMBEDDED_STARTS,
	EMBEDDED_NO_MODEL, /* the speech model is not installed */
	EMBEDDED_FAILS,	   /* another reason, which is in the log */
};

struct fault_record {
	bool there, told, unknown, counted;
	bool due; /* happened, and must be reported */
	uint64_t changed, told_at;
	unsigned count;
	uint64_t last; /* when it began last */
};
struct faults {
	struct fault_record v[FAULT_COUNT];
};

void faults_set(struct faults *f, enum fault fault, enum fault_is is, uint64_t now);
/* Another sentence has reported this fault already. */
void faults_known(struct faults *f, enum fault fault, uint64_t now);
/* Ends one fault without a report and keeps its count. */
void faults_forget(struct faults *f, enum fault fault);
/* The call ended: ends every fault without a report and keeps the counts. */
void faults_end(struct faults *f);
/* Counts the faults that have lasted, and adds one sentence for the room; false if none is due. */
bool faults_say(struct faults *f, uint64_t now, struct words *w);
/* The row's name, for events and logs: "brain". Borrowed for ever. */
const char *faults_name(enum fault fault);
/* UINT64_MAX = never. */
uint64_t faults_deadline(const struct faults *f);

#endif
