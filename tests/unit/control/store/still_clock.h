/* In unit tests the clock of the store's worker stands still, so that no search is late on a
 * machine with much to do. A test about lateness moves it. */
#ifndef TESTS_UNIT_CONTROL_STORE_STILL_CLOCK_H
#define TESTS_UNIT_CONTROL_STORE_STILL_CLOCK_H

#include <stdint.h>

void still_clock_pass(uint32_t ms);
/* So much passes at each look from now on; 0: it stands still again. */
void still_clock_tick(uint32_t ms);

#endif
