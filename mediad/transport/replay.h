/* Replay window of one SSRC over extended RTP sequence numbers (RFC 3711 3.3.1, 3.3.2).
 *
 * For the two retired modes whose nonces are no counters; all others use counters.h. Look before
 * opening, commit only what was authentic:
 *
 *   if (replay_look(w, seq) == REPLAY_SEEN) drop and count;
 *   open; if (replay_commit(w, seq) != REPLAY_FRESH) drop and count;
 *
 * A sender may start its numbers anew. Forward jumps move the window; numbers older than the window
 * are refused until REPLAY_RESTART authentic packets came in strict order from there, then the
 * window moves. (Someone who can record and send again that many packets in order can thus make old
 * sound audible for a moment; refusing for ever would make a restarted sender inaudible.) The
 * struct is plain memory of its owner; all zero is a fresh window. */
#ifndef MEDIAD_TRANSPORT_REPLAY_H
#define MEDIAD_TRANSPORT_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

enum { REPLAY_WINDOW = 512, REPLAY_RESTART = 12 };

enum replay_verdict { REPLAY_FRESH, REPLAY_SEEN, REPLAY_OLD };

struct replay {
	bool started;
	uint64_t top;			   /* highest extended number that was committed */
	uint64_t seen[REPLAY_WINDOW / 64]; /* bit index % REPLAY_WINDOW */
	uint16_t run_seq;		   /* next number of a run of old ones */
	unsigned run;
};

/* The verdict that seq would get. Changes nothing. */
enum replay_verdict replay_look(const struct replay *w, uint16_t seq);
/* As replay_look, and remembers it. Only for packets that were authentic. */
enum replay_verdict replay_commit(struct replay *w, uint16_t seq);

#endif
