/* How long ago an English question says that something was ("twenty five minutes ago", "in the
 * last three days"), and on which date ("on the 5th", "on November 5th", "2026-11-05"). Pure. */
#ifndef CONTROL_MEMORY_TIME_AGO_H
#define CONTROL_MEMORY_TIME_AGO_H

#include <stdbool.h>
#include <stddef.h>

enum time_unit { TIME_MINUTES, TIME_HOURS, TIME_DAYS, TIME_WEEKS, TIME_MONTHS };

struct time_ago {
	const char *at; /* the phrase, n bytes of the text */
	size_t n;
	enum time_unit unit;
	int least, most; /* how many of it */
	bool half;	 /* half a unit: least and most are 0 */
	bool since;	 /* from then on until now */
};

/* text: in lower case. False: it says none. */
bool time_ago_find(const char *text, struct time_ago *out);

struct time_date {
	const char *at;
	size_t n;
	int year, month, day; /* year 0, month 0: not said; they count from 1 */
};

/* text: in lower case. False: it names no date, or a day that its month never has. */
bool time_date_find(const char *text, struct time_date *out);

#endif
