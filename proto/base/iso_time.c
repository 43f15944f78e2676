#include "proto/base/iso_time.h"

#include <stdio.h>
#include <time.h>

/* The end of the year 9999, beyond which years have more digits. */
#define LATEST_MS UINT64_C(253402300799999)

void iso_time_format(char out[ISO_TIME_SIZE], uint64_t ms)
{
	uint64_t at = ms < LATEST_MS ? ms : LATEST_MS;
	time_t s = (time_t)(at / 1000);
	struct tm tm = {0};

	gmtime_r(&s, &tm);
	snprintf(out, ISO_TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03uZ",
		 (tm.tm_year + 1900) % 10000, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
		 tm.tm_sec, (unsigned)(at % 1000));
}
