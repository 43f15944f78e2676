#include "control/store/clock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "proto/base/time.h"

static _Atomic(store_clock_h *) replaced;

uint64_t store_clock(void)
{
	store_clock_h *h = atomic_load(&replaced);
	struct timespec ts;

	if (h)
		return h();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

void store_clock_replace(store_clock_h *h)
{
	atomic_store(&replaced, h);
}
