/* Days as people of the room count them. Pure.
 *
 * A day begins at midnight of the server's time zone, given by its present offset: seconds east of
 * UTC (env_utc_offset). Around a change of the clocks a day is an hour off. */
#ifndef CONTROL_MEMORY_CALENDAR_H
#define CONTROL_MEMORY_CALENDAR_H

#include <stdint.h>

enum { CALENDAR_DATE = 16 }; /* bytes of a date with its NUL */

/* Number of the day in which at_ms (since 1970, UTC) lies, where days begin so many hours after
 * midnight. */
int64_t calendar_day(uint64_t at_ms, int64_t offset_s, unsigned hour);
/* "2026-11-24" */
void calendar_date(char to[CALENDAR_DATE], uint64_t at_ms, int64_t offset_s);

#endif
