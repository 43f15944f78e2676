/* Replay protection by packet counters, for packets without a sequence number, such as RTCP.
 *
 * The four counter bytes at a packet's end are part of its nonce, so a packet is authentic only
 * with its own counter, and no sender uses a counter twice under one key. Between two reports
 * hundreds of audio packets use counters of the same sequence, and their byte order is the sender's
 * choice. So the highest few accepted counters are kept as received and compared in both byte
 * orders. A counter is new if in one of the orders it is above the lowest kept and equals none of
 * them. A counter accepted once is in both lists or below them, so it is refused for ever.
 *
 * Plain memory of its owner; all zero is new. Only for authentic packets. */
#ifndef MEDIAD_TRANSPORT_NONCES_H
#define MEDIAD_TRANSPORT_NONCES_H

#include "mediad/transport/counters.h"

enum { NONCES_KEPT = 8, NONCES_BYTES = 4 };

struct nonces {
	struct {
		unsigned n;
		uint32_t top[NONCES_KEPT]; /* highest first */
	} order[2];			   /* big-endian, little-endian */
};

/* Accepts a counter. Returns false when it was seen before or is too old to tell. */
bool nonces_take(struct nonces *w, const uint8_t counter[NONCES_BYTES]);
struct counters_floor nonces_floor(const struct nonces *w);
/* Restarts the lists; nothing below the floor is new. */
void nonces_restart(struct nonces *w, const struct counters_floor *floor);

#endif
