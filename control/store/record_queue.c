#include <stdlib.h>

#include "control/events/events.h"
#include "control/store/job.h"
#include "control/store/store_inside.h"

void record_free(struct record *r)
{
	free(r->ev);
	free(r);
}

bool record_queue_push(struct queue *q, struct record *r, size_t bytes, bool *shed)
{
	bool post = false;

	pthread_mutex_lock(&q->lock);
	*shed = q->n >= STORE_QUEUE || bytes > STORE_QUEUE_BYTES - q->bytes;
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
