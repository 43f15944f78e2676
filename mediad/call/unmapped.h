/* Decides when the gateway resumes its session to learn the owner of an unmapped SSRC.
 *
 * It resumes at once, but never in a loop: a new session first gets time to name everybody present;
 * after each resume there is a wait, which doubles while the SSRC stays unmapped, across sessions
 * too; and one session sends at most UNMAPPED_ASKS fruitless resumes in a row. After UNMAPPED_BURST
 * resumes, fruitful or not, the limit is one per UNMAPPED_ONE_MS: a member must not be able to
 * disturb the call by speaking unnamed, being named and returning under another SSRC.
 *
 * Plain memory of its owner, all zero is new. Pure; times in ns. */
#ifndef MEDIAD_CALL_UNMAPPED_H
#define MEDIAD_CALL_UNMAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/rate_limit.h"

enum {
	UNMAPPED_SETTLE_MS = 2000, /* after a session came up */
	UNMAPPED_WAIT_MS = 10000,
	UNMAPPED_ASKS = 5,
	UNMAPPED_BURST = 12,
	UNMAPPED_ONE_MS = 300000,
};

struct unmapped {
	uint64_t next;		   /* not before */
	uint32_t ssrc;		   /* of the last resume */
	unsigned asks;		   /* fruitless resumes in this session */
	unsigned waits;		   /* doublings so far */
	struct rate_limit resumes; /* of the call */
};

/* A new session is up. */
void unmapped_begin(struct unmapped *u, uint64_t now);
/* Packets of an unmapped SSRC keep arriving. Returns true when a resume should ask for it now, and
 * counts it. */
bool unmapped_should_ask(struct unmapped *u, uint32_t ssrc, uint64_t now);
/* The SSRC has been mapped. */
void unmapped_resolved(struct unmapped *u, uint32_t ssrc);

#endif
