/* When a source that has played and broken is tried again: soon at first, then after pauses that
 * grow, for some minutes. Pure; plain memory of its owner, zeroed before use. */
#ifndef MEDIAD_DECODER_RETRY_H
#define MEDIAD_DECODER_RETRY_H

#include <stdbool.h>
#include <stdint.h>

enum { RETRY_S = 300, RETRY_FIRST_MS = 200, RETRY_MAX_MS = 10000 };

/* Times in ns. */
struct retry {
	uint64_t since; /* it has been broken since then; 0: it plays */
	uint64_t at;	/* of the next try; 0: none is due */
	uint32_t tries;
};

/* It has broken, or a try was in vain. False: RETRY_S have passed. */
bool retry_later(struct retry *r, uint64_t now);
/* It answers, but brings nothing new, as the playlist of a stream that has stopped: the time runs,
 * and its owner knows when to look again. False: RETRY_S have passed. */
bool retry_idle(struct retry *r, uint64_t now);
/* True once when it is time to try. */
bool retry_due(struct retry *r, uint64_t now);
/* It plays. */
void retry_end(struct retry *r);

#endif
