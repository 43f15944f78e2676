/* The jitter buffer of one sender: puts packets into sequence order and keeps the last second of
 * them as pre-roll.
 *
 * Packets are written into a byte ring as they arrive. `next` is the first sequence number that has
 * not been released. It moves over present packets at once, and over a gap when a packet behind the
 * gap has waited as long as the caller allows or too many packets wait. Released packets stay
 * readable until newer bytes need their place; they are the pre-roll.
 *
 * Sequence numbers are extended to 64 bits and never go back: after a restart of the sender they
 * continue above every number seen. Plain memory of its owner; all zero is empty. Times in ns. */
#ifndef MEDIAD_AUDIO_JITTER_BUFFER_H
#define MEDIAD_AUDIO_JITTER_BUFFER_H

#include "mediad/audio/receive.h"

enum { JITTER_BUFFER_ENTRIES = 256, JITTER_BUFFER_AHEAD = 128 };

/* There are many entries; the order of the fields leaves no padding. */
struct jitter_buffer_entry {
	uint64_t index; /* extended sequence number */
	uint64_t pos;	/* of its bytes, counted since the ring began */
	uint64_t at;	/* arrival */
	uint32_t ts;
	uint16_t n; /* 0: malformed or empty; only its sequence number counts */
	uint8_t level;
	bool used, voice;
	bool empty; /* it held nothing to decode */
};

struct jitter_buffer {
	bool started;
	uint64_t start;	  /* first number since the sender started or restarted */
	uint64_t next;	  /* every number below is released */
	uint64_t highest; /* newest number seen */
	uint64_t head;	  /* bytes written so far, including gaps at the ring's end */
	uint64_t lost;	  /* numbers released without a packet */
	uint16_t late_seq;
	unsigned late_run;
	struct jitter_buffer_entry entries[JITTER_BUFFER_ENTRIES];
	uint8_t bytes[AUDIO_PREROLL_BYTES];
};

enum jitter_buffer_verdict {
	JITTER_BUFFER_OK,
	JITTER_BUFFER_LATE,	 /* its number was released already */
	JITTER_BUFFER_DUPLICATE, /* it is present already */
	/* The sender restarted: flush, read the rest, jitter_buffer_restart, then put. */
	JITTER_BUFFER_RESTART,
};

/* Classifies a packet by its sequence number. Counts runs of late ones. */
enum jitter_buffer_verdict jitter_buffer_classify(struct jitter_buffer *jb, uint16_t seq);
/* Stores a packet; only after JITTER_BUFFER_OK. voice: it counts as voice. pkt->n is 0 for a
 * malformed packet, pkt->p is NULL for an empty one. */
void jitter_buffer_put(struct jitter_buffer *jb, const struct audio_packet *pkt, bool voice,
		       uint64_t now);
/* Releases the packets that are due. max_wait: how long a packet waits for earlier ones. */
void jitter_buffer_release(struct jitter_buffer *jb, uint64_t now, uint64_t max_wait);
/* Releases every packet. */
void jitter_buffer_flush(struct jitter_buffer *jb);
/* The next packet put starts a new run of numbers; older packets can no longer be read. */
void jitter_buffer_restart(struct jitter_buffer *jb);
/* True if packets wait behind a gap. */
bool jitter_buffer_waiting(const struct jitter_buffer *jb);

/* The entry of a number, or NULL when it was lost or its bytes were overwritten. */
const struct jitter_buffer_entry *jitter_buffer_get(const struct jitter_buffer *jb, uint64_t index);
const uint8_t *jitter_buffer_bytes(const struct jitter_buffer *jb,
				   const struct jitter_buffer_entry *e);

#endif
