#include "ipc/peer_queue.h"

#include "ipc/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct frame {
	struct frame *next;
	size_t n; /* with head */
	uint32_t flow;
	bool droppable;
	uint8_t bytes[];
};

void peer_queue_init(struct peer_queue *q)
{
	memset(q, 0, sizeof *q);
	q->lane[0].end = &q->lane[0].first;
	q->lane[1].end = &q->lane[1].first;
}

static struct frame *pop(struct peer_lane_q *l)
{
	struct frame *f = l->first;

	if (f) {
		l->first = f->next;
		if (!l->first)
			l->end = &l->first;
		l->bytes -= f->n;
	}
	return f;
}

/* A frame may hold a lease. */
static void free_frame(struct frame *f)
{
	if (f)
		explicit_bzero(f->bytes, f->n);
	free(f);
}

void peer_queue_clear(struct peer_queue *q)
{
	struct frame *f;

	for (int i = 0; i < 2; i++)
		while ((f = pop(&q->lane[i])))
			free_frame(f);
	free_frame(q->begun);
	q->begun = NULL;
}

int peer_queue_add(struct peer_queue *q, enum peer_lane lane, bool droppable, uint32_t flow,
		   const void *body, size_t len)
{
	struct frame *f = malloc(sizeof *f + FRAME_HEAD + len);
	struct peer_lane_q *l = &q->lane[lane];

	if (!f)
		return ENOMEM;
	f->next = NULL;
	f->n = FRAME_HEAD + len;
	f->flow = flow;
	f->droppable = droppable;
	frame_head(f->bytes, len);
	memcpy(f->bytes + FRAME_HEAD, body, len);
	*l->end = f;
	l->end = &f->next;
	l->bytes += f->n;
	return 0;
}

/* The flow with most droppable bytes queued. The lane holds some hundreds of frames at most. */
static bool biggest_flow(const struct peer_lane_q *l, uint32_t *flow)
{
	size_t best = 0;

	for (const struct frame *f = l->first; f; f = f->next) {
		size_t sum = 0;

		for (const struct frame *g = f; g && f->droppable; g = g->next)
			if (g->droppable && g->flow == f->flow)
				sum += g->n;
		if (sum > best) {
			best = sum;
			*flow = f->flow;
		}
	}
	return best > 0;
}

static bool drop_oldest(struct peer_lane_q *l, uint32_t flow, peer_drop_h *h, void *arg)
{
	for (struct frame **at = &l->first; *at; at = &(*at)->next) {
		struct frame *f = *at;

		if (!f->droppable || f->flow != flow)
			continue;
		*at = f->next;
		if (!f->next)
			l->end = at;
		l->bytes -= f->n;
		if (h)
			h(f->bytes + FRAME_HEAD, f->n - FRAME_HEAD, arg);
		free(f);
		return true;
	}
	return false;
}

unsigned peer_queue_shed(struct peer_queue *q, uint32_t flow, size_t want, size_t cap,
			 peer_drop_h *h, void *arg)
{
	struct peer_lane_q *l = &q->lane[PEER_AUDIO];
	unsigned dropped = 0;
	uint32_t other;

	while (l->bytes + want > cap) {
		if (!drop_oldest(l, flow, h, arg) &&
		    (!biggest_flow(l, &other) || !drop_oldest(l, other, h, arg)))
			break;
		dropped++;
	}
	return dropped;
}

bool peer_queue_empty(const struct peer_queue *q)
{
	return !q->begun && !q->lane[0].first && !q->lane[1].first;
}

int peer_queue_peek(struct peer_queue *q, struct iovec *iov, int n)
{
	int k = 0;

	if (q->begun && k < n)
		iov[k++] = (struct iovec){q->begun->bytes + q->written, q->begun->n - q->written};
	for (int i = 0; i < 2; i++)
		for (struct frame *f = q->lane[i].first; f && k < n; f = f->next)
			iov[k++] = (struct iovec){f->bytes, f->n};
	return k;
}

void peer_queue_took(struct peer_queue *q, size_t bytes)
{
	while (bytes) {
		if (!q->begun) {
			q->begun = pop(
				&q->lane[q->lane[PEER_COMMAND].first ? PEER_COMMAND : PEER_AUDIO]);
			q->written = 0;
		}
		if (!q->begun)
			return;
		if (bytes < q->begun->n - q->written) {
			q->written += bytes;
			return;
		}
		bytes -= q->begun->n - q->written;
		free_frame(q->begun);
		q->begun = NULL;
	}
}
