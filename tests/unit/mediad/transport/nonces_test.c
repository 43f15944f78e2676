/* Counters that were seen, in either byte order. */
#include "mediad/transport/nonces.h"

#include "tests/test.h"

static bool big(struct nonces *w, uint32_t n)
{
	return nonces_take(w, (const uint8_t[]){(uint8_t)(n >> 24), (uint8_t)(n >> 16),
						(uint8_t)(n >> 8), (uint8_t)n});
}

static bool little(struct nonces *w, uint32_t n)
{
	return nonces_take(w, (const uint8_t[]){(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16),
						(uint8_t)(n >> 24)});
}

/* Reports are far apart in the counter that sound shares; all of them are taken, none twice,
 * however old. */
static void rising(bool (*take)(struct nonces *w, uint32_t n), uint32_t step)
{
	struct nonces w = {0};
	uint32_t n = 7;

	for (unsigned i = 0; i < 4000; i++, n += step) {
		CHECK(take(&w, n));
		CHECK(!take(&w, n));
		for (unsigned k = 1; k <= i && k < 40; k++)
			CHECK(!take(&w, n - k * step));
	}
	for (uint32_t old = 7; old < n; old += step)
		CHECK(!take(&w, old));
}

TEST(nonces_takes_rising_ones_once)
{
	static const uint32_t steps[] = {1, 2, 255, 256, 257, 1250, 65537, 999983};

	for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		rising(big, steps[i]);
		rising(little, steps[i]);
	}
}

TEST(nonces_takes_late_ones_once)
{
	struct nonces w = {0};

	for (uint32_t n = 1000; n < 1000 + 300 * NONCES_KEPT; n += 300)
		CHECK(big(&w, n));
	CHECK(big(&w, 1000 + 300 * NONCES_KEPT));
	CHECK(big(&w, 1700)); /* between them */
	CHECK(!big(&w, 1700));
	for (uint32_t n = 1000; n <= 1000 + 300 * NONCES_KEPT; n += 300)
		CHECK(!big(&w, n));
}

TEST(nonces_nothing_is_new_twice_in_any_order)
{
	struct nonces w = {0};
	uint32_t taken[600], n_taken = 0, x = 12345;

	for (unsigned i = 0; i < 600; i++) {
		x = x * 1664525u + 1013904223u;
		if (big(&w, x >> (i % 20)))
			taken[n_taken++] = x >> (i % 20);
	}
	CHECK(n_taken > 10);
	for (unsigned i = 0; i < n_taken; i++)
		CHECK(!big(&w, taken[i]));
}

/* The last counter is seen for ever, too. */
TEST(nonces_up_to_the_last)
{
	struct nonces w = {0};
	struct counters_floor f;

	CHECK(big(&w, UINT32_MAX));
	for (unsigned i = 0; i < 3; i++) {
		f = nonces_floor(&w);
		nonces_restart(&w, &f);
		CHECK(!big(&w, UINT32_MAX) && !big(&w, 5));
	}
}
