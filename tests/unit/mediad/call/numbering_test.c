#include "mediad/call/numbering.h"
#include "tests/test.h"

static struct numbering fresh(uint16_t first)
{
	struct numbering n;

	numbering_reset(&n);
	numbering_take(&n, first);
	return n;
}

TEST(numbering_asks_from_the_last_unbroken_one)
{
	struct numbering n;

	numbering_reset(&n);
	CHECK_INT(numbering_whole(&n), -1);
	CHECK_INT(numbering_take(&n, 7), NUMBERED_NEXT);
	CHECK_INT(numbering_take(&n, 8), NUMBERED_NEXT);
	CHECK_INT(numbering_whole(&n), 8);
	CHECK(!numbering_missing(&n));
	CHECK_INT(numbering_take(&n, 11), NUMBERED_GAP);
	CHECK_INT(numbering_take(&n, 12), NUMBERED_NEXT);
	CHECK_INT(numbering_take(&n, 14), NUMBERED_GAP);
	CHECK(numbering_missing(&n));
	CHECK_INT(numbering_whole(&n), 8);
	CHECK_INT(numbering_take(&n, 9), NUMBERED_MISSED);
	CHECK_INT(numbering_whole(&n), 9);
	CHECK_INT(numbering_take(&n, 10), NUMBERED_MISSED);
	CHECK_INT(numbering_whole(&n), 12);
	CHECK_INT(numbering_take(&n, 13), NUMBERED_MISSED);
	CHECK_INT(numbering_whole(&n), 14);
}

TEST(numbering_takes_nothing_twice)
{
	struct numbering n = fresh(3);

	CHECK_INT(numbering_take(&n, 2),
		  NUMBERED_MISSED); /* nothing is told again before a resume */
	numbering_ask(&n);
	CHECK_INT(numbering_take(&n, 3), NUMBERED_AGAIN);
	CHECK_INT(numbering_take(&n, 2), NUMBERED_AGAIN);
	CHECK_INT(numbering_take(&n, 9), NUMBERED_GAP);
	CHECK_INT(numbering_take(&n, 6), NUMBERED_MISSED); /* out of the middle */
	CHECK_INT(numbering_take(&n, 6), NUMBERED_AGAIN);
	CHECK_INT(numbering_take(&n, 5), NUMBERED_MISSED);
	CHECK_INT(numbering_take(&n, 7), NUMBERED_MISSED);
	CHECK_INT(numbering_take(&n, 4), NUMBERED_MISSED);
	CHECK_INT(numbering_take(&n, 8), NUMBERED_MISSED);
	CHECK_INT(numbering_take(&n, 8), NUMBERED_AGAIN);
	CHECK_INT(numbering_whole(&n), 9);
}

TEST(numbering_wraps)
{
	struct numbering n = fresh(65533);

	CHECK_INT(numbering_take(&n, 1), NUMBERED_GAP);
	CHECK_INT(numbering_whole(&n), 65533);
	for (uint16_t s = 65534; s != 1; s++)
		CHECK_INT(numbering_take(&n, s), NUMBERED_MISSED);
	CHECK_INT(numbering_whole(&n), 1);
}

TEST(numbering_forgets_what_the_server_does_not_have)
{
	struct numbering n = fresh(1);

	numbering_take(&n, 5);
	numbering_ask(&n);
	CHECK(!numbering_missing(&n)); /* asked for: another resume would bring no more */
	CHECK_INT(numbering_take(&n, 3), NUMBERED_MISSED);
	CHECK_INT(numbering_whole(&n), 1);
	CHECK_INT(numbering_take(&n, 6), NUMBERED_NEXT);
	CHECK_INT(numbering_whole(&n), 6);
	CHECK_INT(numbering_take(&n, 2), NUMBERED_AGAIN);
	CHECK_INT(numbering_take(&n, 8), NUMBERED_GAP);
	CHECK(numbering_missing(&n));
}

TEST(numbering_loses_none_when_gaps_are_many)
{
	struct numbering n = fresh(0);
	unsigned got = 0;

	for (unsigned i = 1; i <= 100; i++)
		numbering_take(&n, (uint16_t)(3 * i));
	CHECK_INT(numbering_whole(&n), 0);
	for (unsigned s = 1; s <= 300; s++)
		got += numbering_take(&n, (uint16_t)s) == NUMBERED_MISSED || s % 3 == 0;
	CHECK_INT(got, 300);
	CHECK_INT(numbering_whole(&n), 300);
}
