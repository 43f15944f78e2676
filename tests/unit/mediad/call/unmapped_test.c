/* When a resume asks the gateway for an unmapped SSRC. */
#include "mediad/call/unmapped.h"

#include "tests/test.h"
#include "proto/base/time.h"

/* Asked at each of so many ms from *now on: how often it was done. */
static unsigned asks(struct unmapped *u, uint32_t ssrc, uint64_t *now, unsigned ms)
{
	unsigned n = 0;

	for (; ms--; *now += NS_PER_MS)
		n += unmapped_should_ask(u, ssrc, *now);
	return n;
}

TEST(unmapped_asks_after_the_session_has_settled)
{
	struct unmapped u = {0};
	uint64_t now = 77 * NS_PER_MS;

	unmapped_begin(&u, now);
	CHECK_INT(asks(&u, 5, &now, UNMAPPED_SETTLE_MS), 0);
	CHECK_INT(asks(&u, 5, &now, 1), 1);
	CHECK_INT(asks(&u, 5, &now, UNMAPPED_WAIT_MS - 1), 0);
	CHECK_INT(asks(&u, 5, &now, 1), 1);
}

/* Each fruitless resume doubles the wait, up to a limit. */
TEST(unmapped_makes_no_loop)
{
	struct unmapped u = {0};
	uint64_t now = 10 * UNMAPPED_SETTLE_MS * NS_PER_MS;
	unsigned wait = UNMAPPED_WAIT_MS;

	CHECK(unmapped_should_ask(&u, 5, now));
	for (unsigned i = 1; i < UNMAPPED_ASKS; i++, wait *= 2) {
		now += wait * NS_PER_MS;
		CHECK(!unmapped_should_ask(&u, 5 + i, now - 1));
		CHECK(unmapped_should_ask(&u, 5 + i, now));
	}
	CHECK(!unmapped_should_ask(&u, 5, now + 86400000 * NS_PER_MS));
	/* Another session asks anew, but the wait holds over sessions. */
	unmapped_begin(&u, now);
	CHECK(!unmapped_should_ask(&u, 5, now + wait * NS_PER_MS - 1));
	CHECK(unmapped_should_ask(&u, 5, now + wait * NS_PER_MS));
	now += wait * NS_PER_MS;
	for (unsigned i = 0; i < 100; i++) {
		unmapped_begin(&u, now);
		CHECK(!unmapped_should_ask(&u, 5, now + wait * NS_PER_MS));
	}
}

TEST(unmapped_starts_over_once_an_ssrc_was_mapped)
{
	struct unmapped u = {0};
	uint64_t now = 10 * UNMAPPED_SETTLE_MS * NS_PER_MS;

	for (unsigned i = 0; i < 8; i++) {
		CHECK(unmapped_should_ask(&u, 5, now));
		unmapped_resolved(&u, 5);
		CHECK(!unmapped_should_ask(&u, 6, now + UNMAPPED_WAIT_MS * NS_PER_MS - 1));
		now += UNMAPPED_WAIT_MS * NS_PER_MS;
	}
	/* The name of somebody else is no answer. */
	CHECK(unmapped_should_ask(&u, 5, now));
	unmapped_resolved(&u, 6);
	CHECK(unmapped_should_ask(&u, 5, now + UNMAPPED_WAIT_MS * NS_PER_MS));
	CHECK(!unmapped_should_ask(&u, 5, now + 2 * UNMAPPED_WAIT_MS * NS_PER_MS));
	CHECK(unmapped_should_ask(&u, 5, now + 3 * UNMAPPED_WAIT_MS * NS_PER_MS));
}

/* A bot speaks before it is named, is named, and comes back under another SSRC, for a day. */
TEST(unmapped_a_member_is_no_lever)
{
	struct unmapped u = {0};
	uint64_t now = 10 * UNMAPPED_SETTLE_MS * NS_PER_MS;
	unsigned asked = 0;

	for (uint32_t s = 1; s <= 86400; s++, now += NS_PER_S)
		if (unmapped_should_ask(&u, s, now)) {
			asked++;
			unmapped_resolved(&u, s);
		}
	CHECK(asked >= UNMAPPED_BURST);
	CHECK(asked <= UNMAPPED_BURST + 86400 / (UNMAPPED_ONE_MS / 1000));
}
