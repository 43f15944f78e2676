#include "control/discord/rate.h"
#include "proto/base/time.h"
#include "tests/test.h"

static const struct rate_key chan1 = {"POST /channels/{}/messages", "1", false};
static const struct rate_key chan2 = {"POST /channels/{}/messages", "2", false};

static struct rate_headers window(double limit, double remaining, double after)
{
	return (struct rate_headers){.status = 200,
				     .bucket = "abc",
				     .limit = limit,
				     .remaining = remaining,
				     .reset_after = after,
				     .retry_after = -1};
}

TEST_OOM(rate_allocates)
{
	struct rate *r = NULL;
	int err = rate_alloc(&r);

	CHECK_OOM(err, (void)0);
	err = rate_sent(r, &chan1, 1);
	CHECK_OOM(err, rate_free(r));
	rate_free(r);
}

TEST(rate_serialises_before_the_first_answer)
{
	struct rate_headers h = window(5, 4, 5);
	struct rate *r;

	CHECK_INT(rate_alloc(&r), 0);
	CHECK_INT(rate_when(r, &chan1, NS_PER_S), 0);
	CHECK_INT(rate_sent(r, &chan1, NS_PER_S), 0);
	CHECK(rate_when(r, &chan1, NS_PER_S) == RATE_AFTER_ANSWER);
	CHECK_INT(rate_when(r, &chan2, NS_PER_S), 0); /* another major: apart */
	rate_answer(r, &chan1, &h, NS_PER_S);
	CHECK_INT(rate_when(r, &chan1, NS_PER_S), 0);
	rate_free(r);
}

TEST(rate_waits_for_the_window)
{
	struct rate_headers h = window(5, 0, 2.5);
	struct rate *r;
	uint64_t now = 10 * NS_PER_S;

	CHECK_INT(rate_alloc(&r), 0);
	CHECK_INT(rate_sent(r, &chan1, now), 0);
	rate_answer(r, &chan1, &h, now);
	CHECK_INT(rate_when(r, &chan1, now), now + 2500 * NS_PER_MS + RATE_OFFSET_MS * NS_PER_MS);
	CHECK_INT(rate_when(r, &chan2, now), 0);
	now += 2600 * NS_PER_MS;
	CHECK_INT(rate_when(r, &chan1, now), 0);
	rate_free(r);
}

TEST(rate_counts_what_is_in_flight)
{
	struct rate_headers h = window(5, 2, 5);
	struct rate *r;

	CHECK_INT(rate_alloc(&r), 0);
	CHECK_INT(rate_sent(r, &chan1, NS_PER_S), 0);
	rate_answer(r, &chan1, &h, NS_PER_S);
	CHECK_INT(rate_sent(r, &chan1, NS_PER_S), 0);
	CHECK_INT(rate_sent(r, &chan1, NS_PER_S), 0);
	CHECK(rate_when(r, &chan1, NS_PER_S) > NS_PER_S);
	rate_lost(r, &chan1);
	CHECK_INT(rate_when(r, &chan1, NS_PER_S), 0);
	rate_free(r);
}

TEST(rate_honours_429_with_and_without_json)
{
	struct rate_headers h = {
		.status = 429, .limit = -1, .remaining = -1, .reset_after = -1, .retry_after = 0.4};
	struct rate *r;

	CHECK_INT(rate_alloc(&r), 0);
	CHECK_INT(rate_sent(r, &chan1, NS_PER_S), 0);
	rate_answer(r, &chan1, &h, NS_PER_S);
	CHECK_INT(rate_when(r, &chan1, NS_PER_S), NS_PER_S + 450 * NS_PER_MS);
	CHECK_INT(rate_when(r, &chan1, NS_PER_S + 450 * NS_PER_MS), 0);
	CHECK_INT(rate_sent(r, &chan1, 2 * NS_PER_S), 0);
	h.retry_after = -1; /* nothing said: a second */
	rate_answer(r, &chan1, &h, 2 * NS_PER_S);
	CHECK(rate_when(r, &chan1, 2 * NS_PER_S) >= 3 * NS_PER_S);
	rate_free(r);
}

TEST(rate_global_429_stops_all_but_interactions)
{
	static const struct rate_key interaction = {"POST /interactions/{}/{}/callback", "9", true};
	struct rate_headers h = {.status = 429,
				 .limit = -1,
				 .remaining = -1,
				 .reset_after = -1,
				 .retry_after = 2,
				 .global = true};
	struct rate *r;

	CHECK_INT(rate_alloc(&r), 0);
	CHECK_INT(rate_sent(r, &chan1, NS_PER_S), 0);
	rate_answer(r, &chan1, &h, NS_PER_S);
	CHECK(rate_when(r, &chan2, NS_PER_S) > 3 * NS_PER_S);
	CHECK_INT(rate_when(r, &interaction, NS_PER_S), 0);
	rate_free(r);
}

TEST(rate_global_limit_is_fifty_a_second)
{
	struct rate *r;
	char major[16];

	CHECK_INT(rate_alloc(&r), 0);
	for (int i = 0; i < 50; i++) {
		struct rate_key k = {"GET /channels/{}", major, false};

		snprintf(major, sizeof major, "%d", i);
		CHECK_INT(rate_when(r, &k, NS_PER_S + (uint64_t)i), 0);
		CHECK_INT(rate_sent(r, &k, NS_PER_S + (uint64_t)i), 0);
	}
	CHECK_INT(rate_when(r, &chan1, NS_PER_S + 100), 2 * NS_PER_S);
	CHECK_INT(rate_when(r, &chan1, 2 * NS_PER_S), 0);
	rate_free(r);
}

TEST(rate_buckets_are_shared_between_routes_of_one_major)
{
	static const struct rate_key edit = {"PATCH /channels/{}/messages/{}", "1", false};
	struct rate_headers full = window(5, 3, 5), empty = window(5, 0, 5);
	struct rate *r;

	CHECK_INT(rate_alloc(&r), 0);
	CHECK_INT(rate_sent(r, &edit, NS_PER_S), 0);
	rate_answer(r, &edit, &full, NS_PER_S);
	CHECK_INT(rate_sent(r, &chan1, NS_PER_S), 0);
	rate_answer(r, &chan1, &empty, NS_PER_S);
	CHECK(rate_when(r, &edit, NS_PER_S) > 5 * NS_PER_S);
	rate_free(r);
}
