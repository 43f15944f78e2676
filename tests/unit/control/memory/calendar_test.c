/* Days as people of the room count them. */
#include "control/memory/calendar.h"

#include "tests/test.h"

#define HOUR UINT64_C(3600000)
#define DAY  (24 * HOUR)

TEST(a_day_begins_at_midnight_of_the_zone)
{
	CHECK_INT(calendar_day(20000 * DAY, 0, 0), 20000);
	CHECK_INT(calendar_day(20000 * DAY - 1, 0, 0), 19999);
	CHECK_INT(calendar_day(20000 * DAY - 1, 3600, 0), 20000);
	CHECK_INT(calendar_day(20000 * DAY, -3600, 0), 19999);
	CHECK_INT(calendar_day(0, -3600, 0), -1);
}

TEST(a_day_may_begin_at_an_hour)
{
	CHECK_INT(calendar_day(20000 * DAY + 4 * HOUR - 1, 0, 4), 19999);
	CHECK_INT(calendar_day(20000 * DAY + 4 * HOUR, 0, 4), 20000);
	CHECK_INT(calendar_day(20000 * DAY + 3 * HOUR, 3600, 4), 20000);
}

TEST(a_date_is_that_of_the_zone)
{
	char day[CALENDAR_DATE];

	calendar_date(day, 20000 * DAY - 1, 0);
	CHECK_STR(day, "2024-10-03");
	calendar_date(day, 20000 * DAY - 1, 7200);
	CHECK_STR(day, "2024-10-04");
	calendar_date(day, 0, -3600);
	CHECK_STR(day, "1969-12-31");
}
