/* Replay protection of one SSRC's RTP packets by their nonce counters.
 *
 * The four counter bytes at a packet's end are its nonce, so a packet is authentic with its own
 * counter alone, and no sender uses a counter twice under one key. RTP sequence numbers cannot
 * replace them: they have 16 bits, so a packet that is 40,000 old looks new.
 *
 * A sender's byte order is its own choice, and both occur. So a window is kept in each order. In
 * the sender's own, its counters rise, and a packet is new that is above the window or was not seen
 * in it; in the other order they jump, and most fall below the window. A packet is new if it is new
 * in one of the orders. Once accepted, a counter is in both windows or below them, so it is refused
 * for ever, whatever arrives.
 *
 *   if (!counters_look(w, counter)) drop and count;
 *   open; if (!counters_take(w, counter)) drop and count;
 *
 * Plain memory of its owner; all zero is new. The window must be kept as long as the key: an SSRC
 * that is mapped again goes on with its floor. */
#ifndef MEDIAD_TRANSPORT_COUNTERS_H
#define MEDIAD_TRANSPORT_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

enum { COUNTERS_BYTES = 4, COUNTERS_WINDOW = 4096 };

struct counters {
	struct {
		bool started;
		uint32_t top, floor; /* highest accepted; lower ones than floor are refused */
		uint64_t seen[COUNTERS_WINDOW / 64];
	} order[2]; /* big-endian, little-endian */
};

/* All that a window accepted, in few bytes. All zero: nothing. */
struct counters_floor {
	/* In each order, everything below was accepted or counts as such; UINT32_MAX: it, too. */
	uint32_t next[2];
};

/* True if this counter may be new. Changes nothing. */
bool counters_look(const struct counters *w, const uint8_t counter[COUNTERS_BYTES]);
/* Accepts the counter of an authentic packet. Returns false when it was accepted before or is too
 * old to tell. */
bool counters_take(struct counters *w, const uint8_t counter[COUNTERS_BYTES]);
struct counters_floor counters_floor(const struct counters *w);
/* A new window in which nothing below the floor is new. */
void counters_restart(struct counters *w, const struct counters_floor *floor);
/* Raises f to the higher floor of both. */
void counters_raise(struct counters_floor *f, const struct counters_floor *by);

#endif
