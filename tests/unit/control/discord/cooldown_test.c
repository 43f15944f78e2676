#include "control/discord/cooldown.h"

#include "proto/base/time.h"
#include "tests/test.h"

TEST(a_member_may_use_so_many_within_a_minute)
{
	static struct cooldown c;
	uint64_t now = NS_PER_S;

	CHECK(cooldown_take(&c, 1, 5, 2, now));
	CHECK(cooldown_take(&c, 1, 5, 2, now + 1));
	CHECK(!cooldown_take(&c, 1, 5, 2, now + 2));
	/* Others, and in another server, are not held up. */
	CHECK(cooldown_take(&c, 1, 6, 2, now + 2));
	CHECK(cooldown_take(&c, 2, 5, 2, now + 2));
	CHECK(!cooldown_take(&c, 1, 5, 2, now + 60 * NS_PER_S - 1));
	CHECK(cooldown_take(&c, 1, 5, 2, now + 60 * NS_PER_S));
	CHECK(!cooldown_take(&c, 1, 5, 0, now + 600 * NS_PER_S));
}

TEST(uses_that_were_refused_do_not_count)
{
	static struct cooldown c;

	for (unsigned i = 0; i < 100; i++)
		cooldown_take(&c, 1, 5, 3, NS_PER_S + i);
	CHECK(cooldown_take(&c, 1, 5, 3, 61 * NS_PER_S + 100));
}

TEST(the_member_who_used_none_for_the_longest_time_gives_way)
{
	static struct cooldown c;

	for (uint64_t u = 1; u <= COOLDOWN_MEMBERS; u++)
		CHECK(cooldown_take(&c, 1, u, 1, u));
	CHECK(cooldown_take(&c, 1, 9999, 1, 1000));
	/* The second one is still known, the first one is not. */
	CHECK(!cooldown_take(&c, 1, 2, 1, 1001));
	CHECK(cooldown_take(&c, 1, 1, 1, 1002));
}
