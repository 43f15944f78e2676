/* How often one member may have themselves erased by /privacy. Each erasure begins conversations
 * anew, so a member gets one in ERASURE_PAUSE_S. An erasure that fails may be repeated at once, and
 * conversations begin anew again. A value in memory, without pointers or I/O. */
#ifndef CONTROL_CONSENT_ERASURES_H
#define CONTROL_CONSENT_ERASURES_H

#include <stdbool.h>
#include <stdint.h>

enum { ERASURES_KEPT = 64, ERASURE_PAUSE_S = 600, ERASURE_STRANGER_S = 60 };

/* Times are ns of env_now. All zero at first. */
struct erasures {
	struct erasure {
		uint64_t user, at; /* at 0: none */
		bool failed;
		bool renewed; /* conversations began anew */
	} of[ERASURES_KEPT];
	uint64_t stranger_at; /* 0: none was yet */
	unsigned next;	      /* the place of the next one, which takes the oldest one's */
};

/* False: this member has to wait. */
bool erasures_allow(struct erasures *e, uint64_t user, uint64_t now);
/* The same of somebody whom no server knows, and notes it: all of them together get one in
 * ERASURE_STRANGER_S, as accounts cost nothing. */
bool erasures_allow_stranger(struct erasures *e, uint64_t now);
/* An erasure has begun. */
void erasures_begin(struct erasures *e, uint64_t user, uint64_t now);
/* True if the conversations of this member are to begin anew, and notes that they do. Always true
 * for an erasure by an operator, whatever the member did before. */
bool erasures_renew(struct erasures *e, uint64_t user, bool by_member);
/* The erasure has failed. */
void erasures_fail(struct erasures *e, uint64_t user);

#endif
