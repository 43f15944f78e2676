/* A bounded queue of fixed-size entries between exactly one producer thread and one consumer
 * thread.
 *
 * No lock and no allocation after ring_alloc; the two indices are the only shared words and are
 * published with release and read with acquire, which TSan understands. Entries are copied in and
 * out. */
#ifndef PROTO_BASE_RING_H
#define PROTO_BASE_RING_H

#include <stdbool.h>
#include <stddef.h>

struct ring;

/* Capacity is rounded up to a power of two. EINVAL for zero sizes, ENOMEM. Caller owns *out. */
int ring_alloc(struct ring **out, size_t entry_size, size_t capacity);
struct ring *ring_free(struct ring *r);
/* Makes its pages present, so that nobody takes a page fault. Before the first entry. */
void ring_touch(struct ring *r);

/* Producer side. False when full (nothing is written). */
bool ring_push(struct ring *r, const void *entry);
/* The same of an entry of which only the first n bytes count; the others of its place stay as they
 * were. */
bool ring_push_part(struct ring *r, const void *entry, size_t n);
/* Producer side: how many entries fit now. */
size_t ring_room(const struct ring *r);

/* Consumer side. False when empty. */
bool ring_pop(struct ring *r, void *entry);
/* Consumer side: how many entries wait now. */
size_t ring_count(const struct ring *r);

#endif
