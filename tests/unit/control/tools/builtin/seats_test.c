#include "control/tools/builtin/seats.h"

#include <errno.h>

#include "tests/test.h"

TEST(seats_are_taken_until_there_is_no_place)
{
	static struct tool_seats seats;
	char a, b;

	for (unsigned i = 0; i < TOOL_SEATS_MAX; i++)
		CHECK_INT(tool_seats_add(&seats, &a), 0);
	CHECK_INT(tool_seats_add(&seats, &b), ENOSPC);
	seats.seat[5] = &b;
	tool_seats_remove(&seats, &b);
	CHECK(!seats.seat[5] && seats.seat[4] == &a);
	CHECK_INT(tool_seats_add(&seats, &b), 0);
	CHECK(seats.seat[5] == &b);
}
