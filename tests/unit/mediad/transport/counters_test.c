#include "mediad/transport/counters.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static const uint8_t *bytes_of(uint32_t counter, bool little)
{
	static uint8_t p[COUNTERS_BYTES];

	for (unsigned i = 0; i < COUNTERS_BYTES; i++)
		p[little ? i : COUNTERS_BYTES - 1 - i] = (uint8_t)(counter >> 8 * i);
	return p;
}

/* A sender with loss, reordering and other senders' packets between its own, whose packets are sent
 * again at random: every fresh one is accepted, no old one, in either byte order. */
static void play(bool little, uint32_t first)
{
	enum { PACKETS = 60000 };
	uint32_t *taken = malloc(PACKETS * sizeof *taken), counter = first, swapped = 0;
	struct counters w = {0};
	unsigned n = 0, lost = 0, again = 0;
	uint64_t rng = 7;

	for (unsigned i = 0; taken && i < PACKETS; i++) {
		uint32_t now;

		rng = rng * UINT64_C(6364136223846793005) + 1442695040888963407u;
		counter += 1 + (uint32_t)(rng >> 60);
		/* Every eighth packet comes after the next one. */
		now = counter;
		if (i % 8 == 0 && !swapped) {
			swapped = counter;
			continue;
		}
		lost += !counters_look(&w, bytes_of(now, little)) ||
			!counters_take(&w, bytes_of(now, little));
		taken[n++] = now;
		if (swapped) {
			lost += !counters_take(&w, bytes_of(swapped, little));
			taken[n++] = swapped;
			swapped = 0;
		}
		for (unsigned k = 0; k < 3; k++) {
			uint32_t old = taken[(rng >> (8 + 8 * k)) % n];

			again += counters_take(&w, bytes_of(old, little));
		}
	}
	for (unsigned i = 0; i < n; i++)
		again += counters_look(&w, bytes_of(taken[i], little));
	CHECK_INT(lost, 0);
	CHECK_INT(again, 0);
	free(taken);
}

TEST(counters_refuse_every_old_packet_and_no_new_one)
{
	play(false, 0);
	play(true, 0);
	play(false, 0xfff00);
	play(true, 0xfff00);
}

TEST(counters_refuse_what_is_40000_old)
{
	struct counters w = {0};

	for (uint32_t i = 0; i <= 40000; i++)
		CHECK(counters_take(&w, bytes_of(i, false)));
	CHECK(!counters_look(&w, bytes_of(0, false)));
	CHECK(!counters_take(&w, bytes_of(1, false)));
	CHECK(counters_take(&w, bytes_of(40001, false)));
}

TEST(counters_go_on_after_a_window_is_given_up)
{
	struct counters w = {0};
	struct counters_floor f;

	for (uint32_t i = 1; i <= 1000; i++)
		counters_take(&w, bytes_of(i, false));
	f = counters_floor(&w);
	counters_restart(&w, &f);
	for (uint32_t i = 1; i <= 1000; i++)
		CHECK(!counters_take(&w, bytes_of(i, false)));
	CHECK(counters_take(&w, bytes_of(1002, false)));
	CHECK(counters_take(&w, bytes_of(1001, false)));
	/* Given up again before anything came: nothing is forgotten. */
	f = counters_floor(&w);
	counters_restart(&w, &f);
	f = counters_floor(&w);
	counters_restart(&w, &f);
	CHECK(!counters_take(&w, bytes_of(1002, false)));
	CHECK(counters_take(&w, bytes_of(1003, false)));
}

TEST(counters_up_to_the_last)
{
	struct counters w = {0};
	struct counters_floor f;

	CHECK(counters_take(&w, bytes_of(UINT32_MAX - 1, false)));
	CHECK(counters_take(&w, bytes_of(UINT32_MAX, false)));
	CHECK(!counters_take(&w, bytes_of(UINT32_MAX, false)));
	f = counters_floor(&w);
	counters_restart(&w, &f);
	CHECK(!counters_take(&w, bytes_of(5, false)));
	CHECK(!counters_take(&w, bytes_of(UINT32_MAX, false)));
}
