/* Replay window of one ratchet: every nonce is accepted once, in any order (limits of Discord's
 * libdave).
 *
 * A nonce has 40 bits, generation << 24 | counter. A nonce above all before is fresh; of the older
 * ones, those that were skipped and have not arrived are fresh, limited to the newest
 * DAVE_MISSING_MAX. They are kept as bits over the last DAVE_WINDOW nonces; a packet farther behind
 * is later than the ten seconds for which keys are kept. All zero is empty. */
#ifndef MEDIAD_DAVE_WINDOW_H
#define MEDIAD_DAVE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum { DAVE_WINDOW = 4096, DAVE_MISSING_MAX = 1000 };

struct dave_window {
	bool any;
	uint64_t newest;
	uint64_t floor; /* no nonce below is accepted */
	uint32_t n_missing;
	uint64_t missing[DAVE_WINDOW / 64]; /* bit nonce % DAVE_WINDOW */
};
bool dave_window_fresh(const struct dave_window *w, uint64_t nonce);
/* Marks a fresh nonce as used. */
void dave_window_mark(struct dave_window *w, uint64_t nonce);
/* The nonce above all that were used; 0: none was. */
uint64_t dave_window_next(const struct dave_window *w);
/* Makes an empty window refuse every nonce below `next`. */
void dave_window_restart(struct dave_window *w, uint64_t next);

/* The full generation, given its lowest 8 bits and the oldest one still valid. */
uint32_t dave_generation(uint32_t oldest, uint8_t low);
/* The 40-bit nonce of a counter received in 32 bits. */
uint64_t dave_nonce(uint32_t generation, uint32_t counter);

#endif
