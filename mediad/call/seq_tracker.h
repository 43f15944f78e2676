/* Tracks the sequence numbers of a voice gateway's messages (`seq`, 16 bits, wrapping, shared by
 * text and binary messages): which ones were missed, so that a resume asks for everything after the
 * last complete one, and which repeated messages are new. Pure. */
#ifndef MEDIAD_CALL_SEQ_TRACKER_H
#define MEDIAD_CALL_SEQ_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

enum { SEQ_TRACKER_RANGES = 16 };

enum seq_class {
	SEQ_NEXT,      /* the next one */
	SEQ_GAP,       /* new, and some before it were missed */
	SEQ_RECOVERED, /* one of those that were missed */
	SEQ_DUPLICATE, /* received before */
};

struct seq_tracker {
	int last; /* the newest, -1 before the first */
	unsigned ranges;
	struct {
		uint16_t from, to;
	} missing[SEQ_TRACKER_RANGES]; /* oldest first */
	bool resumed;		       /* a resume happened: received messages may be repeated */
	bool requested;		       /* a resume has requested all that are missing */
};

void seq_tracker_reset(struct seq_tracker *n);
/* Classifies a number and records it. */
enum seq_class seq_tracker_take(struct seq_tracker *n, uint16_t seq);
/* The last number before which none is missing, -1 before the first: seq_ack of ops 3 and 7. */
int seq_tracker_ack(const struct seq_tracker *n);
/* True if numbers are missing that no resume has requested yet. */
bool seq_tracker_has_missing(const struct seq_tracker *n);
/* A resume (op 7) asks for the missing ones. Those still missing when the next new number arrives
 * are given up, because the server does not have them. */
void seq_tracker_request(struct seq_tracker *n);

#endif
