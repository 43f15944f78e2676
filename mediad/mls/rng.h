/* Random bytes from a seed (ChaCha20). The seed comes through env, so that a step can be run again
 * with the same bytes. */
#ifndef MEDIAD_MLS_RNG_H
#define MEDIAD_MLS_RNG_H

#include <stddef.h>
#include <stdint.h>

enum { MLS_SEED = 32 };
struct mls_rng {
	uint8_t key[MLS_SEED];
	uint64_t block; /* the next block of 64 bytes; no two fills share a block */
};
void mls_rng_seed(struct mls_rng *rng, const uint8_t seed[MLS_SEED]);
void mls_rng_fill(struct mls_rng *rng, void *p, size_t n);
void mls_rng_wipe(struct mls_rng *rng);

#endif
