/* Replay of one ratchet: every nonce opens once, in any order (limits of Discord's libdave).
 *
 * Nonces are numbers of 40 bits, generation << 24 | counter. What is newer than all before is
 * fresh; of older ones those that were passed over and did not come yet, the newest
 * DAVE_MISSING_MAX of them. They are held as bits over the last DAVE_WINDOW nonces: what lags
 * farther behind is more than the ten seconds late for which keys are kept. All zero is empty. */
#ifndef MEDIAD_DAVE_WINDOW_H
#define MEDIAD_DAVE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum { DAVE_WINDOW = 4096, DAVE_MISSING_MAX = 1000 };

struct dave_window {
	bool any;
	uint64_t newest;
	uint64_t floor; /* nothing below is missing */
	uint32_t n_missing;
	uint64_t missing[DAVE_WINDOW / 64]; /* bit nonce % DAVE_WINDOW */
};
bool dave_window_fresh(const struct dave_window *w, uint64_t nonce);
/* Only what is fresh. */
void dave_window_mark(struct dave_window *w, uint64_t nonce);

/* The full generation of one whose lowest 8 bits came, the oldest still valid being `oldest`. */
uint32_t dave_generation(uint32_t oldest, uint8_t low);
/* The nonce of 40 bits of a counter that came in 32. */
uint64_t dave_nonce(uint32_t generation, uint32_t counter);

#endif
