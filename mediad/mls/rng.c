#include "mediad/mls/rng.h"

#include <string.h>

#include <sodium.h>

enum { BLOCK = 64 };

void mls_rng_seed(struct mls_rng *rng, const uint8_t seed[MLS_SEED])
{
	memcpy(rng->key, seed, MLS_SEED);
	rng->block = 0;
}

void mls_rng_fill(struct mls_rng *rng, void *p, size_t n)
{
	static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES];

	if (n == 0)
		return;
	memset(p, 0, n);
	crypto_stream_chacha20_xor_ic(p, p, n, nonce, rng->block, rng->key);
	rng->block += (n + BLOCK - 1) / BLOCK;
}

void mls_rng_wipe(struct mls_rng *rng)
{
	sodium_memzero(rng, sizeof *rng);
}
