/* Replay window of one SSRC over extended RTP sequence numbers (RFC 3711 3.3.1, 3.3.2).
 *
 * For the two retired modes whose nonces are no counters; all others use counters.h. Look before
 * opening, commit only what was authentic:
 *
 *   if (replay_look(w, seq) != REPLAY_FRESH) drop and count;
 *   open; if (replay_commit(w, seq) != REPLAY_FRESH) drop and count;
 *
 * Numbers older than the window are refused for good. So a sender that starts its numbers anew
 * below the window is heard again under its next SSRC, or with the next key. And so a jump ahead
 * beyond the window would silence whoever goes on below it: one is followed only after a silence.
 * An honest sender loses nothing by that, since so many packets take seconds; after a stall of ours
 * a second. Sixteen bits tell no packet from one 65536 before it, and in xsalsa20_poly1305_suffix
 * the number is not authenticated (record 148). The struct is plain memory of its owner; all zero
 * is a fresh window. */
#ifndef MEDIAD_TRANSPORT_REPLAY_H
#define MEDIAD_TRANSPORT_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

enum { REPLAY_WINDOW = 512, REPLAY_SILENCE_MS = 1000 };

enum replay_verdict { REPLAY_FRESH, REPLAY_SEEN, REPLAY_OLD, REPLAY_AHEAD };

struct replay {
	bool started;
	uint64_t top;			   /* highest extended number that was committed */
	uint64_t at;			   /* ns: when one was committed last */
	uint64_t seen[REPLAY_WINDOW / 64]; /* bit index % REPLAY_WINDOW */
};

/* The verdict that seq would get, except AHEAD. Changes nothing. */
enum replay_verdict replay_look(const struct replay *w, uint16_t seq);
/* As replay_look, and remembers it if it is fresh. AHEAD: it jumps, and somebody was heard within
 * REPLAY_SILENCE_MS. Only for packets that were authentic. now: in ns. */
enum replay_verdict replay_commit(struct replay *w, uint16_t seq, uint64_t now);

#endif
