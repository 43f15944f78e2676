/* UDP keepalive as a machine: one datagram every 5 s. Responses serve only to measure the
 * round-trip time, because some servers never respond.
 *
 * Numbers begin at a random one that no packet tells, because responses are under no key: whoever
 * could guess the present number could send one under the server's address.
 *
 * Plain memory of its owner. Times are in ns of the caller's clock. */
#ifndef MEDIAD_TRANSPORT_KEEPALIVE_H
#define MEDIAD_TRANSPORT_KEEPALIVE_H

#include "proto/base/time.h"
#include "proto/rtp.h"

#define KEEPALIVE_EVERY_NS (5 * NS_PER_S)

struct keepalive {
	bool on;
	uint64_t next;
	uint64_t sent;	 /* when the newest was sent */
	uint32_t number; /* of the newest; before the first, the one before */
	bool awaited;	 /* an answer to it */
	uint32_t rtt_us; /* newest measured, 0 = none yet */
};

/* Starts; the first datagram is due at once, with the number after this one. */
void keepalive_start(struct keepalive *k, uint32_t number, uint64_t now);
/* Returns true when buf is to be sent now. */
bool keepalive_tick(struct keepalive *k, uint64_t now, uint8_t buf[KEEPALIVE_SIZE]);
/* When keepalive_tick is due; UINT64_MAX = never. */
uint64_t keepalive_next(const struct keepalive *k);
/* Takes an 8-byte datagram. Returns true when it answers the newest one. */
bool keepalive_input(struct keepalive *k, const uint8_t *p, size_t n, uint64_t now);

#endif
