#include "proto/base/ring.h"
#include "tests/test.h"

#include <pthread.h>
#include <sched.h>

enum { ENTRIES = 200000 };

struct entry {
	uint32_t n, check;
};

TEST(a_ring_keeps_order_and_says_when_it_is_full)
{
	struct ring *r = NULL;
	int v;

	CHECK_INT(ring_alloc(&r, 0, 4), EINVAL);
	CHECK_INT(ring_alloc(&r, sizeof v, 0), EINVAL);
	CHECK(!r);
	CHECK_INT(ring_alloc(&r, sizeof v, 3), 0);
	CHECK_INT(ring_room(r), 4); /* rounded up */
	CHECK(!ring_pop(r, &v));
	/* Many rounds, so that the indices wrap. */
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 4; i++) {
			v = round * 10 + i;
			CHECK(ring_push(r, &v));
		}
		CHECK(!ring_push(r, &v));
		CHECK_INT(ring_count(r), 4);
		CHECK_INT(ring_room(r), 0);
		for (int i = 0; i < 4; i++)
			CHECK(ring_pop(r, &v) && v == round * 10 + i);
		CHECK_INT(ring_count(r), 0);
	}
	ring_free(r);
	ring_free(NULL);
}

static void *produce(void *arg)
{
	struct ring *r = arg;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		const struct entry e = {i, i * 2654435761u};

		while (!ring_push(r, &e))
			sched_yield();
	}
	return NULL;
}

TEST(a_ring_carries_entries_whole_between_two_threads)
{
	struct ring *r;
	pthread_t t;
	struct entry e;
	uint32_t wrong = 0;

	CHECK_INT(ring_alloc(&r, sizeof e, 64), 0);
	CHECK_INT(pthread_create(&t, NULL, produce, r), 0);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		while (!ring_pop(r, &e))
			sched_yield();
		wrong += e.n != i || e.check != i * 2654435761u;
	}
	pthread_join(t, NULL);
	CHECK_INT(wrong, 0);
	CHECK_INT(ring_count(r), 0);
	ring_free(r);
}

TEST_OOM(ring_alloc_survives_every_failed_allocation)
{
	struct ring *r = NULL;

	CHECK_OOM(ring_alloc(&r, 8, 16), (void)0);
	ring_free(r);
}
