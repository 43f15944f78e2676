/* One sender's packets in the order of their sequence numbers, and the last second of them.
 *
 * Packets go into a byte ring as they come. `next` is the first number that has not been released:
 * it moves over what is there at once, and over a gap when the packet behind it has waited as long
 * as the caller says or too much is held. What was released stays readable until newer bytes need
 * its place: that is the pre-roll.
 *
 * Numbers are extended to 64 bits and never go back: a sender that starts anew continues higher up.
 * Plain memory of its owner; all zero is empty. */
#ifndef MEDIAD_AUDIO_ORDER_H
#define MEDIAD_AUDIO_ORDER_H

#include "mediad/audio/receive.h"

enum { ORDER_ENTRIES = 256, ORDER_AHEAD = 128 };

/* There are many: the order of its fields leaves no holes. */
struct order_entry {
	uint64_t index; /* extended sequence number */
	uint64_t pos;	/* of its bytes, counted since the ring began */
	uint64_t at;	/* arrival */
	uint32_t ts;
	uint16_t n; /* 0: it was malformed or empty, only its place is known */
	uint8_t level;
	bool used, voice;
	bool empty; /* there was nothing in it to hear */
};

struct order {
	bool started;
	uint64_t start;	  /* first number since the sender started (anew) */
	uint64_t next;	  /* all below are released */
	uint64_t highest; /* newest number seen */
	uint64_t head;	  /* bytes written so far, with the gaps at the ring's end */
	uint64_t lost;	  /* numbers passed over */
	uint16_t late_seq;
	unsigned late_run;
	struct order_entry entries[ORDER_ENTRIES];
	uint8_t bytes[AUDIO_PREROLL_BYTES];
};

enum order_verdict {
	ORDER_OK,
	ORDER_LATE,	 /* its place was passed over */
	ORDER_DUPLICATE, /* it is there already */
	ORDER_RESTART, /* the sender started anew: order_flush, read, order_restart, then order_put
			*/
};

/* What a packet of this number would be. Counts runs of late ones. */
enum order_verdict order_look(struct order *o, uint16_t seq);
/* Only after ORDER_OK. voice: counts as such; n 0 for a malformed one, p NULL for an empty one. */
void order_put(struct order *o, const struct audio_packet *pkt, bool voice, uint64_t now);
/* Releases what can be released; hold: how long, in ns, a packet waits for those before it. */
void order_advance(struct order *o, uint64_t now, uint64_t hold);
/* Releases everything. */
void order_flush(struct order *o);
/* The next packet put starts a new run of numbers; nothing older can be read. */
void order_restart(struct order *o);
/* True while packets wait behind a gap. */
bool order_holding(const struct order *o);

/* The entry of a number, or NULL when it was lost or its bytes are gone. */
const struct order_entry *order_get(const struct order *o, uint64_t index);
const uint8_t *order_bytes(const struct order *o, const struct order_entry *e);

#endif
