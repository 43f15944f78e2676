#include "control/memory/calendar.h"

#include <time.h>

enum { HOUR_S = 3600, DAY_S = 24 * HOUR_S };

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
