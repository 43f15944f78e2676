#include "tests/test.h"

#include "tests/unit/mediad/mls/tree_fixture.h"
#include "tests/unit/mediad/mls/davey.h"
#include "tests/unit/mediad/mls/tree_model.h"
#include "tests/unit/mediad/mls/hex.h"

/* ---- against the model ---- */

static bool same_nodes(const struct mls_tree *t, const struct model *m)
{
	uint32_t members = 0;

	for (uint32_t i = 0; i < m->width; i++) {
		members += m->leaf[i] != NULL;
		if (mls_tree_leaf(t, i) != m->leaf[i])
			return false;
	}
	for (uint32_t x = 1; x < tree_width(m->width); x += 2) {
		const struct mls_parent *p = mls_tree_parent_at(t, x);
		uint32_t n = 0;

		if (!p != !m->parent[x].set)
			return false;
		if (!p)
			continue;
		for (uint32_t i = 0; i < MODEL_LEAVES; i++)
			if (m->parent[x].unmerged[i] &&
			    (n == p->n_unmerged || p->unmerged[n++] != i))
				return false;
		if (n != p->n_unmerged ||
		    !mls_equal(p->encryption_key, mls_slice(m->parent[x].key, 5)) ||
		    !mls_equal(p->parent_hash, mls_slice(m->parent[x].hash, 3)))
			return false;
	}
	return mls_tree_leaves(t) == m->width && mls_tree_members(t) == members &&
	       !mls_tree_leaf(t, m->width) && !mls_tree_parent_at(t, tree_width(m->width));
}

static bool same_subtree(const struct mls_tree *t, const struct model *m, uint32_t lo,
			 uint32_t width)
{
	uint32_t want[MODEL_LEAVES], got[MODEL_LEAVES], n = model_resolution(m, lo, width, want),
							x = 2 * lo + width - 1;
	uint8_t a[MLS_HASH], b[MLS_HASH];

	model_hash(m, lo, width, NULL, a);
	return mls_tree_resolution(t, x, got) == n && memcmp(got, want, n * sizeof *got) == 0 &&
	       mls_tree_hash(t, x, b) == 0 && memcmp(a, b, MLS_HASH) == 0;
}

/* 7.9: over the other child as it was before the parent's unmerged leaves came. */
static bool same_parent_hash(const struct mls_tree *t, const struct model *m, uint32_t lo,
			     uint32_t width, uint32_t half)
{
	const struct model_parent *p = &m->parent[2 * lo + width - 1];
	uint32_t other = lo + half * width / 2;
	uint8_t bytes[64] = {5}, sibling[32], want[MLS_HASH], got[MLS_HASH];
	struct slice text = mls_slice(bytes, 43);

	if (!p->set)
		return mls_tree_parent_hash(t, 2 * lo + width - 1, 2 * other + width / 2 - 1,
					    got) == ENOENT;
	model_hash(m, other, width / 2, p->unmerged, sibling);
	memcpy(bytes + 1, p->key, 5);
	bytes[6] = 3;
	memcpy(bytes + 7, p->hash, 3);
	bytes[10] = 32;
	memcpy(bytes + 11, sibling, 32);
	return mls_hash(want, &text, 1) == 0 &&
	       mls_tree_parent_hash(t, 2 * lo + width - 1, 2 * other + width / 2 - 1, got) == 0 &&
	       memcmp(want, got, MLS_HASH) == 0;
}

static bool same_path(const struct mls_tree *t, const struct model *m, uint32_t leaf)
{
	uint32_t path[32], copath[32], n = mls_tree_filtered_path(t, leaf, path, copath), k = 0;

	for (uint32_t x = tree_parent(2 * leaf, m->width), below = 2 * leaf; x != TREE_NONE;
	     below = x, x = tree_parent(x, m->width)) {
		if (!model_on_path(m, leaf, x))
			continue;
		if (k == n || path[k] != x || copath[k++] != tree_sibling(below, m->width))
			return false;
	}
	return k == n;
}

static bool same_tree(const struct mls_tree *t, const struct model *m)
{
	if (!same_nodes(t, m))
		return false;
	for (uint32_t w = 1; w <= m->width; w *= 2)
		for (uint32_t lo = 0; lo < m->width; lo += w)
			if (!same_subtree(t, m, lo, w) ||
			    (w > 1 && (!same_parent_hash(t, m, lo, w, 0) ||
				       !same_parent_hash(t, m, lo, w, 1))))
				return false;
	for (uint32_t i = 0; i < m->width; i++)
		if (!same_path(t, m, i))
			return false;
	return true;
}

/* Written and read again it is the same tree, and the same bytes. */
static bool survives_the_wire(const struct mls_tree *t)
{
	struct mls_out o = {0}, again = {0};
	struct mls_tree *read = NULL;
	uint8_t a[MLS_HASH], b[MLS_HASH];
	bool same;

	mls_tree_write(t, &o);
	same = !o.err && mls_tree_read(&read, mls_out_view(&o)) == 0;
	if (same)
		mls_tree_write(read, &again);
	same = same && mls_equal(mls_out_view(&o), mls_out_view(&again)) &&
	       mls_tree_root_hash(t, a) == 0 && mls_tree_root_hash(read, b) == 0 &&
	       memcmp(a, b, MLS_HASH) == 0 && mls_tree_members(read) == mls_tree_members(t);
	mls_tree_free(read);
	mls_out_free(&o);
	mls_out_free(&again);
	return same;
}

/* A path of a random member, with keys that only look like some. */
static void random_path(struct mls_tree *t, struct model *m, uint32_t sender, struct mls_rng *rng)
{
	uint32_t path[32], copath[32], n = mls_tree_filtered_path(t, sender, path, copath);
	uint8_t fresh[8];

	for (uint32_t x = tree_parent(2 * sender, m->width); x != TREE_NONE;
	     x = tree_parent(x, m->width)) {
		mls_tree_blank(t, x);
		memset(&m->parent[x], 0, sizeof m->parent[x]);
	}
	for (uint32_t i = 0; i < n; i++) {
		mls_rng_fill(rng, fresh, sizeof fresh);
		model_set_parent(m, path[i], fresh, fresh + 5);
		(void)mls_tree_set_parent(t, path[i], mls_slice(fresh, 5), mls_slice(fresh + 5, 3));
	}
}

static uint32_t some_member(const struct model *m, struct mls_rng *rng)
{
	uint32_t i = tree_fixture_random(rng, m->width);

	while (!m->leaf[i])
		i = (i + 1) % m->width;
	return i;
}

static int random_step(struct mls_tree *t, struct model *m, struct mls_leaf *fresh, unsigned want,
		       struct mls_rng *rng)
{
	uint32_t kind = tree_fixture_random(rng, 8), at, where = UINT32_MAX;

	/* Pulled towards the wanted size. */
	if (!m->width || (kind < 5 && mls_tree_members(t) < want && kind != 0)) {
		if (!model_add(m, fresh, &where))
			return EINVAL;
		return mls_tree_add(t, fresh, &at) || at != where ? EINVAL : 0;
	}
	at = some_member(m, rng);
	if (kind < 5) {
		model_remove(m, at);
		return mls_tree_remove(t, at);
	}
	if (kind == 5) {
		model_update(m, at, fresh);
		return mls_tree_update(t, at, fresh);
	}
	random_path(t, m, at, rng);
	return 0;
}

TEST(mls_tree_does_as_the_model_on_random_sequences)
{
	enum { STEPS = 700, ROUNDS = 4 };
	static struct model m;
	static struct mls_leaf *leaves[STEPS];
	struct mls_rng rng = tree_fixture_rng("sequences");

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct mls_tree *t = NULL;

		memset(&m, 0, sizeof m);
		CHECK_INT(mls_tree_alloc(&t), 0);
		for (unsigned i = 0; i < STEPS; i++) {
			/* Up to 8, 16, 32 or 64 members, down to none, up again. */
			unsigned want = i % 350 < 200 ? 8u << round : 0;

			leaves[i] = tree_fixture_fake_leaf(i);
			CHECK(leaves[i]);
			CHECK_INT(random_step(t, &m, leaves[i], want, &rng), 0);
			CHECK(same_tree(t, &m));
			if (m.width)
				CHECK(survives_the_wire(t));
		}
		mls_tree_free(t);
		for (unsigned i = 0; i < STEPS; i++)
			mls_leaf_free(leaves[i]);
	}
}

/* ---- sharing ---- */

static struct mls_tree *tree_of(uint32_t members)
{
	struct mls_tree *t = NULL;
	uint32_t at;

	if (mls_tree_alloc(&t))
		return NULL;
	for (uint32_t i = 0; i < members; i++) {
		struct mls_leaf *l = tree_fixture_fake_leaf(i);
		int err = l ? mls_tree_add(t, l, &at) : ENOMEM;

		mls_leaf_free(l);
		if (err)
			return mls_tree_free(t);
	}
	return t;
}

TEST(mls_tree_copy_goes_its_own_way)
{
	struct mls_tree *t = tree_of(5), *copy;
	struct mls_leaf *l = tree_fixture_fake_leaf(9);
	uint8_t before[MLS_HASH], after[MLS_HASH];
	uint32_t at;

	CHECK(t && l);
	CHECK_INT(mls_tree_set_parent(t, 7, mls_slice("key", 3), mls_slice("h", 1)), 0);
	CHECK_INT(mls_tree_root_hash(t, before), 0);
	CHECK_INT(mls_tree_copy(&copy, t), 0);
	CHECK(mls_tree_leaf(copy, 2) == mls_tree_leaf(t, 2));
	CHECK_INT(mls_tree_add(copy, l, &at), 0);
	CHECK_INT(at, 5);
	CHECK_INT(mls_tree_parent_at(copy, 7)->n_unmerged, 1);
	CHECK_INT(mls_tree_remove(copy, 1), 0);
	CHECK_INT(mls_tree_root_hash(t, after), 0);
	CHECK_MEM(after, MLS_HASH, before, MLS_HASH);
	CHECK_INT(mls_tree_parent_at(t, 7)->n_unmerged, 0);
	t = mls_tree_free(t);
	CHECK_INT(mls_tree_find(copy, l, &at), 0);
	CHECK_INT(at, 5);
	mls_tree_free(copy);
	mls_leaf_free(l);
}

TEST(mls_tree_what_is_outside_is_not_there)
{
	struct mls_tree *t = tree_of(3);
	struct mls_leaf *l = tree_fixture_fake_leaf(9);
	uint32_t path[32], copath[32], at;
	uint8_t hash[MLS_HASH];

	CHECK(t && l);
	CHECK_INT(mls_tree_remove(t, 3), ENOENT);
	CHECK_INT(mls_tree_remove(t, 4), ENOENT);
	CHECK_INT(mls_tree_update(t, 3, l), ENOENT);
	CHECK_INT(mls_tree_update(t, UINT32_MAX, l), ENOENT);
	CHECK_INT(mls_tree_set_leaf(t, 4, l), ENOENT);
	CHECK_INT(mls_tree_set_parent(t, 2, mls_slice("k", 1), mls_slice("h", 1)), ENOENT);
	CHECK_INT(mls_tree_set_parent(t, 7, mls_slice("k", 1), mls_slice("h", 1)), ENOENT);
	CHECK_INT(mls_tree_hash(t, 7, hash), ENOENT);
	CHECK_INT(mls_tree_parent_hash(t, 9, 0, hash), ENOENT);
	CHECK_INT(mls_tree_find(t, l, &at), ENOENT);
	CHECK_INT(mls_tree_key(t, 6).n, 0);
	CHECK_INT(mls_tree_key(t, 7).n, 0);
	CHECK_INT(mls_tree_filtered_path(t, 4, path, copath), 0);
	CHECK_INT(mls_tree_filtered_path(t, UINT32_MAX, path, copath), 0);
	CHECK_INT(mls_tree_resolution(t, 7, path), 0);
	mls_tree_blank(t, 7);
	CHECK_INT(mls_tree_members(t), 3);
	mls_tree_free(t);
	mls_leaf_free(l);
	CHECK_INT(mls_tree_alloc(&t), 0);
	CHECK_INT(mls_tree_root_hash(t, hash), ENOENT);
	mls_tree_free(t);
}

TEST(mls_tree_is_full_at_1000_members)
{
	struct mls_tree *t = tree_of(MLS_MEMBERS_MAX);
	struct mls_leaf *l = tree_fixture_fake_leaf(MLS_MEMBERS_MAX);
	uint32_t at;

	CHECK(t && l);
	CHECK_INT(mls_tree_leaves(t), MLS_LEAVES_MAX);
	CHECK_INT(mls_tree_add(t, l, &at), EOVERFLOW);
	CHECK_INT(mls_tree_members(t), MLS_MEMBERS_MAX);
	CHECK(survives_the_wire(t));
	CHECK_INT(mls_tree_unique_keys(t), 0);
	CHECK_INT(mls_tree_remove(t, 500), 0);
	CHECK_INT(mls_tree_add(t, l, &at), 0);
	CHECK_INT(at, 500);
	mls_tree_free(t);
	mls_leaf_free(l);
}

TEST_OOM(mls_tree_when_memory_ends)
{
	struct mls_tree *t = NULL, *copy = NULL, *again = NULL;
	struct mls_leaf *l = NULL;
	struct mls_out o = {0};
	uint8_t hash[MLS_HASH];
	uint32_t at, before;
	int err;

	t = tree_of(4);
	CHECK_OOM(t ? 0 : ENOMEM, (void)t);
	l = tree_fixture_fake_leaf(9);
	err = l ? mls_tree_set_parent(t, 3, mls_slice("key", 3), mls_slice("h", 1)) : ENOMEM;
	if (!err)
		err = mls_tree_set_parent(t, 1, mls_slice("kez", 3), mls_slice("h", 1));
	if (!err)
		err = mls_tree_remove(t, 3);
	if (!err)
		err = mls_tree_set_parent(t, 3, mls_slice("key", 3), mls_slice("h", 1));
	if (!err)
		err = mls_tree_copy(&copy, t);
	if (!err)
		err = mls_tree_add(t, l, &at);
	before = mls_tree_leaves(t);
	if (!err)
		err = mls_tree_add(t, l, &at);
	if (err && mls_tree_leaves(t) != before)
		test_fail(__FILE__, __LINE__, "the tree grew though nobody came");
	mls_tree_write(t, &o);
	if (!err)
		err = o.err;
	if (!err)
		err = mls_tree_read(&again, mls_out_view(&o));
	if (!err)
		err = mls_tree_root_hash(again, hash);
	if (!err)
		err = mls_tree_unique_keys(copy);
	if (!err && mls_tree_check_parent_hashes(copy) == ENOMEM)
		err = ENOMEM;
	mls_tree_free(t);
	mls_tree_free(copy);
	mls_tree_free(again);
	mls_leaf_free(l);
	mls_out_free(&o);
	CHECK_OOM(err, (void)err);
}

/* ---- what is not read ---- */

static int read_bytes(struct mls_out *body)
{
	struct mls_out o = {0};
	struct mls_tree *t;
	int err;

	mls_out_vec(&o, mls_out_view(body));
	err = o.err ? o.err : mls_tree_read(&t, mls_out_view(&o));
	if (!err)
		mls_tree_free(t);
	mls_out_free(&o);
	mls_out_free(body);
	return err;
}

static void put_leaf(struct mls_out *o, uint32_t id)
{
	struct mls_leaf *l = tree_fixture_fake_leaf(id);

	mls_out_be(o, 1, 1);
	mls_out_be(o, 1, 1);
	if (l)
		mls_out_slice(o, l->raw);
	mls_leaf_free(l);
}

static void put_parent(struct mls_out *o, const char *key, const uint32_t *unmerged, size_t n)
{
	mls_out_be(o, 1, 1);
	mls_out_be(o, 2, 1);
	mls_out_vec(o, mls_slice(key, strlen(key)));
	mls_out_vec(o, mls_slice("h", 1));
	mls_out_varint(o, 4 * n);
	for (size_t i = 0; i < n; i++)
		mls_out_be(o, unmerged[i], 4);
}

/* Leaves 0, 1, 2 and a root with these unmerged leaves. */
static int read_with_unmerged(const uint32_t *unmerged, size_t n)
{
	struct mls_out o = {0};

	put_leaf(&o, 0);
	mls_out_be(&o, 0, 1);
	put_leaf(&o, 1);
	put_parent(&o, "root", unmerged, n);
	put_leaf(&o, 2);
	return read_bytes(&o);
}

TEST(mls_tree_unmerged_leaves_are_in_form)
{
	static const uint32_t lists[][3] = {{1, 2}, {2, 1}, {1, 1}, {1, 3}, {1, 4}, {0, 1, 2}};
	struct mls_out o = {0};

	CHECK_INT(read_with_unmerged(NULL, 0), 0);
	CHECK_INT(read_with_unmerged(lists[0], 2), 0);
	for (size_t i = 1; i < 5; i++)
		CHECK_INT(read_with_unmerged(lists[i], 2), EBADMSG);
	CHECK_INT(read_with_unmerged(lists[5], 3), EBADMSG);
	/* A member, but not under this parent. */
	put_leaf(&o, 0);
	put_parent(&o, "low", lists[0] + 1, 1);
	put_leaf(&o, 1);
	mls_out_be(&o, 0, 1);
	put_leaf(&o, 2);
	CHECK_INT(read_bytes(&o), EBADMSG);
}

TEST(mls_tree_of_a_wrong_form_is_not_read)
{
	struct mls_out o = {0};
	struct mls_tree *t;

	CHECK_INT(read_bytes(&o), EBADMSG); /* empty */
	mls_out_be(&o, 0, 1);
	CHECK_INT(read_bytes(&o), EBADMSG); /* blank at the end */
	put_leaf(&o, 0);
	mls_out_be(&o, 0, 1);
	CHECK_INT(read_bytes(&o), EBADMSG);
	put_leaf(&o, 0);
	put_leaf(&o, 1);
	CHECK_INT(read_bytes(&o), EBADMSG); /* a leaf where a parent belongs */
	put_parent(&o, "k", NULL, 0);
	CHECK_INT(read_bytes(&o), EBADMSG); /* and the other way */
	put_leaf(&o, 0);
	put_parent(&o, "k", NULL, 0);
	CHECK_INT(read_bytes(&o), 0);
	mls_out_be(&o, 2, 1);
	CHECK_INT(read_bytes(&o), EBADMSG); /* neither there nor not */
	put_leaf(&o, 0);
	o.n -= 1;
	CHECK_INT(read_bytes(&o), EBADMSG);
	put_leaf(&o, 0);
	mls_out_be(&o, 0, 1);
	mls_out_be(&o, 0, 1);
	put_parent(&o, "nobody", NULL, 0);
	for (int i = 0; i < 4; i++)
		mls_out_be(&o, 0, 1);
	put_parent(&o, "nobody below", NULL, 0);
	CHECK_INT(read_bytes(&o), EBADMSG);
	CHECK_INT(mls_tree_read(&t, (struct slice){0}), EBADMSG);
	put_leaf(&o, 0);
	mls_out_close(&o, 0);
	mls_out_be(&o, 0, 1);
	CHECK_INT(mls_tree_read(&t, mls_slice(o.p, o.n - 1)), 0);
	mls_tree_free(t);
	CHECK_INT(mls_tree_read(&t, mls_out_view(&o)), EBADMSG); /* something behind it */
	mls_out_free(&o);
}

TEST(mls_tree_of_too_many_leaves_is_not_read)
{
	struct mls_out o = {0};

	for (uint32_t x = 0; x < 2 * MLS_LEAVES_MAX; x++)
		mls_out_be(&o, 0, 1);
	put_leaf(&o, 0);
	CHECK_INT(read_bytes(&o), EOVERFLOW);
	for (uint32_t i = 0; i <= MLS_MEMBERS_MAX; i++) {
		if (i)
			mls_out_be(&o, 0, 1);
		put_leaf(&o, i);
	}
	CHECK_INT(read_bytes(&o), EOVERFLOW);
	put_leaf(&o, 0);
	mls_out_be(&o, 1, 1);
	mls_out_be(&o, 2, 1);
	mls_out_be(&o, 0, 2);
	mls_out_varint(&o, 4 * (MLS_LEAVES_MAX + 1));
	for (uint32_t i = 0; i <= MLS_LEAVES_MAX; i++)
		mls_out_be(&o, i, 4);
	CHECK_INT(read_bytes(&o), EOVERFLOW);
}

/* A group that davey led: its member 0 was removed by a commit of member 3. */
TEST(mls_tree_of_davey_is_valid_and_has_its_hash)
{
	struct slice bytes = hex_bytes(DAVEY_TREE), want = hex_bytes(DAVEY_TREE_HASH);
	struct slice group = hex_bytes(DAVEY_GROUP_ID);
	struct mls_out o = {0};
	uint8_t hash[MLS_HASH];
	struct mls_tree *t;

	CHECK_INT(mls_tree_read(&t, bytes), 0);
	CHECK_INT(mls_tree_members(t), 3);
	CHECK(!mls_tree_leaf(t, 0));
	CHECK_INT(mls_tree_root_hash(t, hash), 0);
	CHECK_MEM(hash, MLS_HASH, want.p, want.n);
	CHECK_INT(mls_tree_validate(t, group), 0);
	mls_tree_write(t, &o);
	CHECK_MEM(o.p, o.n, bytes.p, bytes.n);
	mls_out_free(&o);
	mls_tree_free(t);
	hex_end();
}
