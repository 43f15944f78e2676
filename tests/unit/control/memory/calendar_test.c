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

/* A zone west of UTC puts its clocks forward at DAY 20000, 6:00 UTC, and back 100 days later. */
static int64_t west(uint64_t at_ms, void *arg)
{
	(void)arg;
	return at_ms >= 20000 * DAY + 6 * HOUR && at_ms < 20100 * DAY + 6 * HOUR ? -4 * 3600
										 : -5 * 3600;
}

TEST(local_times_are_found_around_a_change_of_the_clocks)
{
	static const struct calendar_zone zone = {west, NULL};

	for (uint64_t at = 19998 * DAY; at < 20102 * DAY; at += HOUR / 2) {
		int64_t local = (int64_t)at + west(at, NULL) * 1000;
		int64_t found = calendar_time(&zone, local);

		CHECK_INT(found + west((uint64_t)found, NULL) * 1000, local);
	}
	/* Nobody's clock shows 1:30 on that day. */
	CHECK_INT(calendar_time(&zone, 20000 * DAY + 3 * HOUR / 2), 20000 * DAY + 13 * HOUR / 2);
	CHECK_INT(calendar_time(NULL, 5), 5);
	CHECK_INT(calendar_offset(NULL, 5), 0);
}

TEST(a_minute_is_that_of_the_zones_clocks)
{
	char text[CALENDAR_MINUTE];

	calendar_minute(text, UINT64_C(1795442400000), 0);
	CHECK_STR(text, "2026-11-23 14:00");
	calendar_minute(text, UINT64_C(1795442400000), 20700);
	CHECK_STR(text, "2026-11-23 19:45");
}
