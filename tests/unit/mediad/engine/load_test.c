/* When encoders take it easier. */
#include "mediad/engine/load.h"

#include "proto/base/time.h"
#include "tests/test.h"

static struct load load;
static unsigned degraded, changes;
static uint64_t now;

/* So many ticks of 20 ms, busy for so much of each. */
static void ticks(unsigned n, unsigned busy_us)
{
	for (unsigned i = 0; i < n; i++, now += 20 * NS_PER_MS)
		changes += load_measure(&load, now, now + busy_us * NS_PER_MS / 1000, &degraded);
}

static void setup(void)
{
	load = (struct load){0};
	degraded = changes = 0;
	now = 5 * NS_PER_MS;
}

TEST(load_degrades_nothing_when_low)
{
	setup();
	ticks(1000, 9000);
	CHECK(!degraded && !changes);
}

TEST(load_falls_by_the_window_and_comes_back_slowly)
{
	setup();
	ticks(11, 18000);
	CHECK_INT(degraded, 1);
	ticks(40, 18000);
	CHECK(degraded >= 4 && degraded <= 6);
	ticks(500, 18000);
	CHECK_INT(degraded, LOAD_DEGRADED_MAX);
	changes = 0;
	ticks(500, 6000); /* neither high nor low: it stays */
	CHECK(degraded == LOAD_DEGRADED_MAX && !changes);
	ticks(99, 2000);
	CHECK(!changes);
	ticks(13, 2000); /* over two seconds of calm for one step */
	CHECK_INT(degraded, LOAD_DEGRADED_MAX - 1);
	ticks(2000, 2000);
	CHECK(!degraded);
	CHECK_INT(changes, LOAD_DEGRADED_MAX);
}

/* Calm is in a row. */
TEST(load_calm_is_whole)
{
	setup();
	ticks(11, 18000);
	CHECK_INT(degraded, 1);
	for (int i = 0; i < 20; i++) {
		ticks(80, 2000);
		ticks(11, 6000);
	}
	CHECK_INT(degraded, 1);
}

/* A process that was stopped in the middle of a step is no busy one for long. */
TEST(load_of_a_stall)
{
	setup();
	ticks(100, 1000);
	load_measure(&load, now, now + 5000 * NS_PER_MS, &degraded);
	now += 5000 * NS_PER_MS;
	CHECK_INT(degraded, 1);
	ticks(150, 1000);
	CHECK_INT(degraded, 0);
}
