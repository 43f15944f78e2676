/* The clock of the store's worker: CLOCK_MONOTONIC, ns. It runs outside the loop and is never
 * replayed, so it is not the env's. Searches are late by it, and a database that could not be
 * opened is tried again by it. */
#ifndef CONTROL_STORE_CLOCK_H
#define CONTROL_STORE_CLOCK_H

#include <stdint.h>

uint64_t store_clock(void);

/* For tests: every thread reads this one instead. It must be safe on all of them. NULL: the
 * system's. */
typedef uint64_t(store_clock_h)(void);
void store_clock_replace(store_clock_h *h);

#endif
