/* Days as people of the room count them. Pure.
 *
 * A day begins at midnight in the server's time zone. The zone's offset, in seconds east of UTC,
 * changes with daylight saving time, so callers ask for the offset at the time in question. */
#ifndef CONTROL_MEMORY_CALENDAR_H
#define CONTROL_MEMORY_CALENDAR_H

#include <stdint.h>

enum { CALENDAR_DATE = 16, CALENDAR_MINUTE = 24 }; /* bytes with the NUL */

/* A time zone. NULL in place of one: UTC. */
struct calendar_zone {
	int64_t (*offseth)(uint64_t at_ms, void *arg); /* at this time, ms since 1970 */
	void *arg;
};

int64_t calendar_offset(const struct calendar_zone *zone, uint64_t at_ms);
/* The time, ms since 1970, at which clocks of the zone show local_ms. Of an hour that they show
 * twice one of both; one that they leave out counts as the hour after it. */
int64_t calendar_time(const struct calendar_zone *zone, int64_t local_ms);
/* Number of the day in which at_ms (since 1970, UTC) lies, where days begin so many hours after
 * midnight. */
int64_t calendar_day(uint64_t at_ms, int64_t offset_s, unsigned hour);
/* How many days lie between both dates, each by the clock of its own time; 0: at_ms is of today or
 * later. */
int64_t calendar_days_ago(const struct calendar_zone *zone, uint64_t now_ms, uint64_t at_ms);
/* "2026-11-24" */
void calendar_date(char to[CALENDAR_DATE], uint64_t at_ms, int64_t offset_s);
/* "2026-11-24 14:03" */
void calendar_minute(char to[CALENDAR_MINUTE], uint64_t at_ms, int64_t offset_s);

#endif
