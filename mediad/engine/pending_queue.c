#include "mediad/engine/pending_queue.h"

#include <string.h>

/* Returns where n bytes go. A packet is contiguous: one that does not fit before the end of the
 * ring starts at its beginning. */
static uint64_t find_position(const struct pending_queue *q, size_t n)
{
	size_t left = PENDING_QUEUE_BYTES - (size_t)(q->head % PENDING_QUEUE_BYTES);

	return n > left ? q->head + left : q->head;
}

bool pending_queue_fits(const struct pending_queue *q, size_t n)
{
	if (q->n == PENDING_QUEUE_PACKETS || n > PENDING_QUEUE_BYTES)
		return false;
	return !q->n || find_position(q, n) + n - q->packets[q->first].pos <= PENDING_QUEUE_BYTES;
}

void pending_queue_put(struct pending_queue *q, const struct pending_packet *e, const uint8_t *p)
{
	struct pending_packet *to = &q->packets[(q->first + q->n++) % PENDING_QUEUE_PACKETS];

	*to = *e;
	to->pos = find_position(q, e->n);
	if (e->n)
		memcpy(q->bytes + to->pos % PENDING_QUEUE_BYTES, p, e->n);
	q->head = to->pos + e->n;
}

struct pending_packet *pending_queue_at(struct pending_queue *q, unsigned i)
{
	return &q->packets[(q->first + i) % PENDING_QUEUE_PACKETS];
}

const uint8_t *pending_queue_bytes(const struct pending_queue *q, const struct pending_packet *e)
{
	return q->bytes + e->pos % PENDING_QUEUE_BYTES;
}

void pending_queue_drop_oldest(struct pending_queue *q)
{
	q->first = (q->first + 1) % PENDING_QUEUE_PACKETS;
	q->n--;
}
