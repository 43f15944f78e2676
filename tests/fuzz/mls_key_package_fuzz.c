/* A key package as a stranger sends it: what is read is kept as it came, and judged. */
#include <stdlib.h>

#include "mediad/mls/leaf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool inside(struct slice part, struct slice whole)
{
	return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

static void check_leaf(struct mls_leaf *l)
{
	const struct slice parts[] = {l->tbs,
				      l->encryption_key,
				      l->signature_key,
				      l->identity,
				      l->credential,
				      l->versions,
				      l->suites,
				      l->extension_types,
				      l->proposal_types,
				      l->credential_types,
				      l->parent_hash,
				      l->extensions,
				      l->signature};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!inside(parts[i], l->raw))
			abort();
	(void)mls_leaf_validate(l, mls_slice("group", 5), 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd r = rd_of(data, size);
	struct mls_key_package *k;
	uint8_t ref[MLS_HASH];
	int err;

	if (mls_key_package_read(&k, &r))
		return 0;
	if (k->raw.n != r.pos || memcmp(k->raw.p, data, r.pos) != 0)
		abort();
	if (!inside(k->init_key, k->raw) || !inside(k->signature, k->raw) ||
	    mls_key_package_ref_hash(ref, k))
		abort();
	err = mls_key_package_validate(k);
	if (mls_key_package_validate(k) != err || (err == 0) != k->verified)
		abort();
	check_leaf(k->leaf);
	mls_key_package_free(k);
	return 0;
}
