/* Who typed in a room's chat while they were not remembered: what they typed until then may not be
 * kept when they agree later. Pure. */
#ifndef CONTROL_REPORT_TYPISTS_H
#define CONTROL_REPORT_TYPISTS_H

#include <stdbool.h>
#include <stdint.h>

enum { TYPISTS_MAX = 64 };

/* All zeros: nobody. */
struct typists {
	/* The newest message of each. */
	struct {
		uint64_t user, message;
	} of[TYPISTS_MAX];
	unsigned n;
	uint64_t lost; /* the newest message of those who have no place any more */
};

/* This person, who is not remembered, typed this message. Ids of messages grow with time. */
void typists_note(struct typists *t, uint64_t user, uint64_t message);
/* False if this message may be one of those. */
bool typists_allow(const struct typists *t, uint64_t user, uint64_t message);

#endif
