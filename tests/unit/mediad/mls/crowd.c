#include "tests/unit/mediad/mls/crowd.h"

#include <stdio.h>

const struct slice crowd_group = {.p = (const uint8_t *)"a voice channel", .n = 15};

struct mls_rng crowd_rng(const char *seed)
{
	uint8_t key[MLS_SEED] = {0};
	struct mls_rng rng;

	snprintf((char *)key, sizeof key, "%s", seed);
	mls_rng_seed(&rng, key);
	return rng;
}

uint32_t crowd_below(struct mls_rng *rng, uint32_t n)
{
	uint32_t v;

	mls_rng_fill(rng, &v, sizeof v);
	return v % n;
}

int crowd_join(struct crowd_member *m, uint64_t user, struct mls_rng *rng)
{
	uint8_t id[8];
	struct wr w = wr_of(id, sizeof id);
	struct mls_leaf_spec spec = {.identity = mls_slice(id, sizeof id),
				     .encryption_key = mls_slice(m->keys.key[0].pub, MLS_POINT),
				     .signer = &m->signer,
				     .source = MLS_LEAF_KEY_PACKAGE};
	int err;

	*m = (struct crowd_member){.user = user, .keys.known[0] = true};
	wr_be(&w, user, 8);
	err = p256_generate(&m->signer, rng);
	if (!err)
		err = p256_generate(&m->keys.key[0], rng);
	return err ? err : mls_leaf_make(&m->leaf, &spec, rng);
}

void crowd_leave(struct crowd_member *m)
{
	mls_leaf_free(m->leaf);
	*m = (struct crowd_member){0};
}

struct mls_leaf *crowd_fake(uint32_t id)
{
	struct mls_leaf *l = NULL;
	struct mls_out o = {0};
	struct rd r;

	mls_out_be(&o, 5, 1);
	mls_out_be(&o, 'E', 1);
	mls_out_be(&o, id, 4);
	mls_out_be(&o, 5, 1);
	mls_out_be(&o, 'S', 1);
	mls_out_be(&o, id, 4);
	mls_out_be(&o, MLS_CREDENTIAL_BASIC, 2);
	mls_out_be(&o, 0, 1);
	mls_out_be(&o, 0, 5); /* five empty lists */
	mls_out_be(&o, MLS_LEAF_UPDATE, 1);
	mls_out_be(&o, 0, 1); /* no extensions */
	mls_out_be(&o, 0, 1); /* no signature */
	r = rd_of(o.p, o.n);
	if (!o.err && mls_leaf_read(&l, &r))
		l = NULL;
	mls_out_free(&o);
	return l;
}
