/* Trees from outside: what a newcomer must refuse. */
#include "tests/test.h"

#include "tests/unit/mediad/mls/tree_fixture.h"

static const struct slice none;

/* A group of some size, and one commit that removes a member. */
static int start(struct tree_fixture *c, uint32_t members, uint32_t sender, uint32_t gone)
{
	struct tree_fixture_commit grow = {.n_come = members - 1},
				   cut = {.sender = sender, .n_gone = 1, .gone = {gone}};
	int err = tree_fixture_init(c, "outside");

	if (!err)
		err = tree_fixture_commit(c, &grow);
	return err ? err : tree_fixture_commit(c, &cut);
}

TEST(mls_tree_of_another_group_is_refused)
{
	struct mls_out o = {0};
	struct mls_tree *t;
	struct tree_fixture c;

	CHECK_INT(start(&c, 7, 3, 1), 0);
	CHECK_INT(tree_fixture_validate(c.tree), 0);
	mls_tree_write(c.tree, &o);
	CHECK_INT(mls_tree_read(&t, mls_out_view(&o)), 0);
	CHECK_INT(mls_tree_validate(t, mls_slice("another", 7)), EACCES);
	mls_tree_free(t);
	mls_out_free(&o);
	tree_fixture_free(&c);
}

TEST(mls_tree_with_a_forged_parent_is_refused)
{
	struct p256_pair forged;
	uint32_t parents = 0;
	struct tree_fixture c;

	CHECK_INT(start(&c, 7, 3, 1), 0);
	CHECK_INT(p256_generate(&forged, &c.rng), 0);
	for (uint32_t x = 1; x < tree_width(mls_tree_leaves(c.tree)); x += 2) {
		const struct mls_parent *p = mls_tree_parent_at(c.tree, x);
		struct mls_tree *t;

		if (!p)
			continue;
		parents++;
		CHECK_INT(mls_tree_copy(&t, c.tree), 0);
		/* Another key under the same parent hash: what is below tells. */
		CHECK_INT(
			mls_tree_set_parent(t, x, mls_slice(forged.pub, MLS_POINT), p->parent_hash),
			0);
		CHECK_INT(tree_fixture_validate(t), EBADMSG);
		CHECK_INT(mls_tree_set_parent(t, x, p->encryption_key, mls_slice("below me", 8)),
			  0);
		CHECK_INT(tree_fixture_validate(t), EBADMSG);
		mls_tree_free(t);
	}
	CHECK_INT(parents, 3);
	tree_fixture_free(&c);
}

TEST(mls_tree_with_a_key_twice_is_refused)
{
	struct mls_rng rng = tree_fixture_rng("twice");
	struct tree_fixture_member a, b;
	struct mls_tree *t;
	uint32_t at;

	CHECK_INT(tree_fixture_member_init(&a, 1, &rng), 0);
	CHECK_INT(tree_fixture_member_init(&b, 2, &rng), 0);
	CHECK_INT(mls_tree_alloc(&t), 0);
	CHECK_INT(mls_tree_validate(t, tree_fixture_group_id), EBADMSG); /* nobody in it */
	CHECK_INT(mls_tree_add(t, a.leaf, &at), 0);
	CHECK_INT(mls_tree_add(t, b.leaf, &at), 0);
	CHECK_INT(tree_fixture_validate(t), 0);
	CHECK_INT(mls_tree_unique_keys(t), 0);
	mls_tree_free(t);
	for (int signature = 0; signature < 2; signature++) {
		struct mls_leaf_spec spec = {.identity = mls_slice("b", 1),
					     .encryption_key = signature ? b.leaf->encryption_key
									 : a.leaf->encryption_key,
					     .signer = signature ? &a.signer : &b.signer,
					     .source = MLS_LEAF_KEY_PACKAGE};
		struct mls_leaf *l;

		CHECK_INT(mls_leaf_make(&l, &spec, &rng), 0);
		CHECK_INT(mls_tree_alloc(&t), 0);
		CHECK_INT(mls_tree_add(t, a.leaf, &at), 0);
		CHECK_INT(mls_tree_add(t, l, &at), 0);
		CHECK_INT(tree_fixture_validate(t), EBADMSG);
		CHECK_INT(mls_tree_unique_keys(t), EBADMSG);
		mls_tree_free(t);
		mls_leaf_free(l);
	}
	tree_fixture_member_free(&a);
	tree_fixture_member_free(&b);
}

/* ---- section 7.9.2: more than a chain of hashes ---- */

/* Somebody who is put beside a member, so that paths are sealed to them, while no hash changes. Put
 * there by the rules, among the unmerged, they are welcome. */
TEST(mls_tree_with_a_stranger_beside_a_member_is_refused)
{
	for (uint32_t place = 0; place < 2; place++) {
		struct tree_fixture_member stranger;
		struct mls_tree *t;
		struct tree_fixture c;
		uint32_t at;

		CHECK_INT(start(&c, 3, 1 - place, place), 0);
		CHECK_INT(tree_fixture_member_init(&stranger, 99, &c.rng), 0);
		CHECK(mls_tree_parent_at(c.tree, 3) && !mls_tree_parent_at(c.tree, 1) &&
		      !mls_tree_leaf(c.tree, place));
		CHECK_INT(mls_tree_copy(&t, c.tree), 0);
		CHECK_INT(mls_tree_set_leaf(t, place, stranger.leaf), 0);
		CHECK_INT(mls_tree_check_parent_hashes(t), EBADMSG);
		CHECK_INT(tree_fixture_validate(t), EBADMSG);
		mls_tree_free(t);
		CHECK_INT(mls_tree_copy(&t, c.tree), 0);
		CHECK_INT(mls_tree_add(t, stranger.leaf, &at), 0);
		CHECK_INT(at, place);
		CHECK_INT(tree_fixture_validate(t), 0);
		mls_tree_free(t);
		tree_fixture_member_free(&stranger);
		tree_fixture_free(&c);
	}
}

/* Makes a leaf unmerged at the root, but not at the parent `between` them, if that is not 0. */
static int unmerge_at_root(struct mls_tree *t, const struct tree_fixture *c, uint32_t leaf,
			   uint32_t between)
{
	const struct mls_parent *root = mls_tree_parent_at(c->tree, 3),
				*low = mls_tree_parent_at(c->tree, between);
	struct mls_leaf *l = mls_tree_leaf(c->tree, leaf);
	bool filled = false;
	uint32_t at;
	int err = mls_tree_set_parent(t, 3, root->encryption_key, root->parent_hash);

	mls_tree_blank(t, between);
	mls_tree_blank(t, 2 * leaf);
	for (uint32_t i = 0; !err && i < leaf; i++)
		if (!mls_tree_leaf(t, i)) { /* so that it is not put there */
			err = mls_tree_set_leaf(t, i, l);
			filled = true;
		}
	if (!err)
		err = mls_tree_add(t, l, &at);
	if (filled)
		mls_tree_blank(t, 2);
	if (!err && at != leaf)
		err = EINVAL;
	return err ? err : mls_tree_set_parent(t, between, low->encryption_key, low->parent_hash);
}

TEST(mls_tree_with_a_leaf_unmerged_only_above_is_refused)
{
	struct tree_fixture_commit path = {.sender = 0};
	struct mls_tree *t;
	struct tree_fixture c;

	CHECK_INT(start(&c, 4, 0, 3), 0);
	CHECK_INT(tree_fixture_commit(&c, &path), 0);
	CHECK_INT(tree_fixture_validate(c.tree), 0);
	CHECK_INT(mls_tree_copy(&t, c.tree), 0);
	CHECK_INT(unmerge_at_root(t, &c, 1, 1), 0);
	CHECK_INT(mls_tree_parent_at(t, 3)->n_unmerged, 1);
	CHECK_INT(mls_tree_parent_at(t, 1)->n_unmerged, 0);
	CHECK_INT(mls_tree_check_parent_hashes(t), EBADMSG);
	CHECK_INT(tree_fixture_validate(t), EBADMSG);
	mls_tree_free(t);
	tree_fixture_free(&c);
}

/* Member 0 signs for the root as it stands in t, whatever that is. */
static int sign_for_root(struct mls_tree *t, struct tree_fixture *c)
{
	struct mls_leaf_spec spec = {.encryption_key = mls_tree_key(c->tree, 0),
				     .signer = &c->member[0]->signer,
				     .source = MLS_LEAF_COMMIT,
				     .group_id = tree_fixture_group_id};
	uint8_t hash[MLS_HASH];
	struct mls_leaf *l;
	int err = mls_tree_parent_hash(t, 3, 5, hash);

	spec.parent_hash = mls_slice(hash, MLS_HASH);
	if (!err)
		err = mls_leaf_remake(&l, c->member[0]->leaf, &spec, &c->rng);
	if (err)
		return err;
	err = mls_tree_set_leaf(t, 0, l);
	mls_leaf_free(l);
	return err;
}

/* Leaf 1 is blank, so that the leaf of member 0 vouches for the root itself; the other half has its
 * own parent. */
static int start_vouched(struct tree_fixture *c)
{
	struct tree_fixture_commit other = {.sender = 2}, own = {.sender = 0};
	int err = start(c, 4, 0, 1);

	if (!err)
		err = tree_fixture_commit(c, &other);
	return err ? err : tree_fixture_commit(c, &own);
}

/* The hashes of the other half say nothing about a leaf that its signer left out of them. */
TEST(mls_tree_signed_with_a_leaf_unmerged_only_above_is_refused)
{
	struct mls_tree *t;
	struct tree_fixture c;

	CHECK_INT(start_vouched(&c), 0);
	CHECK_INT(mls_tree_copy(&t, c.tree), 0);
	CHECK_INT(sign_for_root(t, &c), 0);
	CHECK_INT(tree_fixture_validate(t), 0);
	CHECK_INT(unmerge_at_root(t, &c, 3, 5), 0);
	CHECK_INT(sign_for_root(t, &c), 0);
	CHECK_INT(mls_tree_check_parent_hashes(t), 0);
	CHECK_INT(tree_fixture_validate(t), EBADMSG);
	mls_tree_free(t);
	tree_fixture_free(&c);
}

TEST(mls_tree_with_a_parent_that_is_no_point_is_refused)
{
	uint8_t key[MLS_POINT];
	struct mls_tree *t;
	struct tree_fixture c;

	CHECK_INT(start_vouched(&c), 0);
	CHECK_INT(mls_tree_copy(&t, c.tree), 0);
	memcpy(key, mls_tree_key(t, 3).p, MLS_POINT);
	for (int good = 1; good >= 0; good--) {
		key[64] ^= (uint8_t)!good;
		CHECK_INT(mls_tree_set_parent(t, 3, mls_slice(key, MLS_POINT), none), 0);
		CHECK_INT(sign_for_root(t, &c), 0);
		CHECK_INT(mls_tree_check_parent_hashes(t), 0);
		CHECK_INT(tree_fixture_validate(t), good ? 0 : EBADMSG);
	}
	mls_tree_free(t);
	tree_fixture_free(&c);
}
