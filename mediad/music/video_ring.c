#include "mediad/music/video_ring.h"

#include <assert.h>
#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CACHE_LINE = 64, FEED = 32 /* analyses that wait for the writer */ };

/* Before each unit, with its bytes behind it. */
struct head {
	uint64_t at_us;
	uint32_t n;
	uint32_t key;
};

/* Indices count bytes since the reset and do not wrap. */
struct video_ring_memory {
	alignas(CACHE_LINE) _Atomic uint64_t written;
	_Atomic uint64_t end; /* 0: none yet; otherwise bytes of the whole source plus one */
	alignas(CACHE_LINE) uint8_t bytes[VIDEO_RING_BYTES];
	uint8_t unused[VIDEO_RING_READER - CACHE_LINE - VIDEO_RING_BYTES];
	_Atomic uint64_t read;
	/* The reader's as well: the writer cannot change it. */
	_Atomic uint64_t fed;
	struct analysis feed[FEED];
};

static_assert(sizeof(struct video_ring_memory) <= VIDEO_RING_MEMORY, "the ring exceeds its memory");
static_assert(offsetof(struct video_ring_memory, read) == VIDEO_RING_READER,
	      "the reader's index has no page of its own");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "processes share these words without a lock");

struct video_ring {
	struct video_ring_memory *shared; /* borrowed; NULL on replay */
	uint64_t at;			  /* own index */
	bool broken;
};

int video_ring_alloc(struct video_ring **out, void *memory)
{
	struct video_ring *r;

	if (!out || (uintptr_t)memory % CACHE_LINE)
		return EINVAL;
	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	r->shared = memory;
	*out = r;
	return 0;
}

struct video_ring *video_ring_free(struct video_ring *r)
{
	free(r);
	return NULL;
}

void video_ring_reset(struct video_ring *r)
{
	r->at = 0;
	r->broken = false;
	if (!r->shared)
		return;
	atomic_store_explicit(&r->shared->written, 0, memory_order_relaxed);
	atomic_store_explicit(&r->shared->read, 0, memory_order_relaxed);
	atomic_store_explicit(&r->shared->fed, 0, memory_order_relaxed);
	atomic_store_explicit(&r->shared->end, 0, memory_order_release);
}

/* Copies between the ring at index `at` and flat memory, in one or two parts. */
static void copy_out(const struct video_ring_memory *m, uint64_t at, void *to, size_t n)
{
	size_t from = (size_t)(at % VIDEO_RING_BYTES), first = VIDEO_RING_BYTES - from;

	if (first > n)
		first = n;
	memcpy(to, m->bytes + from, first);
	memcpy((uint8_t *)to + first, m->bytes, n - first);
}

static void copy_in(struct video_ring_memory *m, uint64_t at, const void *from, size_t n)
{
	size_t to = (size_t)(at % VIDEO_RING_BYTES), first = VIDEO_RING_BYTES - to;

	if (first > n)
		first = n;
	memcpy(m->bytes + to, from, first);
	memcpy(m->bytes, (const uint8_t *)from + first, n - first);
}

/* ---- reader ---- */

static int break_ring(struct video_ring *r)
{
	r->broken = true;
	return EPROTO;
}

int video_ring_read(struct video_ring *r, struct video_unit *unit, uint8_t *buf)
{
	struct head h;
	uint64_t waits;

	if (r->broken)
		return EPROTO;
	if (!r->shared)
		return EAGAIN;
	waits = atomic_load_explicit(&r->shared->written, memory_order_acquire) - r->at;
	if (!waits)
		return EAGAIN;
	if (waits > VIDEO_RING_BYTES || waits < sizeof h)
		return break_ring(r);
	copy_out(r->shared, r->at, &h, sizeof h);
	if (!h.n || h.n > VIDEO_RING_UNIT_MAX || h.n > waits - sizeof h)
		return break_ring(r);
	copy_out(r->shared, r->at + sizeof h, buf, h.n);
	r->at += sizeof h + h.n;
	atomic_store_explicit(&r->shared->read, r->at, memory_order_release);
	*unit = (struct video_unit){.at_us = h.at_us, .key = h.key != 0, .n = h.n};
	return 0;
}

bool video_ring_ended(const struct video_ring *r)
{
	uint64_t end;

	if (!r->shared)
		return false;
	end = atomic_load_explicit(&r->shared->end, memory_order_acquire);
	return end && r->at >= end - 1;
}

void video_ring_cut(struct video_ring *r)
{
	uint64_t written;

	if (!r->shared)
		return;
	written = atomic_load_explicit(&r->shared->written, memory_order_acquire);
	atomic_store_explicit(&r->shared->end, written + 1, memory_order_release);
}

void video_ring_feed(struct video_ring *r, const struct analysis *a)
{
	uint64_t fed;

	if (!r->shared)
		return;
	fed = atomic_load_explicit(&r->shared->fed, memory_order_relaxed);
	r->shared->feed[fed % FEED] = *a;
	atomic_store_explicit(&r->shared->fed, fed + 1, memory_order_release);
}

/* ---- writer ---- */

bool video_ring_take(const struct video_ring *r, uint64_t *taken, struct analysis *out)
{
	uint64_t fed;

	if (!r->shared)
		return false;
	fed = atomic_load_explicit(&r->shared->fed, memory_order_acquire);
	if (*taken == fed)
		return false;
	if (fed - *taken > FEED / 2)
		*taken = fed - 1;
	*out = r->shared->feed[(*taken)++ % FEED];
	return true;
}

static size_t find_room(const struct video_ring *r)
{
	uint64_t read = atomic_load_explicit(&r->shared->read, memory_order_acquire);

	return r->at - read > VIDEO_RING_BYTES ? 0 : VIDEO_RING_BYTES - (size_t)(r->at - read);
}

bool video_ring_write(struct video_ring *r, const struct video_unit *unit, const uint8_t *bytes)
{
	const struct head h = {
		.at_us = unit->at_us, .n = (uint32_t)unit->n, .key = unit->key ? 1 : 0};

	if (!r->shared || find_room(r) < sizeof h + unit->n)
		return false;
	copy_in(r->shared, r->at, &h, sizeof h);
	copy_in(r->shared, r->at + sizeof h, bytes, unit->n);
	r->at += sizeof h + unit->n;
	atomic_store_explicit(&r->shared->written, r->at, memory_order_release);
	return true;
}

uint64_t video_ring_taken(const struct video_ring *r)
{
	return r->shared ? atomic_load_explicit(&r->shared->read, memory_order_acquire) : 0;
}

void video_ring_end(struct video_ring *r)
{
	if (r->shared)
		atomic_store_explicit(&r->shared->end, r->at + 1, memory_order_release);
}

int video_ring_guard(void *memory)
{
	return mprotect((uint8_t *)memory + VIDEO_RING_READER,
			VIDEO_RING_MEMORY - VIDEO_RING_READER, PROT_READ)
		       ? errno
		       : 0;
}

/* ---- observer ---- */

uint64_t video_ring_written(const struct video_ring *r)
{
	return r->shared ? atomic_load_explicit(&r->shared->written, memory_order_acquire) : 0;
}

bool video_ring_rests(const struct video_ring *r)
{
	if (!r->shared)
		return true;
	return video_ring_written(r) - video_ring_taken(r) >=
	       VIDEO_RING_BYTES - VIDEO_RING_UNIT_MAX - sizeof(struct head);
}
