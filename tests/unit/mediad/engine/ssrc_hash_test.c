#include "mediad/engine/ssrc_hash.h"
#include "tests/test.h"

enum { BUCKETS = 1024, SSRCS = 4096 };

/* SSRCs that Knuth's multiplier, which everybody knows, puts into one bucket: its inverse times
 * consecutive numbers. */
TEST(ssrc_hash_spreads_chosen_ssrcs)
{
	static unsigned n[BUCKETS];
	uint32_t factor = UINT32_C(2654435761), inverse = 1;
	unsigned most = 0;

	for (unsigned i = 0; i < 5; i++)
		inverse *= 2 - factor * inverse;
	CHECK_INT(factor * inverse, 1);
	memset(n, 0, sizeof n);
	ssrc_hash_draw();
	for (uint32_t i = 1; i <= SSRCS; i++) {
		unsigned k = ++n[ssrc_hash(inverse * i) % BUCKETS];

		most = k > most ? k : most;
		CHECK_INT(ssrc_hash(inverse * i), ssrc_hash(inverse * i));
	}
	CHECK(most < 64);
}

/* Slots hold hashes from before: another draw must not move them. */
TEST(ssrc_hash_draws_its_key_once)
{
	uint32_t before;

	ssrc_hash_draw();
	before = ssrc_hash(700);
	ssrc_hash_draw();
	CHECK_INT(ssrc_hash(700), before);
}
