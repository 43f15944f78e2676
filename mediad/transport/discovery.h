/* IP discovery as a machine: sends requests at 0, 250, 500, 1000, 2000, 3000 and 4000 ms and gives
 * up after 5 s.
 *
 * Plain memory of its owner. Times are in ns of the caller's clock. Other datagrams may arrive
 * meanwhile; only a response of the right type, length and SSRC counts. Everybody in the call knows
 * the SSRC, and nothing in a response proves who sent it. So when an address that is known is asked
 * for again, a response that names another one begins the requests again, and is believed
 * DISCOVERY_JUDGE_MS later if it came at least twice and none named the known address: whoever
 * forges a response cannot keep the server's own from us. */
#ifndef MEDIAD_TRANSPORT_DISCOVERY_H
#define MEDIAD_TRANSPORT_DISCOVERY_H

#include "proto/rtp.h"

enum { DISCOVERY_JUDGE_MS = 2000 };

enum discovery_state {
	DISCOVERY_IDLE,
	DISCOVERY_ASKING,
	DISCOVERY_DONE,	 /* ip and port are ours */
	DISCOVERY_MOVED, /* they were; ours are others now */
	DISCOVERY_FAILED /* nobody answered */
};

struct discovery {
	enum discovery_state state;
	uint32_t ssrc;
	uint64_t start;
	unsigned asked;
	char ip[64]; /* our address, once it was found */
	uint16_t port;
	char other_ip[64]; /* that a response names in its stead */
	uint16_t other_port;
	unsigned others;   /* responses that named it; 0: none did */
	uint64_t judge_at; /* while there are some */
};

/* Starts; discovery_tick must be called at once. */
void discovery_start(struct discovery *d, uint32_t ssrc, uint64_t now);
/* Asks for an address that is known once more; discovery_tick must be called at once. */
void discovery_repeat(struct discovery *d, uint64_t now);
/* Returns true when the request in buf is to be sent now. May set the state to MOVED or FAILED. */
bool discovery_tick(struct discovery *d, uint64_t now, uint8_t buf[DISCOVERY_SIZE]);
/* When discovery_tick is due; UINT64_MAX = never. */
uint64_t discovery_next(const struct discovery *d);
/* Takes a datagram. Returns true when it names our address, or the one that is known; the state is
 * DONE then. */
bool discovery_input(struct discovery *d, const uint8_t *p, size_t n, uint64_t now);

#endif
