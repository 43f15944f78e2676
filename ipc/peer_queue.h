/* The send queue of a peer: two lanes of frames with byte counts, commands first. Pure.
 *
 * A partly written frame is finished before a frame of the other lane is sent. */
#ifndef IPC_PEER_QUEUE_H
#define IPC_PEER_QUEUE_H

#include "ipc/peer.h"

#include <sys/uio.h>

struct frame;
struct flow;

struct peer_queue {
	struct peer_lane_q {
		struct frame *first, *last;
		size_t bytes;
	} lane[2];
	struct flow *flows; /* owned; those with droppable frames */
	unsigned n_flows, cap_flows;
	uint64_t numbered;
	struct frame *begun; /* partly written; out of its lane */
	size_t written;	     /* bytes of it that were written */
};

void peer_queue_init(struct peer_queue *q);
void peer_queue_clear(struct peer_queue *q);
/* ENOMEM. */
int peer_queue_add(struct peer_queue *q, enum peer_lane lane, bool droppable, uint32_t flow,
		   const void *body, size_t len);
/* Drops droppable frames of the audio lane until `want` more bytes stay within cap: the oldest of
 * this flow, else of the flow with most bytes queued. Calls h, unless NULL, for each. Returns the
 * number of dropped frames. */
unsigned peer_queue_shed(struct peer_queue *q, uint32_t flow, size_t want, size_t cap,
			 peer_drop_h *h, void *arg);
bool peer_queue_empty(const struct peer_queue *q);
/* Fills iov with the next bytes in order; returns the number of entries, at most n. */
int peer_queue_peek(struct peer_queue *q, struct iovec *iov, int n);
/* The kernel accepted this many bytes of the last peek. */
void peer_queue_took(struct peer_queue *q, size_t bytes);

#endif
