#include "tests/test.h"

#include "tests/unit/mediad/mls/tree_fixture.h"
#include "tests/unit/mediad/mls/davey.h"
#include "tests/unit/mediad/mls/hex.h"

/* The same leaf as a stranger would receive it: nothing is remembered about it. */
static struct mls_leaf *received(const struct mls_leaf *l)
{
	struct rd r = rd_of(l->raw.p, l->raw.n);
	struct mls_leaf *again = NULL;

	return mls_leaf_read(&again, &r) ? NULL : again;
}

static int judge_copy(const struct mls_leaf *l, struct slice group, uint32_t leaf)
{
	struct mls_leaf *again = received(l);
	int err = again ? mls_leaf_validate(again, group, leaf) : ENOMEM;

	mls_leaf_free(again);
	return err;
}

/* ---- layout ---- */

TEST(mls_leaf_has_the_layout_that_clients_send)
{
	static const uint8_t behind_keys[] = {
		0, 1, 8, 0, 0, 0, 0, 0, 0, 1, 2, 2,   0,   1,	2,   0,	  2,   0,   0,	 2,
		0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0};
	static const uint8_t head[] = {0x40, 0x41, 4};
	struct mls_rng rng = tree_fixture_rng("layout");
	struct tree_fixture_member m;

	CHECK_INT(tree_fixture_member_init(&m, 0x102, &rng), 0);
	CHECK_INT(m.leaf->tbs.n, 2 * 67 + sizeof behind_keys);
	CHECK_MEM(m.leaf->raw.p, 3, head, 3);
	CHECK_MEM(m.leaf->raw.p + 2, MLS_POINT, m.keys.key[0].pub, MLS_POINT);
	CHECK_MEM(m.leaf->raw.p + 69, MLS_POINT, m.signer.pub, MLS_POINT);
	CHECK_MEM(m.leaf->raw.p + 134, sizeof behind_keys, behind_keys, sizeof behind_keys);
	CHECK_INT(m.leaf->raw.n, m.leaf->tbs.n + 2 + m.leaf->signature.n);
	CHECK_MEM(m.leaf->identity.p, m.leaf->identity.n, behind_keys + 3, 8);
	tree_fixture_member_free(&m);
}

TEST(mls_key_package_of_davey_is_valid_and_has_its_reference)
{
	struct slice bytes = hex_bytes(DAVEY_KEY_PACKAGE), ref = hex_bytes(DAVEY_KEY_PACKAGE_REF);
	struct rd r = rd_of(bytes.p, bytes.n);
	struct mls_key_package *k;
	uint8_t hash[MLS_HASH];

	CHECK_INT(mls_key_package_read(&k, &r), 0);
	CHECK_INT(rd_left(&r), 0);
	CHECK_MEM(k->raw.p, k->raw.n, bytes.p, bytes.n);
	CHECK_INT(mls_key_package_validate(k), 0);
	CHECK_INT(mls_key_package_ref_hash(hash, k), 0);
	CHECK_MEM(hash, sizeof hash, ref.p, ref.n);
	CHECK_INT(k->leaf->not_before, 0);
	CHECK(k->leaf->not_after == UINT64_MAX);
	mls_key_package_free(k);
	hex_end();
}

/* ---- judging ---- */

TEST(mls_leaf_any_flipped_bit_is_seen)
{
	struct mls_rng rng = tree_fixture_rng("flip");
	struct tree_fixture_member m;
	uint8_t bytes[512];
	size_t n;

	CHECK_INT(tree_fixture_member_init(&m, 7, &rng), 0);
	n = m.leaf->raw.n;
	CHECK(n < sizeof bytes);
	CHECK_INT(judge_copy(m.leaf, tree_fixture_group_id, 0), 0);
	for (size_t i = 0; i < n; i++) {
		struct rd r = rd_of(bytes, n);
		struct mls_leaf *l = NULL;
		int err;

		memcpy(bytes, m.leaf->raw.p, n);
		bytes[i] ^= (uint8_t)(1u << i % 8);
		err = mls_leaf_read(&l, &r);
		if (!err && rd_left(&r))
			err = EBADMSG;
		if (!err)
			err = mls_leaf_validate(l, tree_fixture_group_id, 0);
		mls_leaf_free(l);
		CHECK(err == EBADMSG || err == EACCES || err == ENOTSUP);
	}
	tree_fixture_member_free(&m);
}

TEST(mls_leaf_cut_short_is_malformed)
{
	struct slice bytes = hex_bytes(DAVEY_KEY_PACKAGE);

	for (size_t n = 0; n < bytes.n; n++) {
		uint8_t *exact = malloc(n ? n : 1);
		struct rd r = rd_of(exact, n);
		struct mls_key_package *k;

		memcpy(exact, bytes.p, n);
		CHECK_INT(mls_key_package_read(&k, &r), EBADMSG);
		free(exact);
	}
	hex_end();
}

static int remake(struct mls_leaf **out, const struct tree_fixture_member *m,
		  enum mls_leaf_source source, uint32_t leaf, const struct mls_leaf *like,
		  struct mls_rng *rng)
{
	struct mls_leaf_spec spec = {.encryption_key = mls_slice(m->keys.key[0].pub, MLS_POINT),
				     .signer = &m->signer,
				     .source = source,
				     .parent_hash = mls_slice("above", 5),
				     .group_id = tree_fixture_group_id,
				     .leaf = leaf};

	return mls_leaf_remake(out, like, &spec, rng);
}

TEST(mls_leaf_of_a_commit_is_signed_for_its_group_and_place)
{
	struct mls_rng rng = tree_fixture_rng("place");
	struct mls_leaf *l, *copy;
	struct tree_fixture_member m;

	CHECK_INT(tree_fixture_member_init(&m, 7, &rng), 0);
	CHECK_INT(judge_copy(m.leaf, mls_slice("x", 1), 77), 0);
	for (enum mls_leaf_source source = MLS_LEAF_UPDATE; source <= MLS_LEAF_COMMIT; source++) {
		CHECK_INT(remake(&l, &m, source, 3, m.leaf, &rng), 0);
		CHECK_INT(judge_copy(l, tree_fixture_group_id, 3), 0);
		CHECK_INT(judge_copy(l, tree_fixture_group_id, 4), EACCES);
		CHECK_INT(judge_copy(l, mls_slice("x", 1), 3), EACCES);
		/* What is remembered is only that place. */
		copy = received(l);
		CHECK_INT(mls_leaf_validate(copy, tree_fixture_group_id, 3), 0);
		CHECK(copy->verified);
		CHECK_INT(mls_leaf_validate(copy, tree_fixture_group_id, 3), 0);
		CHECK_INT(mls_leaf_validate(copy, tree_fixture_group_id, 4), EACCES);
		CHECK_INT(mls_leaf_validate(copy, mls_slice("x", 1), 3), EACCES);
		mls_leaf_free(copy);
		CHECK(mls_equal(l->credential, m.leaf->credential));
		CHECK_INT(l->parent_hash.n, source == MLS_LEAF_COMMIT ? 5 : 0);
		mls_leaf_free(l);
	}
	tree_fixture_member_free(&m);
}

/* Well signed, and still not to be had. */
TEST(mls_leaf_capabilities_must_cover_what_it_uses)
{
	static const uint8_t other[] = {0, 9}, basic_twice[] = {0, 1, 0, 1};
	static const uint8_t unknown[] = {0x0a, 0x0a, 0}, twice[] = {0, 1, 0, 0, 1, 0},
			     own[] = {0, 1, 0, 0x0a, 0x0a, 0};
	static const uint8_t x509[] = {0, 2, 0}, knows_x509[] = {0, 2}, knows[] = {0x0a, 0x0a};
	struct mls_rng rng = tree_fixture_rng("capable");
	struct tree_fixture_member m;
	struct mls_leaf *l;

	CHECK_INT(tree_fixture_member_init(&m, 7, &rng), 0);
	const struct {
		size_t field;
		struct slice bytes;
		int want;
	} cases[] = {
		{offsetof(struct mls_leaf, versions), mls_slice(other, 2), EBADMSG},
		{offsetof(struct mls_leaf, suites), mls_slice(other, 2), EBADMSG},
		{offsetof(struct mls_leaf, credential_types), mls_slice(other, 2), EBADMSG},
		{offsetof(struct mls_leaf, credential_types), mls_slice(basic_twice, 4), 0},
		{offsetof(struct mls_leaf, extensions), mls_slice(unknown, 3), EBADMSG},
		{offsetof(struct mls_leaf, extensions), mls_slice(twice, 6), EBADMSG},
		{offsetof(struct mls_leaf, extensions), mls_slice(twice, 3), 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct mls_leaf like = *m.leaf;

		memcpy((char *)&like + cases[i].field, &cases[i].bytes, sizeof cases[i].bytes);
		CHECK_INT(remake(&l, &m, MLS_LEAF_UPDATE, 0, &like, &rng), 0);
		CHECK_INT(judge_copy(l, tree_fixture_group_id, 0), cases[i].want);
		mls_leaf_free(l);
	}
	struct mls_leaf like = *m.leaf;

	like.extensions = mls_slice(own, sizeof own);
	like.extension_types = mls_slice(knows, sizeof knows);
	CHECK_INT(remake(&l, &m, MLS_LEAF_UPDATE, 0, &like, &rng), 0);
	CHECK_INT(judge_copy(l, tree_fixture_group_id, 0), 0);
	mls_leaf_free(l);
	like = *m.leaf;
	like.credential = mls_slice(x509, sizeof x509);
	like.credential_types = mls_slice(knows_x509, sizeof knows_x509);
	CHECK_INT(remake(&l, &m, MLS_LEAF_UPDATE, 0, &like, &rng), 0);
	CHECK_INT(judge_copy(l, tree_fixture_group_id, 0), ENOTSUP);
	mls_leaf_free(l);
	tree_fixture_member_free(&m);
}

TEST(mls_leaf_has_64_extensions_at_most)
{
	uint8_t extensions[3 * 65], types[2 * 65];
	struct mls_rng rng = tree_fixture_rng("many");
	struct tree_fixture_member m;

	CHECK_INT(tree_fixture_member_init(&m, 7, &rng), 0);
	for (unsigned i = 0; i < 65; i++) {
		memcpy(extensions + 3 * i, (uint8_t[]){1, (uint8_t)i, 0}, 3);
		memcpy(types + 2 * i, extensions + 3 * i, 2);
	}
	for (size_t n = 64; n <= 65; n++) {
		struct mls_leaf like = *m.leaf, *l;

		like.extensions = mls_slice(extensions, 3 * n);
		like.extension_types = mls_slice(types, 2 * n);
		CHECK_INT(remake(&l, &m, MLS_LEAF_UPDATE, 0, &like, &rng), 0);
		CHECK_INT(judge_copy(l, tree_fixture_group_id, 0), n == 64 ? 0 : EBADMSG);
		mls_leaf_free(l);
	}
	tree_fixture_member_free(&m);
}

TEST(mls_leaf_lists_of_a_wrong_form_are_malformed)
{
	static const size_t lists[] = {offsetof(struct mls_leaf, versions),
				       offsetof(struct mls_leaf, suites),
				       offsetof(struct mls_leaf, extension_types),
				       offsetof(struct mls_leaf, proposal_types),
				       offsetof(struct mls_leaf, credential_types),
				       offsetof(struct mls_leaf, extensions)};
	struct mls_rng rng = tree_fixture_rng("lists");
	struct slice odd = mls_slice("\0\1\2", 3);
	struct tree_fixture_member m;

	CHECK_INT(tree_fixture_member_init(&m, 7, &rng), 0);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct mls_leaf like = *m.leaf, *l;

		memcpy((char *)&like + lists[i], &odd, sizeof odd);
		CHECK_INT(remake(&l, &m, MLS_LEAF_UPDATE, 0, &like, &rng), EBADMSG);
	}
	tree_fixture_member_free(&m);
}

TEST(mls_leaf_keys_must_be_points)
{
	struct mls_rng rng = tree_fixture_rng("points");
	struct mls_leaf like, *l;
	struct tree_fixture_member m;
	uint8_t bad[MLS_POINT];

	CHECK_INT(tree_fixture_member_init(&m, 7, &rng), 0);
	memcpy(bad, m.signer.pub, MLS_POINT);
	bad[64] ^= 1;
	like = *m.leaf;
	like.signature_key = mls_slice(bad, sizeof bad);
	CHECK_INT(remake(&l, &m, MLS_LEAF_UPDATE, 0, &like, &rng), 0);
	CHECK_INT(judge_copy(l, tree_fixture_group_id, 0), EACCES);
	mls_leaf_free(l);
	m.keys.key[0].pub[64] ^= 1;
	CHECK_INT(remake(&l, &m, MLS_LEAF_UPDATE, 0, m.leaf, &rng), 0);
	CHECK_INT(judge_copy(l, tree_fixture_group_id, 0), EBADMSG);
	mls_leaf_free(l);
	tree_fixture_member_free(&m);
}

/* ---- key packages ---- */

static int judge_package(const struct mls_key_package *k)
{
	struct rd r = rd_of(k->raw.p, k->raw.n);
	struct mls_key_package *again;
	int err = mls_key_package_read(&again, &r);

	if (err)
		return err;
	err = mls_key_package_validate(again);
	if (!err)
		err = again->verified ? mls_key_package_validate(again) : EINVAL;
	mls_key_package_free(again);
	return err;
}

TEST(mls_key_package_made_and_judged)
{
	struct mls_rng rng = tree_fixture_rng("package");
	struct mls_key_package *k;
	struct p256_pair init;
	struct tree_fixture_member m;
	struct mls_leaf *l;

	CHECK_INT(tree_fixture_member_init(&m, 7, &rng), 0);
	CHECK_INT(p256_generate(&init, &rng), 0);
	CHECK_INT(mls_key_package_make(&k, m.leaf, mls_slice(init.pub, MLS_POINT), &m.signer, &rng),
		  0);
	CHECK(k->leaf == m.leaf);
	CHECK_INT(judge_package(k), 0);
	mls_key_package_free(k);
	/* The init key is the leaf's. */
	CHECK_INT(mls_key_package_make(&k, m.leaf, m.leaf->encryption_key, &m.signer, &rng), 0);
	CHECK_INT(judge_package(k), EBADMSG);
	mls_key_package_free(k);
	/* Signed by somebody else. */
	CHECK_INT(mls_key_package_make(&k, m.leaf, mls_slice(init.pub, MLS_POINT), &init, &rng), 0);
	CHECK_INT(judge_package(k), EACCES);
	mls_key_package_free(k);
	/* The init key is no point. */
	init.pub[64] ^= 1;
	CHECK_INT(mls_key_package_make(&k, m.leaf, mls_slice(init.pub, MLS_POINT), &m.signer, &rng),
		  0);
	CHECK_INT(judge_package(k), EBADMSG);
	mls_key_package_free(k);
	/* A leaf that is not for a key package. */
	CHECK_INT(remake(&l, &m, MLS_LEAF_UPDATE, 0, m.leaf, &rng), 0);
	CHECK_INT(mls_key_package_make(&k, l, mls_slice(m.signer.pub, MLS_POINT), &m.signer, &rng),
		  0);
	CHECK_INT(judge_package(k), EBADMSG);
	mls_key_package_free(k);
	mls_leaf_free(l);
	tree_fixture_member_free(&m);
}

TEST(mls_key_package_of_another_suite_is_read_but_not_taken)
{
	struct slice bytes = hex_bytes(DAVEY_KEY_PACKAGE);
	uint8_t other[512];

	CHECK(bytes.n < sizeof other);
	for (size_t at = 1; at <= 3; at += 2) {
		struct rd r = rd_of(other, bytes.n);
		struct mls_key_package *k;

		memcpy(other, bytes.p, bytes.n);
		other[at]++;
		CHECK_INT(mls_key_package_read(&k, &r), 0);
		CHECK_INT(mls_key_package_validate(k), ENOTSUP);
		mls_key_package_free(k);
	}
	hex_end();
}

TEST_OOM(mls_key_package_when_memory_ends)
{
	struct mls_rng rng = tree_fixture_rng("oom");
	struct mls_key_package *k = NULL, *again = NULL;
	struct tree_fixture_member m = {0};
	struct rd r;

	CHECK_OOM(tree_fixture_member_init(&m, 7, &rng), tree_fixture_member_free(&m));
	CHECK_OOM(mls_key_package_make(&k, m.leaf, mls_slice(m.signer.pub, MLS_POINT), &m.signer,
				       &rng),
		  tree_fixture_member_free(&m));
	r = rd_of(k->raw.p, k->raw.n);
	CHECK_OOM(mls_key_package_read(&again, &r), mls_key_package_free(k);
		  tree_fixture_member_free(&m));
	CHECK_OOM(mls_key_package_validate(again), mls_key_package_free(k);
		  mls_key_package_free(again); tree_fixture_member_free(&m));
	mls_key_package_free(k);
	mls_key_package_free(again);
	tree_fixture_member_free(&m);
}
