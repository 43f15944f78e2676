/* IP discovery as a machine: sends requests at 0, 250, 500, 1000, 2000, 3000 and 4000 ms and gives
 * up after 5 s.
 *
 * Plain memory of its owner. Times are in ns of the caller's clock. Other datagrams may arrive
 * meanwhile; only a response of the right type, length and SSRC counts. */
#ifndef MEDIAD_TRANSPORT_DISCOVERY_H
#define MEDIAD_TRANSPORT_DISCOVERY_H

#include "proto/rtp.h"

enum discovery_state { DISCOVERY_IDLE, DISCOVERY_ASKING, DISCOVERY_DONE, DISCOVERY_FAILED };

struct discovery {
	enum discovery_state state;
	uint32_t ssrc;
	uint64_t start;
	unsigned asked;
	char ip[64]; /* our address, when DONE */
	uint16_t port;
};

/* Starts or restarts; discovery_tick must be called at once. */
void discovery_start(struct discovery *d, uint32_t ssrc, uint64_t now);
/* Returns true when the request in buf is to be sent now. May set the state to FAILED. */
bool discovery_tick(struct discovery *d, uint64_t now, uint8_t buf[DISCOVERY_SIZE]);
/* When discovery_tick is due; UINT64_MAX = never. */
uint64_t discovery_next(const struct discovery *d);
/* Takes a datagram. Returns true when it was the response; the state is DONE then. */
bool discovery_input(struct discovery *d, const uint8_t *p, size_t n);

#endif
