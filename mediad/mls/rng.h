/* Random bytes from a seed (ChaCha20): the seed comes through the seam for entropy, so that a step
 * can be run again and gives the same bytes. */
#ifndef MEDIAD_MLS_RNG_H
#define MEDIAD_MLS_RNG_H

#include <stddef.h>
#include <stdint.h>

enum { MLS_SEED = 32 };
struct mls_rng {
	uint8_t key[MLS_SEED];
	uint64_t block; /* of 64 bytes, the next one; a fill never shares a block with another */
};
void mls_rng_seed(struct mls_rng *rng, const uint8_t seed[MLS_SEED]);
void mls_rng_fill(struct mls_rng *rng, void *p, size_t n);
void mls_rng_wipe(struct mls_rng *rng);

#endif
