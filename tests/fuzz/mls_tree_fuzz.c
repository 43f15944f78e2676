/* A ratchet_tree extension: what can be read is written again as it was, and everything a welcome
 * asks of a tree can be asked of any that was read. */
#include <stdlib.h>

#include "mediad/mls/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The group that the corpus is signed for. */
static const struct slice group = {.p = (const uint8_t *)"\x0c\xde\x77\xea\xdc\x82\x30\x33",
				   .n = 8};

static void write_again(const struct mls_tree *t, const uint8_t *data, size_t size)
{
	struct mls_out o = {0};

	mls_tree_write(t, &o);
	if (o.err || o.n != size || memcmp(o.p, data, size) != 0)
		abort();
	mls_out_free(&o);
}

static void look(const struct mls_tree *t)
{
	uint32_t nodes[MLS_LEAVES_MAX], path[32], copath[32], leaves = mls_tree_leaves(t), at;
	uint8_t root[MLS_HASH];

	if (mls_tree_root_hash(t, root))
		abort();
	for (uint32_t x = 0; x < tree_width(leaves); x++)
		if (mls_tree_resolution(t, x, nodes) > leaves)
			abort();
	/* Not of all leaves of a large tree: that would be the square of them. */
	for (uint32_t i = 0; i < leaves; i += 1 + leaves / 64) {
		if (mls_tree_filtered_path(t, i, path, copath) > 10)
			abort();
		if (mls_tree_leaf(t, i) && mls_tree_find(t, mls_tree_leaf(t, i), &at))
			abort();
	}
}

/* Everybody leaves a copy, from the left, and its first member comes back in between. */
static void change(const struct mls_tree *t)
{
	struct mls_leaf *l = NULL;
	struct mls_tree *copy;
	uint32_t at;

	if (mls_tree_copy(&copy, t))
		abort();
	for (uint32_t i = 0; mls_tree_members(copy); i++) {
		if (!mls_tree_leaf(copy, i))
			continue;
		if (!l)
			l = mls_leaf_ref(mls_tree_leaf(copy, i));
		if (mls_tree_remove(copy, i))
			abort();
		if (i % 8 == 3 && (mls_tree_add(copy, l, &at) || mls_tree_remove(copy, at)))
			abort();
	}
	if (mls_tree_leaves(copy))
		abort();
	mls_leaf_free(l);
	mls_tree_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mls_tree *t;

	if (mls_tree_read(&t, mls_slice(data, size)))
		return 0;
	write_again(t, data, size);
	look(t);
	(void)mls_tree_check_parent_hashes(t);
	/* What was found good stays so. */
	if (mls_tree_validate(t, group) == 0 &&
	    (mls_tree_validate(t, group) || mls_tree_unique_keys(t)))
		abort();
	change(t);
	write_again(t, data, size);
	mls_tree_free(t);
	return 0;
}
