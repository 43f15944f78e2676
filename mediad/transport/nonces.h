/* Which packet counters of one sender were seen: for packets without a number of their own to go
 * by, as RTCP has none.
 *
 * The four counter bytes at a packet's end are part of its nonce, so only what was sealed with them
 * opens with them, and no sender uses one twice under a key. Between two reports hundreds of sound
 * packets take numbers of the same counter, and its byte order is the sender's own affair: so the
 * highest few that were accepted are kept as they came, read in both orders. A counter is new when
 * in one of the orders it stands above the lowest that is kept and is none of them; what was
 * accepted once is then in both lists or below them, and is refused in both for ever.
 *
 * Plain memory of its owner; all zero is new. Only for packets that were authentic. */
#ifndef MEDIAD_TRANSPORT_NONCES_H
#define MEDIAD_TRANSPORT_NONCES_H

#include <stdbool.h>
#include <stdint.h>

enum { NONCES_KEPT = 8, NONCES_BYTES = 4 };

struct nonces {
	struct {
		unsigned n;
		uint32_t top[NONCES_KEPT]; /* highest first */
	} order[2];			   /* big-endian, little-endian */
};

/* False: it was seen, or is too old to tell. */
bool nonces_take(struct nonces *w, const uint8_t counter[NONCES_BYTES]);

#endif
