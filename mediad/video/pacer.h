/* Paces the packets of video: a token bucket of bytes, so that a key frame leaves over a few frame
 * times and does not fill a router's queue at once.
 *
 * Plain memory of its owner. Times in ns. */
#ifndef MEDIAD_VIDEO_PACER_H
#define MEDIAD_VIDEO_PACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PACER_BURST_MS = 5 }; /* what may leave at once, in time at the rate */

struct pacer {
	uint64_t rate;	/* bytes per second */
	uint64_t burst; /* bytes */
	uint64_t level; /* bytes that may leave now, times NS_PER_S */
	uint64_t at;
};

/* Starts with a full bucket. rate: bytes per second, 1 or more. packet: the largest packet in
 * bytes, which always fits the bucket. */
void pacer_start(struct pacer *p, uint64_t rate, size_t packet, uint64_t now);
/* Goes on at another rate; what was saved up at the old one stays, up to the new burst. */
void pacer_set_rate(struct pacer *p, uint64_t rate, size_t packet, uint64_t now);
/* Takes the bytes of a packet. Returns false when it must wait. */
bool pacer_take(struct pacer *p, size_t n, uint64_t now);
/* When n bytes may leave; now or later. */
uint64_t pacer_due(const struct pacer *p, size_t n, uint64_t now);

#endif
