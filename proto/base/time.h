/* Units of time. A time or a span is uint64_t in nanoseconds unless its name ends in another unit
 * (_us, _ms, _s). */
#ifndef PROTO_BASE_TIME_H
#define PROTO_BASE_TIME_H

#include <stdint.h>
#include <time.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)
#define US_PER_MS UINT64_C(1000)
#define US_PER_S  UINT64_C(1000000)
#define MS_PER_S  UINT64_C(1000)

static inline uint64_t ns_of_timespec(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * NS_PER_S + (uint64_t)ts->tv_nsec;
}

static inline uint64_t ms_of_timespec(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * MS_PER_S + (uint64_t)ts->tv_nsec / NS_PER_MS;
}

#endif
