#include <stdlib.h>

#include "control/events/events.h"
#include "control/store/job.h"
#include "control/store/messages.h"
#include "control/store/store_inside.h"

void record_free(struct record *r)
{
	free(r->ev);
	free(r);
}

static bool takes_away(const struct record *r)
{
	return r->ev && messages_takes_away(r->ev);
}

/* What takes words away is not shed with the rest: as much room again is its own. */
static bool has_room(const struct queue *q, const struct record *r, size_t bytes)
{
	unsigned times = takes_away(r) ? 2 : 1;
	size_t most = (size_t)times * STORE_QUEUE_BYTES;

	return q->n < times * STORE_QUEUE && q->bytes <= most && bytes <= most - q->bytes;
}

bool record_queue_push(struct queue *q, struct record *r, size_t bytes, bool *shed)
{
	bool post = false;

	r->bytes = bytes;
	pthread_mutex_lock(&q->lock);
	*shed = !has_room(q, r, bytes);
	if (!*shed) {
		*q->tail = r;
		q->tail = &r->next;
		q->n++;
		q->bytes += bytes;
		post = !q->posted;
		q->posted = true;
	}
	pthread_mutex_unlock(&q->lock);
	return post;
}

bool record_queue_mark(struct queue *q, uint64_t at_ms)
{
	struct record *mark = calloc(1, sizeof *mark);
	bool post = false, used = false;

	pthread_mutex_lock(&q->lock);
	q->unmarked++;
	if (!q->mark && mark) {
		*q->tail = q->mark = mark;
		q->tail = &mark->next;
		q->n++;
		used = true;
		post = !q->posted;
		q->posted = true;
	}
	if (q->mark) {
		q->mark->lost += q->unmarked;
		q->mark->lost_ms = at_ms;
		q->unmarked = 0;
	}
	pthread_mutex_unlock(&q->lock);
	if (!used)
		free(mark);
	return post;
}

struct record *record_queue_take(struct queue *q, uint32_t *n)
{
	struct record *head;

	pthread_mutex_lock(&q->lock);
	head = q->head;
	*n = q->n;
	q->head = NULL;
	q->tail = &q->head;
	q->n = 0;
	q->bytes = 0;
	q->posted = false;
	q->mark = NULL;
	pthread_mutex_unlock(&q->lock);
	return head;
}

uint32_t record_queue_put_back(struct queue *q, struct record *head)
{
	struct record *kept = NULL, **tail = &kept;
	uint32_t n = 0, lost = 0;
	size_t bytes = 0;

	while (head) {
		struct record *r = head;

		head = r->next;
		if (!takes_away(r)) {
			record_free(r);
			lost++;
			continue;
		}
		*tail = r;
		tail = &r->next;
		n++;
		bytes += r->bytes;
	}
	if (!kept)
		return lost;
	pthread_mutex_lock(&q->lock);
	*tail = q->head;
	if (!q->head)
		q->tail = tail;
	q->head = kept;
	q->n += n;
	q->bytes += bytes;
	pthread_mutex_unlock(&q->lock);
	return lost;
}
