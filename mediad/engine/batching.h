/* When an audio thread reads its sockets, and when it wakes the loop thread.
 *
 * A datagram that is read alone costs seven system calls and wakes three threads. So while many are
 * expected, the sockets are left unread until a group has arrived, and the loop thread is woken
 * once for all events of a group (docs/decisions/0073-system-calls-of-a-frame.md). Pure; times are
 * in ns of the thread's env. */
#ifndef MEDIAD_ENGINE_BATCHING_H
#define MEDIAD_ENGINE_BATCHING_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BATCHING_STREAMS = 256,
	BATCHING_CALLS = 4,  /* fewer calls that speak are a small load */
	BATCHING_GROUP = 16, /* datagrams that are waited for */
	/* Datagrams that arrive at less than this from each other are grouped. */
	BATCHING_GAP_US = 5000,
	BATCHING_GAP_SMALL_US = 1000, /* the same under a small load */
	/* Limits of the time for which sockets are left unread. */
	BATCHING_MIN_US = 2000,
	BATCHING_MAX_US = 8000,
	BATCHING_WINDOW_US = 50000,   /* rates are taken over this time */
	BATCHING_PATIENCE_US = 10000, /* so long an event may wait for a wake of others */
};

struct batching {
	uint64_t read_at;  /* sockets are not read before */
	uint64_t wake_by;  /* when the loop thread is to be woken; UINT64_MAX: no event waits */
	uint64_t interval; /* 0: sockets are read at once */
	uint64_t since;	   /* datagrams were counted since then */
	unsigned got;
	bool read;			       /* something was read in this turn */
	uint64_t spoke[BATCHING_STREAMS / 64]; /* a bit for each stream that got a datagram */
};

void batching_init(struct batching *b);

/* So many datagrams of a stream were read. */
void batching_read(struct batching *b, unsigned stream, unsigned n);
/* All sockets were read that were to be read: decides when they are read next. */
void batching_end_turn(struct batching *b, uint64_t now);

/* An event was pushed. patient: it may wait for another one's wake. */
void batching_event(struct batching *b, uint64_t now, bool patient);
/* Returns true when the loop thread is to be woken now, and forgets the events: one wake serves all
 * that were pushed before it. */
bool batching_wake(struct batching *b, uint64_t now);

#endif
