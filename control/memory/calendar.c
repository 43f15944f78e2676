#include "control/memory/calendar.h"

#include <time.h>

enum { HOUR_S = 3600, DAY_S = 24 * HOUR_S };

int64_t calendar_offset(const struct calendar_zone *zone, uint64_t at_ms)
{
	return zone ? zone->offseth(at_ms, zone->arg) : 0;
}

static int64_t offset_ms(const struct calendar_zone *zone, int64_t at_ms)
{
	return calendar_offset(zone, at_ms > 0 ? (uint64_t)at_ms : 0) * 1000;
}

/* The offset of a time that is near by a day at most is the right one, or that before or after a
 * change of the clocks. */
int64_t calendar_time(const struct calendar_zone *zone, int64_t local_ms)
{
	int64_t near = local_ms - offset_ms(zone, local_ms);
	int64_t at = local_ms - offset_ms(zone, near);

	/* Clocks that are put forward never show it. */
	return at + offset_ms(zone, at) == local_ms ? at : near > at ? near : at;
}

int64_t calendar_day(uint64_t at_ms, int64_t offset_s, unsigned hour)
{
	int64_t s = (int64_t)(at_ms / 1000) + offset_s - (int64_t)hour * HOUR_S;

	return s / DAY_S - (s % DAY_S < 0);
}

void calendar_date(char to[CALENDAR_DATE], uint64_t at_ms, int64_t offset_s)
{
	time_t at = (time_t)(calendar_day(at_ms, offset_s, 0) * DAY_S);
	struct tm day = {0};

	gmtime_r(&at, &day);
	strftime(to, CALENDAR_DATE, "%Y-%m-%d", &day);
}

void calendar_minute(char to[CALENDAR_MINUTE], uint64_t at_ms, int64_t offset_s)
{
	time_t at = (time_t)(at_ms / 1000) + (time_t)offset_s;
	struct tm clock = {0};

	gmtime_r(&at, &clock);
	strftime(to, CALENDAR_MINUTE, "%Y-%m-%d %H:%M", &clock);
}

int64_t calendar_days_ago(const struct calendar_zone *zone, uint64_t now_ms, uint64_t at_ms)
{
	int64_t days = calendar_day(now_ms, calendar_offset(zone, now_ms), 0) -
		       calendar_day(at_ms, calendar_offset(zone, at_ms), 0);

	return days > 0 ? days : 0;
}
