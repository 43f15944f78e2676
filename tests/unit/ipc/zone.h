/* The machine's time zone, for tests. */
#ifndef TESTS_UNIT_IPC_ZONE_H
#define TESTS_UNIT_IPC_ZONE_H

#include <stdlib.h>
#include <time.h>

/* A zone as in the variable TZ; NULL: the machine's own one again. */
static inline void zone_set(const char *zone)
{
	if (zone)
		setenv("TZ", zone, 1);
	else
		unsetenv("TZ");
	tzset();
}

#endif
