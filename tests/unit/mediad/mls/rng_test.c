#include "tests/test.h"

#include "mediad/mls/rng.h"
#include "tests/unit/mediad/mls/hex.h"

static void seeded(struct mls_rng *rng)
{
	uint8_t seed[MLS_SEED];

	for (unsigned i = 0; i < MLS_SEED; i++)
		seed[i] = (uint8_t)i;
	mls_rng_seed(rng, seed);
}

TEST(mls_rng_is_chacha20_of_the_seed)
{
	/* 70 bytes of block 0 and 1, 8 bytes of block 2; from another implementation. */
	struct slice first = hex_bytes("39fd2b7dd9c5196a8dbd0377b8dc4a498a35d86fbcde6accb2cc7d4cd8e"
				       "a24922b23cce7a26023ab3f0eef693a"
				       "c87f64258235eab1f7a32dc22762a0485b410c18b84231ade6");
	struct slice next = hex_bytes("42f22ddca74a92d5");
	struct mls_rng rng;
	uint8_t got[70];

	seeded(&rng);
	mls_rng_fill(&rng, got, sizeof got);
	CHECK_MEM(got, sizeof got, first.p, first.n);
	mls_rng_fill(&rng, got, 0);
	mls_rng_fill(&rng, got, 8);
	CHECK_MEM(got, 8, next.p, next.n);
	hex_end();
}

TEST(mls_rng_runs_again)
{
	struct mls_rng a, b;
	uint8_t x[40], y[40], z[40] = {0};

	seeded(&a);
	seeded(&b);
	mls_rng_fill(&a, x, sizeof x);
	mls_rng_fill(&b, y, sizeof y);
	CHECK_MEM(x, sizeof x, y, sizeof y);
	mls_rng_fill(&a, y, sizeof y);
	CHECK(memcmp(x, y, sizeof x) != 0);
	mls_rng_wipe(&a);
	CHECK_MEM(a.key, MLS_SEED, z, MLS_SEED);
}
