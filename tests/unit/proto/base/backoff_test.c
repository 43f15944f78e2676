#include "proto/base/backoff.h"

#include "tests/test.h"

static uint64_t next_ms(struct backoff *b, uint32_t random)
{
	return backoff_next(b, random) / NS_PER_MS;
}

TEST(backoff_doubles_to_its_cap)
{
	static const struct backoff_conf conf = {.first_ms = 250, .max_ms = 10000};
	static const unsigned want[] = {250, 500, 1000, 2000, 4000, 8000, 10000, 10000};
	struct backoff b = backoff_of(&conf);

	for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++)
		CHECK_INT(next_ms(&b, 12345), want[i]);
	for (unsigned i = 0; i < 100; i++)
		CHECK_INT(next_ms(&b, 1), 10000);
	backoff_reset(&b);
	CHECK_INT(next_ms(&b, 1), 250);
}

TEST(backoff_adds_jitter)
{
	static const struct backoff_conf conf = {
		.first_ms = 1000, .max_ms = 60000, .jitter_ms = 1000, .at_once = 1};
	struct backoff b = backoff_of(&conf);

	CHECK_INT(next_ms(&b, 2999), 999);
	CHECK_INT(next_ms(&b, 1000), 1000);
	CHECK_INT(next_ms(&b, 1001), 2001);
	for (unsigned i = 0; i < 5; i++)
		next_ms(&b, 0);
	CHECK_INT(next_ms(&b, 7), 60007);
}
