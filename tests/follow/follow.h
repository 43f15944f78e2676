/* Plays a member of a recorded DAVE group: what others sent goes through the mls_state, and what it
 * makes of it must be what was recorded. The member's private keys are in the recording;
 * docs/dave.md tells its format. */
#ifndef TESTS_FOLLOW_FOLLOW_H
#define TESTS_FOLLOW_FOLLOW_H

#include <stdio.h>

struct follow_tally {
	unsigned steps, failed; /* of all files */
	unsigned fingerprints, frames;
};

/* One line a step to out. NULL, or why the file cannot be played (static). */
const char *follow_run(struct follow_tally *t, const char *path, FILE *out);

#endif
