/* When the gateway is asked again who speaks. */
#include "mediad/call/unnamed.h"

#include "proto/base/time.h"
#include "tests/test.h"

/* Asked at each of so many ms from *now on: how often it was done. */
static unsigned asks(struct unnamed *u, uint32_t ssrc, uint64_t *now, unsigned ms)
{
	unsigned n = 0;

	for (; ms--; *now += NS_PER_MS)
		n += unnamed_ask(u, ssrc, *now);
	return n;
}

TEST(unnamed_asks_once_the_session_has_settled)
{
	struct unnamed u = {0};
	uint64_t now = 77 * NS_PER_MS;

	unnamed_begin(&u, now);
	CHECK_INT(asks(&u, 5, &now, UNNAMED_SETTLE_MS), 0);
	CHECK_INT(asks(&u, 5, &now, 1), 1);
	CHECK_INT(asks(&u, 5, &now, UNNAMED_WAIT_MS - 1), 0);
	CHECK_INT(asks(&u, 5, &now, 1), 1);
}

/* Each in vain waits twice as long as the one before, and some are enough. */
TEST(unnamed_makes_no_loop)
{
	struct unnamed u = {0};
	uint64_t now = 10 * UNNAMED_SETTLE_MS * NS_PER_MS;
	unsigned wait = UNNAMED_WAIT_MS;

	CHECK(unnamed_ask(&u, 5, now));
	for (unsigned i = 1; i < UNNAMED_ASKS; i++, wait *= 2) {
		now += wait * NS_PER_MS;
		CHECK(!unnamed_ask(&u, 5 + i, now - 1));
		CHECK(unnamed_ask(&u, 5 + i, now));
	}
	CHECK(!unnamed_ask(&u, 5, now + 86400000 * NS_PER_MS));
	/* Another session asks anew, but the wait holds over sessions. */
	unnamed_begin(&u, now);
	CHECK(!unnamed_ask(&u, 5, now + wait * NS_PER_MS - 1));
	CHECK(unnamed_ask(&u, 5, now + wait * NS_PER_MS));
	now += wait * NS_PER_MS;
	for (unsigned i = 0; i < 100; i++) {
		unnamed_begin(&u, now);
		CHECK(!unnamed_ask(&u, 5, now + wait * NS_PER_MS));
	}
}

TEST(unnamed_begins_anew_when_a_name_came)
{
	struct unnamed u = {0};
	uint64_t now = 10 * UNNAMED_SETTLE_MS * NS_PER_MS;

	for (unsigned i = 0; i < 20; i++) {
		CHECK(unnamed_ask(&u, 5, now));
		unnamed_named(&u, 5);
		CHECK(!unnamed_ask(&u, 6, now + UNNAMED_WAIT_MS * NS_PER_MS - 1));
		now += UNNAMED_WAIT_MS * NS_PER_MS;
	}
	/* The name of somebody else is no answer. */
	CHECK(unnamed_ask(&u, 5, now));
	unnamed_named(&u, 6);
	CHECK(unnamed_ask(&u, 5, now + UNNAMED_WAIT_MS * NS_PER_MS));
	CHECK(!unnamed_ask(&u, 5, now + 2 * UNNAMED_WAIT_MS * NS_PER_MS));
	CHECK(unnamed_ask(&u, 5, now + 3 * UNNAMED_WAIT_MS * NS_PER_MS));
}
