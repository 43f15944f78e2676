/* Plays a member of a recorded DAVE group: the recorded messages go through an MLS state, and its
 * results must equal the recorded ones. The recording holds the member's private keys; docs/dave.md
 * describes its format. */
#ifndef TESTS_FOLLOW_FOLLOW_H
#define TESTS_FOLLOW_FOLLOW_H

#include <stdio.h>

struct follow_tally {
	unsigned steps, failed; /* counts of all files */
	unsigned fingerprints, frames;
};

/* Writes one line per step to out. Returns NULL, or the reason why the file cannot be played
 * (static). */
const char *follow_run(struct follow_tally *t, const char *path, FILE *out);

#endif
