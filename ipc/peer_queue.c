#include "ipc/peer_queue.h"

#include "ipc/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_FLOWS = 16 };

struct frame {
	struct frame *next, *before; /* in the lane */
	struct frame *next_of_flow;
	uint64_t number; /* rises in each queue */
	size_t n;	 /* with head */
	uint32_t flow;
	bool droppable;
	uint8_t bytes[];
};

/* While the other side stalls, a full lane sheds a frame for each one that comes. With its flows at
 * hand the queue sheds without a walk over its frames. */
struct flow {
	uint32_t id;
	size_t bytes;
	struct frame *first, *last; /* its droppable frames, the oldest first */
};

void peer_queue_init(struct peer_queue *q)
{
	memset(q, 0, sizeof *q);
}

/* ---- flows ---- */

static struct flow *find_flow(const struct peer_queue *q, uint32_t id)
{
	for (unsigned i = 0; i < q->n_flows; i++)
		if (q->flows[i].id == id)
			return &q->flows[i];
	return NULL;
}

/* Returns the flow, a new one if need be; NULL without memory. */
static struct flow *make_flow(struct peer_queue *q, uint32_t id)
{
	struct flow *w = find_flow(q, id), *more;
	unsigned cap = q->cap_flows ? 2 * q->cap_flows : FIRST_FLOWS;

	if (w)
		return w;
	if (q->n_flows == q->cap_flows) {
		more = realloc(q->flows, cap * sizeof *more);
		if (!more)
			return NULL;
		q->flows = more;
		q->cap_flows = cap;
	}
	w = &q->flows[q->n_flows++];
	*w = (struct flow){.id = id};
	return w;
}

static void join_flow(struct flow *w, struct frame *f)
{
	if (w->last)
		w->last->next_of_flow = f;
	else
		w->first = f;
	w->last = f;
	w->bytes += f->n;
}

/* f is the oldest of its flow: frames leave a lane, and are dropped, in order. */
static void leave_flow(struct peer_queue *q, const struct frame *f)
{
	struct flow *w = find_flow(q, f->flow);

	w->first = f->next_of_flow;
	w->bytes -= f->n;
	if (!w->first)
		*w = q->flows[--q->n_flows];
}

static bool is_bigger(const struct flow *a, const struct flow *b)
{
	return a->bytes > b->bytes || (a->bytes == b->bytes && a->first->number < b->first->number);
}

/* Returns the flow with most droppable bytes, of two the one with the oldest frame; NULL when
 * nothing can be dropped. */
static const struct flow *biggest_flow(const struct peer_queue *q)
{
	const struct flow *best = NULL;

	for (unsigned i = 0; i < q->n_flows; i++)
		if (!best || is_bigger(&q->flows[i], best))
			best = &q->flows[i];
	return best;
}

/* ---- frames ---- */

static void unlink_frame(struct peer_queue *q, struct peer_lane_q *l, struct frame *f)
{
	if (f->before)
		f->before->next = f->next;
	else
		l->first = f->next;
	if (f->next)
		f->next->before = f->before;
	else
		l->last = f->before;
	l->bytes -= f->n;
	if (f->droppable)
		leave_flow(q, f);
}

static struct frame *pop(struct peer_queue *q, struct peer_lane_q *l)
{
	struct frame *f = l->first;

	if (!f)
		return NULL;
	f->before = NULL; /* as it is anyway; the static analyser cannot know */
	unlink_frame(q, l, f);
	return f;
}

/* A frame may hold a lease or somebody's voice. */
static void free_frame(struct frame *f)
{
	if (f)
		explicit_bzero(f->bytes, f->n);
	free(f);
}

void peer_queue_clear(struct peer_queue *q)
{
	for (int i = 0; i < 2; i++) {
		for (struct frame *f = q->lane[i].first, *next; f; f = next) {
			next = f->next;
			free_frame(f);
		}
		q->lane[i] = (struct peer_lane_q){0};
	}
	free_frame(q->begun);
	q->begun = NULL;
	free(q->flows);
	q->flows = NULL;
	q->n_flows = q->cap_flows = 0;
}

int peer_queue_add(struct peer_queue *q, enum peer_lane lane, bool droppable, uint32_t flow,
		   const void *body, size_t len)
{
	struct frame *f = malloc(sizeof *f + FRAME_HEAD + len);
	struct peer_lane_q *l = &q->lane[lane];
	struct flow *w = f && droppable ? make_flow(q, flow) : NULL;

	if (!f || (droppable && !w)) {
		free(f);
		return ENOMEM;
	}
	*f = (struct frame){.before = l->last,
			    .number = q->numbered++,
			    .n = FRAME_HEAD + len,
			    .flow = flow,
			    .droppable = droppable};
	frame_head(f->bytes, len);
	memcpy(f->bytes + FRAME_HEAD, body, len);
	if (l->last)
		l->last->next = f;
	else
		l->first = f;
	l->last = f;
	l->bytes += f->n;
	if (w)
		join_flow(w, f);
	return 0;
}

static void drop_oldest(struct peer_queue *q, const struct flow *w, peer_drop_h *h, void *arg)
{
	struct frame *f = w->first;

	unlink_frame(q, &q->lane[PEER_AUDIO], f);
	if (h)
		h(f->bytes + FRAME_HEAD, f->n - FRAME_HEAD, arg);
	free_frame(f);
}

unsigned peer_queue_shed(struct peer_queue *q, uint32_t flow, size_t want, size_t cap,
			 peer_drop_h *h, void *arg)
{
	const struct peer_lane_q *l = &q->lane[PEER_AUDIO];
	unsigned dropped = 0;

	while (l->bytes + want > cap) {
		const struct flow *w = find_flow(q, flow);

		w = w ? w : biggest_flow(q);
		if (!w)
			break;
		drop_oldest(q, w, h, arg);
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
				q,
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
