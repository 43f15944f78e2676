/* IP discovery as a machine: asks at 0, 250, 500, 1000, 2000, 3000 and 4000 ms, gives up after 5 s.
 *
 * Plain memory of its owner. Times in ns of the caller's clock. Other datagrams may arrive
 * meanwhile; only an answer of the right type, length and ssrc counts. */
#ifndef MEDIAD_TRANSPORT_DISCOVERY_H
#define MEDIAD_TRANSPORT_DISCOVERY_H

#include "proto/rtp.h"

enum discovery_state { DISCOVERY_IDLE, DISCOVERY_ASKING, DISCOVERY_DONE, DISCOVERY_FAILED };

struct discovery {
	enum discovery_state state;
	uint32_t ssrc;
	uint64_t start;
	unsigned asked;
	char ip[64]; /* ours, when DONE */
	uint16_t port;
};

/* Begins (anew); call discovery_tick at once. */
void discovery_start(struct discovery *d, uint32_t ssrc, uint64_t now);
/* True: send the request now in buf. May turn the state to FAILED. */
bool discovery_tick(struct discovery *d, uint64_t now, uint8_t buf[DISCOVERY_SIZE]);
/* When to tick next; UINT64_MAX when it is over. */
uint64_t discovery_next(const struct discovery *d);
/* A datagram. True when it was the answer: the state is DONE. */
bool discovery_input(struct discovery *d, const uint8_t *p, size_t n);

#endif
