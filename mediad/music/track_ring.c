#include "mediad/music/track_ring.h"

#include <assert.h>
#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "proto/base/touch.h"

/* Analyses of all that is in the ring, and of some that was. */
enum { CACHE_LINE = 64, SAMPLES = TRACK_RING_FRAMES * TRACK_RING_CHANNELS };
enum { ANALYSES = 64, ANALYSES_AT = TRACK_RING_READER - 65536 };
static_assert(ANALYSES * ANALYSIS_STEP > TRACK_RING_FRAMES, "analyses of sound to come are lost");

struct placed_analysis {
	_Atomic uint64_t at; /* plus one; 0: none */
	struct analysis a;
};

/* Indices count frames since the reset and do not wrap. */
struct track_ring_memory {
	alignas(CACHE_LINE) _Atomic uint64_t written;
	_Atomic uint64_t end; /* 0: none yet; otherwise frames of the whole track plus one */
	alignas(CACHE_LINE) int16_t pcm[SAMPLES];
	uint8_t unused[ANALYSES_AT - CACHE_LINE - SAMPLES * sizeof(int16_t)];
	/* Pages of their own, which nothing maps that is not watched. */
	struct placed_analysis analyses[ANALYSES];
	uint8_t unused_too[TRACK_RING_READER - ANALYSES_AT -
			   ANALYSES * sizeof(struct placed_analysis)];
	_Atomic uint64_t read;
	_Atomic uint32_t watched;
};

static_assert(sizeof(struct track_ring_memory) <= TRACK_RING_MEMORY, "the ring exceeds its memory");
static_assert(offsetof(struct track_ring_memory, read) == TRACK_RING_READER,
	      "the reader's index has no page of its own");
static_assert(offsetof(struct track_ring_memory, analyses) == ANALYSES_AT,
	      "analyses share a page with sound");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "processes share these words without a lock");

struct track_ring {
	struct track_ring_memory *shared; /* borrowed; NULL on replay */
	uint64_t at;			  /* own index: frames read or written */
	bool broken;
	size_t buffer;	/* of a reader: frames to wait for; 0: none */
	bool buffering; /* it waits for them */
	bool watched;	/* there may be analyses */
};

int track_ring_alloc(struct track_ring **out, void *memory)
{
	struct track_ring *r;

	if (!out || (uintptr_t)memory % CACHE_LINE)
		return EINVAL;
	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	r->shared = memory;
	*out = r;
	return 0;
}

struct track_ring *track_ring_free(struct track_ring *r)
{
	free(r);
	return NULL;
}

void track_ring_reset(struct track_ring *r)
{
	r->at = 0;
	r->broken = r->buffering = false;
	r->buffer = 0;
	if (!r->shared)
		return;
	if (r->watched)
		memset(r->shared->analyses, 0, sizeof r->shared->analyses);
	r->watched = false;
	atomic_store_explicit(&r->shared->written, 0, memory_order_relaxed);
	atomic_store_explicit(&r->shared->read, 0, memory_order_relaxed);
	atomic_store_explicit(&r->shared->watched, 0, memory_order_relaxed);
	atomic_store_explicit(&r->shared->end, 0, memory_order_release);
}

/* Kernels before Linux 5.14 lack the advice. */
static void map_pages(uint8_t *from, size_t n)
{
	if (madvise(from, n, MADV_POPULATE_WRITE) && errno == EINVAL)
		touch_pages(from, n);
}

void track_ring_populate(struct track_ring *r)
{
	uint8_t *memory = (uint8_t *)r->shared;

	if (!memory)
		return;
	map_pages(memory, ANALYSES_AT);
	map_pages(memory + TRACK_RING_READER, TRACK_RING_MEMORY - TRACK_RING_READER);
}

void track_ring_watch(struct track_ring *r, bool on)
{
	if (!r->shared)
		return;
	r->watched = r->watched || on;
	atomic_store_explicit(&r->shared->watched, on, memory_order_relaxed);
}

bool track_ring_watched(const struct track_ring *r)
{
	return r->shared && atomic_load_explicit(&r->shared->watched, memory_order_relaxed);
}

void track_ring_put_analysis(struct track_ring *r, uint64_t at, const struct analysis *a)
{
	struct placed_analysis *p;

	if (!r->shared)
		return;
	p = &r->shared->analyses[at / ANALYSIS_STEP % ANALYSES];
	p->a = *a;
	atomic_store_explicit(&p->at, at + 1, memory_order_release);
}

bool track_ring_analysis(const struct track_ring *r, uint64_t at, struct analysis *out)
{
	const struct placed_analysis *p;

	if (!r->shared || at % ANALYSIS_STEP)
		return false;
	p = &r->shared->analyses[at / ANALYSIS_STEP % ANALYSES];
	if (atomic_load_explicit(&p->at, memory_order_acquire) != at + 1)
		return false;
	*out = p->a;
	return true;
}

void track_ring_buffer(struct track_ring *r, size_t frames)
{
	r->buffer = frames;
	r->buffering = frames > 0;
}

/* Copies between the ring at index `at` and flat memory, in one or two parts. */
static void copy_out(const struct track_ring_memory *m, uint64_t at, int16_t *pcm, size_t frames)
{
	size_t from = (size_t)(at % TRACK_RING_FRAMES), first = TRACK_RING_FRAMES - from;
	const size_t frame = TRACK_RING_CHANNELS * sizeof *pcm;

	if (first > frames)
		first = frames;
	memcpy(pcm, m->pcm + from * TRACK_RING_CHANNELS, first * frame);
	memcpy(pcm + first * TRACK_RING_CHANNELS, m->pcm, (frames - first) * frame);
}

static void copy_in(struct track_ring_memory *m, uint64_t at, const int16_t *pcm, size_t frames)
{
	size_t to = (size_t)(at % TRACK_RING_FRAMES), first = TRACK_RING_FRAMES - to;
	const size_t frame = TRACK_RING_CHANNELS * sizeof *pcm;

	if (first > frames)
		first = frames;
	memcpy(m->pcm + to * TRACK_RING_CHANNELS, pcm, first * frame);
	memcpy(m->pcm, pcm + first * TRACK_RING_CHANNELS, (frames - first) * frame);
}

/* Sets *n to the frames that wait. EPROTO for an index that no honest writer sets. */
static int count_waiting(const struct track_ring *r, size_t *n)
{
	uint64_t written;

	*n = 0;
	if (r->broken)
		return EPROTO;
	if (!r->shared)
		return 0;
	written = atomic_load_explicit(&r->shared->written, memory_order_acquire);
	if (written < r->at || written - r->at > TRACK_RING_FRAMES)
		return EPROTO;
	*n = (size_t)(written - r->at);
	return 0;
}

/* True if n frames are too few to begin with. */
static bool is_buffering(struct track_ring *r, size_t n)
{
	bool ended = r->shared && atomic_load_explicit(&r->shared->end, memory_order_acquire);

	r->buffering = r->buffer && !ended && n < r->buffer && (r->buffering || !n);
	return r->buffering;
}

int track_ring_read(struct track_ring *r, int16_t *pcm, size_t frames, size_t *got)
{
	size_t n;
	int err = count_waiting(r, &n);

	if (err) {
		r->broken = true;
		return err;
	}
	if (is_buffering(r, n))
		n = 0;
	if (n > frames)
		n = frames;
	if (n) {
		copy_out(r->shared, r->at, pcm, n);
		r->at += n;
		atomic_store_explicit(&r->shared->read, r->at, memory_order_release);
	}
	*got = n;
	return 0;
}

size_t track_ring_ready(const struct track_ring *r)
{
	size_t n;

	return count_waiting(r, &n) ? 0 : n;
}

bool track_ring_ended(const struct track_ring *r)
{
	uint64_t end;

	if (!r->shared)
		return false;
	end = atomic_load_explicit(&r->shared->end, memory_order_acquire);
	return end && r->at >= end - 1;
}

void track_ring_cut(struct track_ring *r)
{
	uint64_t written;

	if (!r->shared)
		return;
	written = atomic_load_explicit(&r->shared->written, memory_order_acquire);
	atomic_store_explicit(&r->shared->end, written + 1, memory_order_release);
}

size_t track_ring_room(const struct track_ring *r)
{
	uint64_t read;

	if (!r->shared)
		return 0;
	read = atomic_load_explicit(&r->shared->read, memory_order_acquire);
	return r->at - read > TRACK_RING_FRAMES ? 0 : TRACK_RING_FRAMES - (size_t)(r->at - read);
}

size_t track_ring_write(struct track_ring *r, const int16_t *pcm, size_t frames)
{
	size_t room = track_ring_room(r);

	if (frames > room)
		frames = room;
	if (!frames)
		return 0;
	copy_in(r->shared, r->at, pcm, frames);
	r->at += frames;
	atomic_store_explicit(&r->shared->written, r->at, memory_order_release);
	return frames;
}

void track_ring_end(struct track_ring *r)
{
	if (r->shared)
		atomic_store_explicit(&r->shared->end, r->at + 1, memory_order_release);
}

size_t track_ring_copy(const struct track_ring *r, uint64_t from, int16_t *pcm, size_t frames)
{
	if (!r->shared || from > r->at || r->at - from > TRACK_RING_FRAMES)
		return 0;
	if (frames > r->at - from)
		frames = (size_t)(r->at - from);
	copy_out(r->shared, from, pcm, frames);
	return frames;
}

int track_ring_guard(void *memory)
{
	return mprotect((uint8_t *)memory + TRACK_RING_READER,
			TRACK_RING_MEMORY - TRACK_RING_READER, PROT_READ)
		       ? errno
		       : 0;
}

uint64_t track_ring_written(const struct track_ring *r)
{
	return r->shared ? atomic_load_explicit(&r->shared->written, memory_order_acquire) : 0;
}

uint64_t track_ring_taken(const struct track_ring *r)
{
	return r->shared ? atomic_load_explicit(&r->shared->read, memory_order_acquire) : 0;
}

bool track_ring_rests(const struct track_ring *r)
{
	return !r->shared || track_ring_written(r) - track_ring_taken(r) >= TRACK_RING_FRAMES;
}
