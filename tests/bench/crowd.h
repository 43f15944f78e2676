/* Many speakers at a far end, each sending a frame of speech every 20 ms, evenly spread over them,
 * from a thread of their own. */
#ifndef TESTS_BENCH_CROWD_H
#define TESTS_BENCH_CROWD_H

#include "tests/bench/far.h"

struct crowd;

/* A datagram of this speaker, in place of sending it. On the crowd's thread. */
typedef void(crowd_h)(unsigned call, unsigned speaker, const uint8_t *p, size_t n, void *arg);

struct crowd_conf {
	struct far *far;
	unsigned from, calls; /* these calls… */
	unsigned speakers;    /* …each have so many that speak */
	unsigned burst;	      /* so many datagrams leave at the same time; 0: one */
	unsigned frame_us;    /* from one frame of a speaker to its next; 0: 20 ms, as it is */
	unsigned lost;	      /* one of so many is not sent; 0: none is lost */
};

void crowd_alloc(struct crowd **out, const struct crowd_conf *conf);
struct crowd *crowd_free(struct crowd *c);
/* How many of them, and in what lumps, from the next start on. */
void crowd_set(struct crowd *c, unsigned calls, unsigned speakers, unsigned burst);
/* h NULL: to the far end's socket. */
void crowd_start(struct crowd *c, crowd_h *h, void *arg);
/* Returns how many datagrams left since crowd_start. */
uint64_t crowd_stop(struct crowd *c);
uint64_t crowd_sent(const struct crowd *c);
/* While it is stopped, or from its own thread: the speaker goes on with this SSRC; the call with
 * this key. */
void crowd_turn(struct crowd *c, unsigned call, unsigned speaker, unsigned turn);
void crowd_rekey(struct crowd *c, unsigned call, unsigned rekeys);

#endif
