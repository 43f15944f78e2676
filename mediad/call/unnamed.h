/* Sound that is nobody's: when the gateway is asked again who speaks, by a resume.
 *
 * It is asked at once, but no loop may come of it: a session has time to name who is there before
 * it is asked at all; after each ask there is a wait, which doubles as long as no name came for
 * what was asked, over sessions too; and in one session it is not asked more than UNNAMED_ASKS
 * times in a row in vain.
 *
 * Plain memory of its owner, all zero is new. Pure; times in ns. */
#ifndef MEDIAD_CALL_UNNAMED_H
#define MEDIAD_CALL_UNNAMED_H

#include <stdbool.h>
#include <stdint.h>

enum {
	UNNAMED_SETTLE_MS = 2000, /* after a session came up */
	UNNAMED_WAIT_MS = 10000,
	UNNAMED_ASKS = 5,
};

struct unnamed {
	uint64_t next;	/* not before */
	uint32_t ssrc;	/* the one last asked for */
	unsigned asks;	/* in vain so far, in this session */
	unsigned waits; /* doublings so far */
};

/* A new session is up. */
void unnamed_begin(struct unnamed *u, uint64_t now);
/* Sound of this SSRC goes on and is nobody's: shall it be asked for now? True counts as asked. */
bool unnamed_ask(struct unnamed *u, uint32_t ssrc, uint64_t now);
/* It was told whose this SSRC is. */
void unnamed_named(struct unnamed *u, uint32_t ssrc);

#endif
