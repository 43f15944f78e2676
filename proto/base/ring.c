#include "proto/base/ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/touch.h"

/* head and tail count freely and are masked on use, so full and empty need no spare slot. They are
 * on separate cache lines, so that the two threads do not contend for one. */
struct ring {
	size_t entry_size;
	size_t mask;
	uint8_t *slots;
	_Alignas(64) atomic_size_t head; /* written by the producer */
	_Alignas(64) atomic_size_t tail; /* written by the consumer */
};

int ring_alloc(struct ring **out, size_t entry_size, size_t capacity)
{
	struct ring *r;
	size_t cap = 1;

	if (!out || !entry_size || !capacity || capacity > SIZE_MAX / 4 / entry_size)
		return EINVAL;
	while (cap < capacity)
		cap *= 2;
	r = aligned_alloc(64, (sizeof *r + 63) / 64 * 64);
	if (!r)
		return ENOMEM;
	memset(r, 0, sizeof *r);
	r->slots = calloc(cap, entry_size);
	if (!r->slots) {
		free(r);
		return ENOMEM;
	}
	r->entry_size = entry_size;
	r->mask = cap - 1;
	*out = r;
	return 0;
}

struct ring *ring_free(struct ring *r)
{
	if (r) {
		free(r->slots);
		free(r);
	}
	return NULL;
}

void ring_touch(struct ring *r)
{
	touch_pages(r->slots, (r->mask + 1) * r->entry_size);
}

size_t ring_room(const struct ring *r)
{
	size_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	size_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);

	return r->mask + 1 - (head - tail);
}

size_t ring_count(const struct ring *r)
{
	size_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	size_t head = atomic_load_explicit(&r->head, memory_order_acquire);

	return head - tail;
}

bool ring_push(struct ring *r, const void *entry)
{
	return ring_push_part(r, entry, r->entry_size);
}

bool ring_push_part(struct ring *r, const void *entry, size_t n)
{
	size_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (!ring_room(r))
		return false;
	memcpy(r->slots + (head & r->mask) * r->entry_size, entry, n);
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	return true;
}

bool ring_pop(struct ring *r, void *entry)
{
	size_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	if (!ring_count(r))
		return false;
	memcpy(entry, r->slots + (tail & r->mask) * r->entry_size, r->entry_size);
	atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
	return true;
}
