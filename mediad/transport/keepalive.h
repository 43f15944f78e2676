/* UDP keepalive as a machine: one datagram every 5 s. An answer is used for the round-trip time and
 * for nothing else: some servers never answer.
 *
 * Plain memory of its owner. Times in ns of the caller's clock. */
#ifndef MEDIAD_TRANSPORT_KEEPALIVE_H
#define MEDIAD_TRANSPORT_KEEPALIVE_H

#include "proto/base/time.h"
#include "proto/rtp.h"

#define KEEPALIVE_EVERY_NS (5 * NS_PER_S)

struct keepalive {
	bool on;
	uint64_t next;
	uint64_t sent;	 /* when the newest was sent */
	uint32_t number; /* of the newest, from 1 */
	bool answered;
	uint32_t rtt_us; /* newest measured, 0 = none yet */
};

/* Begins; the first one is due at once. */
void keepalive_start(struct keepalive *k, uint64_t now);
/* True: send buf now. */
bool keepalive_tick(struct keepalive *k, uint64_t now, uint8_t buf[KEEPALIVE_SIZE]);
/* When to tick next; UINT64_MAX when it is off. */
uint64_t keepalive_next(const struct keepalive *k);
/* An 8-byte datagram. True when it answers the newest one. */
bool keepalive_input(struct keepalive *k, const uint8_t *p, size_t n, uint64_t now);

#endif
