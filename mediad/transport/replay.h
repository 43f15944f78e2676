/* Replay window of one SSRC over extended RTP sequence numbers (RFC 3711 3.3.1, 3.3.2).
 *
 * For the two retired modes whose nonces are no counters; all others use counters.h. Look before
 * opening, commit only what was authentic:
 *
 *   if (replay_look(w, seq) != REPLAY_FRESH) drop and count;
 *   open; if (replay_commit(w, seq) != REPLAY_FRESH) drop and count;
 *
 * Forward jumps move the window; numbers older than the window are refused for good. So a sender
 * that starts its numbers anew below the window is heard again under its next SSRC, or with the
 * next key. Sixteen bits tell no packet from one 65536 before it, and in xsalsa20_poly1305_suffix
 * the number is not authenticated (record 148). The struct is plain memory of its owner; all zero
 * is a fresh window. */
#ifndef MEDIAD_TRANSPORT_REPLAY_H
#define MEDIAD_TRANSPORT_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

enum { REPLAY_WINDOW = 512 };

enum replay_verdict { REPLAY_FRESH, REPLAY_SEEN, REPLAY_OLD };

struct replay {
	bool started;
	uint64_t top;			   /* highest extended number that was committed */
	uint64_t seen[REPLAY_WINDOW / 64]; /* bit index % REPLAY_WINDOW */
};

/* The verdict that seq would get. Changes nothing. */
enum replay_verdict replay_look(const struct replay *w, uint16_t seq);
/* As replay_look, and remembers it. Only for packets that were authentic. */
enum replay_verdict replay_commit(struct replay *w, uint16_t seq);

#endif
