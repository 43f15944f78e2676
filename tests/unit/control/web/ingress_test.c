#include "control/web/ingress.h"

#include <stdio.h>

#include "proto/base/time.h"
#include "tests/test.h"

static struct ingress g;

static bool take(const char *address, unsigned route, uint64_t ms)
{
	return ingress_take(&g, address, route, (1 + ms) * NS_PER_MS);
}

TEST(ingress_takes_1200_a_minute_of_an_address_and_path)
{
	unsigned n = 0;

	g = (struct ingress){0};
	for (unsigned i = 0; i < INGRESS_BURST; i++)
		CHECK(take("10.0.0.1", 3, 1000));
	CHECK(!take("10.0.0.1", 3, 1000));
	CHECK(take("10.0.0.1", 4, 1000));
	CHECK(take("10.0.0.2", 3, 1000));
	for (unsigned ms = 0; ms < 60000; ms++)
		n += take("10.0.0.1", 3, 1001 + ms);
	CHECK(n >= 1199 && n <= 1201);
}

TEST(ingress_gives_the_oldest_place_away)
{
	char address[46];

	g = (struct ingress){0};
	for (unsigned i = 0; i < INGRESS_BURST; i++)
		take("10.0.0.1", 3, 1);
	for (unsigned i = 0; i < INGRESS_PLACES - 1; i++) {
		snprintf(address, sizeof address, "10.1.0.%u", i);
		CHECK(take(address, 3, 2 + i));
	}
	CHECK(!take("10.0.0.1", 3, 3));
	CHECK(take("10.2.0.1", 3, 300)); /* takes the place of 10.1.0.0 or 10.1.0.1 */
	CHECK(!take("10.0.0.1", 3, 3));
}
