/* What the encoding of a film saves so that it stays ahead of its viewers (mediad/decoder/lead.c).
 */
#include "mediad/decoder/lead.h"

#include "tests/test.h"

enum { UNIT = 1000, FRAME_US = 40000, MS_PER_FRAME = 40 };

static struct lead lead;
static uint64_t written;

static void begin(void)
{
	lead = (struct lead){0};
	written = 0;
}

static void write_frames(unsigned n)
{
	while (n--) {
		lead_wrote(&lead, (written + 1) * UNIT, written * FRAME_US);
		written++;
	}
}

/* So many frames were read. */
static uint64_t taken(uint64_t n)
{
	return n * UNIT;
}

TEST(lead_is_the_film_that_is_not_read_yet)
{
	begin();
	CHECK_INT(lead_ms(&lead, 0), 0);
	write_frames(76);
	CHECK_INT(lead_ms(&lead, 0), 3000);
	CHECK_INT(lead_ms(&lead, taken(1)), 3000);
	CHECK_INT(lead_ms(&lead, taken(26)), 2000);
	CHECK_INT(lead_ms(&lead, taken(76)), 0);
}

TEST(lead_is_more_than_all_that_it_keeps)
{
	begin();
	write_frames(LEAD_UNITS + 100);
	CHECK_INT(lead_ms(&lead, 0), (LEAD_UNITS + 99) * MS_PER_FRAME);
	CHECK_INT(lead_ms(&lead, taken(50)), (LEAD_UNITS + 99) * MS_PER_FRAME);
	CHECK_INT(lead_ms(&lead, taken(200)), (LEAD_UNITS + 99 - 199) * MS_PER_FRAME);
}

TEST(lead_saves_more_the_less_is_ahead)
{
	begin();
	write_frames(101);
	CHECK_INT(lead_saving(&lead, 0, 0, false), LEAD_ALL);
	CHECK_INT(lead_saving(&lead, taken(10), 0, false), LEAD_ALL);
	CHECK_INT(lead_saving(&lead, taken(101 - 40), 0, false), LEAD_HALF);
	CHECK_INT(lead_saving(&lead, taken(101 - 25), 0, false), LEAD_THIRD);
	CHECK_INT(lead_saving(&lead, taken(101 - 10), 0, false), LEAD_KEYS);
	/* It saves for a while, and then no longer. */
	write_frames(100);
	CHECK_INT(lead_saving(&lead, taken(101 - 10), 0, false), LEAD_KEYS);
	write_frames(30);
	CHECK_INT(lead_saving(&lead, taken(101 - 10), 0, false), LEAD_ALL);
}

TEST(lead_saves_nothing_before_it_begins)
{
	begin();
	CHECK_INT(lead_saving(&lead, 0, 0, false), LEAD_ALL);
	write_frames(2);
	CHECK_INT(lead_saving(&lead, 0, 500, false), LEAD_ALL);
	/* The first one is taken long before it is shown. */
	CHECK_INT(lead_saving(&lead, taken(1), 500, false), LEAD_ALL);
	CHECK_INT(lead_saving(&lead, taken(2), 500, false), LEAD_KEYS);
}

TEST(lead_saves_nothing_for_a_slow_source)
{
	begin();
	write_frames(101);
	CHECK_INT(lead_saving(&lead, taken(101), 0, true), LEAD_ALL);
	CHECK_INT(lead_saving(&lead, taken(101), 500000, true), LEAD_KEYS);
}

TEST(lead_saves_cpu_time_before_the_jail_ends_it)
{
	begin();
	write_frames(25 * 100 + 1);
	CHECK_INT(lead_saving(&lead, 0, 100000, false), LEAD_ALL);
	CHECK_INT(lead_saving(&lead, 0, 115000, false), LEAD_HALF);
	CHECK_INT(lead_saving(&lead, 0, 120000, false), LEAD_THIRD);
	CHECK_INT(lead_saving(&lead, 0, 125000, false), LEAD_KEYS);
	CHECK_INT(lead_saving(&lead, 0, 500000, false), LEAD_KEYS);
}

/* The jail's limit is 120 s and 75 % of the time that has passed. */
TEST(lead_rests_before_the_jail_ends_it)
{
	CHECK(!lead_rests(0, 0));
	CHECK(!lead_rests(60000, 0));
	CHECK(lead_rests(60001, 0));
	CHECK(!lead_rests(480000, 600000));
	CHECK(lead_rests(480001, 600000));
}
