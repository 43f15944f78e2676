/* When an audio thread reads its sockets and wakes the loop thread, in simulated time. */
#include "mediad/engine/batching.h"

#include "proto/base/time.h"
#include "tests/test.h"

#define US UINT64_C(1000)

/* So many calls, in each of which so many members speak, evenly spread over 20 ms, for this time. A
 * thread reads what has arrived when it may. Returns the most ns for which a datagram waited. */
static uint64_t listen_to(struct batching *b, uint64_t *now, unsigned calls, unsigned members,
			  unsigned ms)
{
	uint64_t gap = 20 * NS_PER_MS / (calls * members), until = *now + ms * NS_PER_MS, first = 0,
		 longest = 0;
	unsigned waiting[BATCHING_STREAMS] = {0};

	for (unsigned n = 0; *now < until; n++, *now += gap) {
		waiting[n % calls]++;
		first = first ? first : *now;
		if (*now < b->read_at)
			continue;
		longest = *now - first > longest ? *now - first : longest;
		first = 0;
		for (unsigned c = 0; c < calls; c++, waiting[c - 1] = 0)
			batching_read(b, c, waiting[c]);
		batching_end_turn(b, *now);
	}
	return longest;
}

static uint64_t settled_wait(unsigned calls, unsigned members)
{
	uint64_t now = 1000 * NS_PER_MS;
	struct batching b;

	batching_init(&b);
	listen_to(&b, &now, calls, members, 500);
	return listen_to(&b, &now, calls, members, 500);
}

/* Ten who speak at once in one call are heard without delay; so is one in each of three calls. */
TEST(batching_reads_at_once_while_few_calls_speak)
{
	CHECK_INT(settled_wait(1, 1), 0);
	CHECK_INT(settled_wait(1, 10), 0);
	CHECK_INT(settled_wait(3, 1), 0);
	CHECK_INT(settled_wait(3, 3), 0);
}

static bool is_about(uint64_t ns, uint64_t us)
{
	return ns > (us - 200) * US && ns < (us + 200) * US;
}

/* Many datagrams are read in groups, and none waits longer than the limit. */
TEST(batching_groups_datagrams_of_many)
{
	CHECK_INT(settled_wait(4, 1), 0); /* 5 ms from each other: a group would be two */
	CHECK(is_about(settled_wait(10, 1), 6000));
	CHECK(is_about(settled_wait(100, 1), 3100));
	CHECK(is_about(settled_wait(1, 100), 3100));
	CHECK(is_about(settled_wait(200, 5), 2000));
}

TEST(batching_ends_with_the_load)
{
	uint64_t now = 1000 * NS_PER_MS;
	struct batching b;

	batching_init(&b);
	listen_to(&b, &now, 10, 1, 500);
	CHECK(b.interval > 0);
	/* One of them goes on: after one or two windows it is heard at once. */
	listen_to(&b, &now, 1, 1, 2 * BATCHING_WINDOW_US / 1000);
	CHECK_INT(listen_to(&b, &now, 1, 1, 500), 0);
	CHECK_INT(b.interval, 0);
}

/* The calls of a window are those of that window alone. */
TEST(batching_counts_calls_that_speak_now)
{
	uint64_t now = 1000 * NS_PER_MS;
	struct batching b;

	batching_init(&b);
	for (unsigned c = 0; c < 40; c++, now += 20 * NS_PER_MS) {
		for (unsigned n = 0; n < 10; n++)
			batching_read(&b, 2 * (c / 4), 1);
		batching_end_turn(&b, now);
	}
	CHECK_INT(b.interval, 0);
}

TEST(batching_wakes_once_for_a_group)
{
	uint64_t now = 1000 * NS_PER_MS;
	struct batching b;

	batching_init(&b);
	CHECK(!batching_wake(&b, now));
	for (unsigned i = 0; i < 5; i++)
		batching_event(&b, now, false);
	CHECK(batching_wake(&b, now));
	CHECK(!batching_wake(&b, now));
	batching_event(&b, now, false);
	CHECK(batching_wake(&b, now));
}

/* Statistics may wait for others, and delay nobody. */
TEST(batching_loses_no_wake)
{
	uint64_t now = 1000 * NS_PER_MS, patience = BATCHING_PATIENCE_US * US;
	struct batching b;

	batching_init(&b);
	batching_event(&b, now, true);
	CHECK(!batching_wake(&b, now));
	CHECK_INT(b.wake_by, now + patience);
	batching_event(&b, now + 1, true);
	CHECK_INT(b.wake_by, now + patience);
	CHECK(batching_wake(&b, now + patience));
	batching_event(&b, now, true);
	batching_event(&b, now, false);
	CHECK(batching_wake(&b, now));
	batching_event(&b, now, false);
	batching_event(&b, now, true);
	CHECK(batching_wake(&b, now));
}
