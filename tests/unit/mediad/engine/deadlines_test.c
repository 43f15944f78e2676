#include "mediad/engine/deadlines.h"

#include "tests/test.h"

TEST(deadlines_of_few_streams)
{
	struct deadlines d;

	deadlines_init(&d);
	CHECK(deadlines_earliest(&d) == UINT64_MAX);
	deadlines_set(&d, 2, 7);
	CHECK_INT(d.end, 3);
	CHECK(d.at[0] == UINT64_MAX && d.at[1] == UINT64_MAX);
	CHECK_INT(deadlines_earliest(&d), 7);
	deadlines_set(&d, 0, 5);
	CHECK_INT(d.end, 3);
	CHECK_INT(deadlines_earliest(&d), 5);
	deadlines_set(&d, 0, UINT64_MAX);
	CHECK_INT(deadlines_earliest(&d), 7);
	deadlines_set(&d, DEADLINES - 1, 1);
	CHECK_INT(d.end, DEADLINES);
	CHECK_INT(deadlines_earliest(&d), 1);
}
