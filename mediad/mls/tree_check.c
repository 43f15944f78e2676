#include "mediad/mls/tree_internal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- parent hashes ---- */

struct checking {
	const struct mls_tree *t;
	uint8_t (*hashes)[MLS_HASH];
	uint32_t *resolution;
};

static struct slice parent_hash_of(const struct mls_tree *t, uint32_t node)
{
	return node % 2 ? t->slot[node / 2].parent->parent_hash
			: t->slot[node / 2].leaf->parent_hash;
}

/* Section 7.9.2, for one side of a parent. There, one node must be left when the parent's unmerged
 * leaves are taken out of the resolution of `child`, and it must name the parent by its hash. */
static int check_hash_link(const struct checking *c, uint32_t parent, uint32_t child,
			   uint32_t other, bool *yes)
{
	const struct mls_parent *p = c->t->slot[parent / 2].parent;
	uint32_t first, span = tree_span(child, &first), holder = TREE_NONE, others = 0;
	uint32_t unmerged = tree_lower(p->unmerged, p->n_unmerged, first + span) -
			    tree_lower(p->unmerged, p->n_unmerged, first);
	uint32_t n = mls_tree_resolution(c->t, child, c->resolution);
	uint8_t hash[MLS_HASH];
	int err;

	*yes = false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = c->resolution[i];

		if (x % 2 == 0 && tree_listed(p->unmerged, p->n_unmerged, x / 2))
			continue;
		holder = x;
		others++;
	}
	if (others != 1 || n - 1 != unmerged)
		return 0;
	err = tree_parent_hash_by(c->t, parent, other, (const uint8_t(*)[MLS_HASH])c->hashes, hash);
	if (!err)
		*yes = mls_equal(parent_hash_of(c->t, holder), mls_slice(hash, MLS_HASH));
	return err;
}

static int check_parent(const struct checking *c, uint32_t parent)
{
	uint32_t left = tree_left(parent), right = tree_right(parent);
	bool yes;
	int err = check_hash_link(c, parent, left, right, &yes);

	if (!err && !yes)
		err = check_hash_link(c, parent, right, left, &yes);
	if (!err && !yes)
		err = EBADMSG;
	return err;
}

int mls_tree_check_parent_hashes(const struct mls_tree *t)
{
	struct checking c = {.t = t};
	int err = ENOMEM;

	if (!t->leaves)
		return 0;
	c.hashes = malloc(tree_width(t->leaves) * sizeof *c.hashes);
	c.resolution = malloc(t->leaves * sizeof *c.resolution);
	if (!c.hashes || !c.resolution)
		goto out;
	err = tree_hashes(t, c.hashes);
	for (uint32_t x = 1; !err && x < tree_width(t->leaves); x += 2)
		if (t->slot[x / 2].parent)
			err = check_parent(&c, x);
out:
	free(c.hashes);
	free(c.resolution);
	return err;
}

/* ---- keys ---- */

static int by_bytes(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->n ? memcmp(x->p, y->p, x->n) : 0;
}

static bool are_distinct(struct slice *keys, size_t n)
{
	qsort(keys, n, sizeof *keys, by_bytes);
	for (size_t i = 1; i < n; i++)
		if (mls_equal(keys[i - 1], keys[i]))
			return false;
	return true;
}

int mls_tree_unique_keys(const struct mls_tree *t)
{
	struct slice *keys;
	size_t n = 0;
	bool fine;

	if (!t->leaves)
		return 0;
	keys = malloc(tree_width(t->leaves) * sizeof *keys);
	if (!keys)
		return ENOMEM;
	for (uint32_t i = 0; i < t->leaves; i++)
		if (t->slot[i].leaf)
			keys[n++] = t->slot[i].leaf->signature_key;
	fine = are_distinct(keys, n);
	n = 0;
	for (uint32_t x = 0; x < tree_width(t->leaves); x++)
		if (x % 2 ? t->slot[x / 2].parent != NULL : t->slot[x / 2].leaf != NULL)
			keys[n++] = mls_tree_key(t, x);
	fine = fine && are_distinct(keys, n);
	free(keys);
	return fine ? 0 : EBADMSG;
}

/* ---- validation ---- */

/* A leaf that is unmerged at a parent is so at every parent between them. */
static bool unmerged_all_the_way(const struct mls_tree *t, uint32_t parent)
{
	const struct mls_parent *p = t->slot[parent / 2].parent;

	for (uint32_t i = 0; i < p->n_unmerged; i++) {
		uint32_t x = tree_parent(2 * p->unmerged[i], t->leaves);

		for (; x != parent; x = tree_parent(x, t->leaves)) {
			const struct mls_parent *q = t->slot[x / 2].parent;

			if (q && !tree_listed(q->unmerged, q->n_unmerged, p->unmerged[i]))
				return false;
		}
	}
	return true;
}

static int check_parents(const struct mls_tree *t)
{
	int err = 0;

	for (uint32_t x = 1; !err && x < tree_width(t->leaves); x += 2)
		if (t->slot[x / 2].parent)
			err = p256_check(t->slot[x / 2].parent->encryption_key, P256_ANY);
	return err;
}

/* The cheap checks come first, so that an attacker must sign every leaf before the costly ones run.
 * Members support each other's credentials, because only basic ones are valid and a leaf lists its
 * own. */
int mls_tree_validate(const struct mls_tree *t, struct slice group_id)
{
	int err;

	if (!t->members)
		return EBADMSG;
	for (uint32_t x = 1; x < tree_width(t->leaves); x += 2)
		if (t->slot[x / 2].parent && !unmerged_all_the_way(t, x))
			return EBADMSG;
	err = mls_tree_unique_keys(t);
	if (!err)
		err = mls_tree_check_parent_hashes(t);
	for (uint32_t i = 0; !err && i < t->leaves; i++)
		if (t->slot[i].leaf)
			err = mls_leaf_validate(t->slot[i].leaf, group_id, i);
	return err ? err : check_parents(t);
}
