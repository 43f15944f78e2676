#include "mediad/decoder/retry.h"

#include "proto/base/time.h"
#include "tests/test.h"

/* Tries at times of its own until five minutes have passed. */
TEST(a_source_that_has_broken_is_tried_for_five_minutes)
{
	struct retry r = {0};
	uint64_t now = NS_PER_S, begin = now, pause, longest = 0;
	unsigned tries = 0;

	CHECK(!retry_due(&r, now));
	while (retry_later(&r, now)) {
		CHECK(!retry_due(&r, now));
		CHECK(r.at > now);
		pause = r.at - now;
		longest = pause > longest ? pause : longest;
		now = r.at;
		CHECK(retry_due(&r, now));
		CHECK(!retry_due(&r, now));
		tries++;
	}
	CHECK(now - begin >= RETRY_S * NS_PER_S);
	CHECK(now - begin < (RETRY_S + 2 * RETRY_MAX_MS / 1000) * NS_PER_S);
	CHECK(longest <= RETRY_MAX_MS * NS_PER_MS);
	CHECK(tries > 20 && tries < 60);
	/* It plays again: the next break has as much time, and is tried soon. */
	retry_end(&r);
	CHECK(retry_later(&r, now));
	CHECK(r.at - now <= RETRY_FIRST_MS * NS_PER_MS);
}

/* The playlist of a live stream is there and does not grow. */
TEST(a_source_that_brings_nothing_is_looked_at_for_five_minutes)
{
	struct retry r = {0};
	uint64_t now = NS_PER_S;

	CHECK(retry_idle(&r, now));
	CHECK(r.since == now && !retry_due(&r, now + NS_PER_S));
	CHECK(retry_idle(&r, now + (RETRY_S - 1) * NS_PER_S));
	/* A try in vain between them does not make it longer. */
	CHECK(retry_later(&r, now + (RETRY_S - 1) * NS_PER_S));
	CHECK(!retry_idle(&r, now + RETRY_S * NS_PER_S));
	retry_end(&r);
	CHECK(retry_idle(&r, now + RETRY_S * NS_PER_S));
}
