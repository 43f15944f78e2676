#include "tests/test.h"

#include "control/web/throttle.h"

#include <stdio.h>

#include "proto/base/time.h"

static unsigned take_all(struct throttle *t, const char *address, uint64_t now)
{
	unsigned n = 0;

	while (throttle_take(t, address, now))
		n++;
	return n;
}

TEST(five_tries_and_then_one_in_half_a_minute)
{
	static struct throttle t;
	uint64_t now = 1000 * NS_PER_S;

	t = (struct throttle){0};
	CHECK_INT(take_all(&t, "10.0.0.1", now), 5);
	CHECK_INT(take_all(&t, "10.0.0.1", now + 29 * NS_PER_S), 0);
	CHECK_INT(take_all(&t, "10.0.0.1", now + 30 * NS_PER_S), 1);
	/* Others are not held up. */
	CHECK_INT(take_all(&t, "10.0.0.2", now + 30 * NS_PER_S), 5);
	throttle_give_back(&t, "10.0.0.2");
	CHECK_INT(take_all(&t, "10.0.0.2", now + 30 * NS_PER_S), 1);
}

TEST(many_addresses_are_held_up_together)
{
	static struct throttle t;
	unsigned tries = 0;
	char address[32];

	t = (struct throttle){0};
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(address, sizeof address, "10.0.%u.%u", i / 250, i % 250);
		tries += throttle_take(&t, address, NS_PER_S);
	}
	CHECK_INT(tries, THROTTLE_ALL_TRIES);
}

TEST(a_network_of_ipv6_is_one_address)
{
	static struct throttle t;

	t = (struct throttle){0};
	CHECK_INT(take_all(&t, "2001:db8::1", NS_PER_S), 5);
	CHECK_INT(take_all(&t, "2001:db8::2:3", NS_PER_S), 0);
	CHECK_INT(take_all(&t, "2001:db8:1::1", NS_PER_S), 5);
}

TEST(a_row_of_refusals_is_news_once)
{
	static struct throttle t;

	t = (struct throttle){0};
	take_all(&t, "10.0.0.1", NS_PER_S);
	CHECK(throttle_is_news(&t));
	CHECK(!throttle_is_news(&t));
	CHECK(throttle_take(&t, "10.0.0.1", 40 * NS_PER_S));
	CHECK(throttle_is_news(&t));
}
