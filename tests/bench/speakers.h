/* Many speakers at a far end, each of which sends a frame of speech every 20 ms, encrypted end
 * to end, evenly spread, from one thread. */
#ifndef TESTS_BENCH_SPEAKERS_H
#define TESTS_BENCH_SPEAKERS_H

#include "tests/bench/far_end.h"

struct speakers;

/* Receives a datagram of this speaker in place of the network. On the speakers' thread. */
typedef void(speakers_h)(unsigned call, unsigned speaker, const uint8_t *p, size_t n, void *arg);

struct speakers_conf {
	struct far_end *far_end;
	unsigned from, calls; /* these calls… */
	unsigned speakers;    /* …each have so many that speak */
	unsigned burst;	      /* so many datagrams leave at the same time; 0: one */
	unsigned frame_us;    /* from one frame of a speaker to its next; 0: 20 ms, as it is */
	unsigned lost;	      /* one of so many is not sent; 0: none is lost */
};

void speakers_alloc(struct speakers **out, const struct speakers_conf *conf);
struct speakers *speakers_free(struct speakers *c);
/* How many of them, and in what lumps, from the next start on. */
void speakers_set(struct speakers *c, unsigned calls, unsigned speakers, unsigned burst);
/* h NULL: to the far end's socket. */
void speakers_start(struct speakers *c, speakers_h *h, void *arg);
/* Returns how many datagrams left since speakers_start. */
uint64_t speakers_stop(struct speakers *c);
uint64_t speakers_sent(const struct speakers *c);
/* While it is stopped, or from its own thread: the speaker goes on with this SSRC; the call with
 * this key. */
void speakers_turn(struct speakers *c, unsigned call, unsigned speaker, unsigned turn);
void speakers_rekey(struct speakers *c, unsigned call, unsigned rekeys);

#endif
