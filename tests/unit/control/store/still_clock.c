#include "tests/unit/control/store/still_clock.h"

#include <stdatomic.h>

#include "control/store/clock.h"
#include "proto/base/time.h"

static _Atomic uint64_t now = NS_PER_S, tick;

static uint64_t stand_still(void)
{
	return atomic_fetch_add(&now, atomic_load(&tick));
}

__attribute__((constructor)) static void hold_clock(void)
{
	store_clock_replace(stand_still);
}

void still_clock_pass(uint32_t ms)
{
	atomic_fetch_add(&now, ms * NS_PER_MS);
}

void still_clock_tick(uint32_t ms)
{
	atomic_store(&tick, ms * NS_PER_MS);
}
