#include "tests/test.h"

#include "tests/unit/mediad/mls/tree_fixture.h"

/* ---- groups that live ---- */

TEST(mls_paths_of_anyone_are_opened_by_everyone)
{
	enum { STEPS = 60 };
	struct tree_fixture c;

	CHECK_INT(tree_fixture_init(&c, "everyone"), 0);
	for (unsigned i = 0; i < STEPS; i++) {
		uint32_t n = mls_tree_members(c.tree);
		struct tree_fixture_commit what = {
			.sender = tree_fixture_random_leaf(&c, UINT32_MAX)};

		/* Grows to about 20, then shrinks to 1, then grows again. */
		if (i % 40 < 20)
			what.n_come = tree_fixture_random(&c.rng, 4);
		if (i % 40 >= 10 && n > 1)
			what.gone[what.n_gone++] = tree_fixture_random_leaf(&c, what.sender);
		if (i % 40 >= 20 && n > 2) {
			what.gone[what.n_gone] = tree_fixture_random_leaf(&c, what.sender);
			what.n_gone += what.gone[1] != what.gone[0];
		}
		CHECK_INT(tree_fixture_commit(&c, &what), 0);
		CHECK_INT(tree_fixture_validate(c.tree), 0);
	}
	tree_fixture_free(&c);
}

TEST(mls_path_of_a_lone_member_has_no_nodes)
{
	struct tree_fixture_commit what = {0};
	struct tree_fixture c;

	CHECK_INT(tree_fixture_init(&c, "alone"), 0);
	CHECK_INT(tree_fixture_commit(&c, &what), 0);
	CHECK_INT(mls_tree_leaf(c.tree, 0)->source, MLS_LEAF_COMMIT);
	CHECK_INT(mls_tree_leaf(c.tree, 0)->parent_hash.n, 0);
	CHECK_INT(tree_fixture_validate(c.tree), 0);
	tree_fixture_free(&c);
}

/* ---- one path, looked at closely ---- */

/* Six members after some commits, and a path that member 0 sends to them. */
struct scene {
	struct tree_fixture c;
	struct mls_tree *sent, *merged;
	struct mls_private sender;
	struct mls_path_secrets secrets;
	uint8_t commit_secret[MLS_HASH];
	struct mls_out context, wire;
	struct mls_path path;
};

static int scene_start(struct scene *s)
{
	struct tree_fixture_commit first = {.n_come = 6},
				   second = {.sender = 3, .n_gone = 1, .gone = {1}};
	struct tree_fixture_member *m;
	struct rd r;
	int err;

	memset(s, 0, sizeof *s);
	err = tree_fixture_init(&s->c, "scene");
	if (!err)
		err = tree_fixture_commit(&s->c, &first);
	if (!err)
		err = tree_fixture_commit(&s->c, &second);
	if (!err)
		err = mls_tree_copy(&s->sent, s->c.tree);
	if (err)
		return err;
	m = s->c.member[0];
	s->sender = m->keys;
	err = mls_path_make(s->sent, &s->sender, &m->signer, tree_fixture_group_id, &s->secrets,
			    s->commit_secret, &s->c.rng);
	if (err)
		return err;
	tree_fixture_context(&s->context, s->sent, 9);
	err = mls_path_write(&s->wire, s->sent, 0, &s->secrets, mls_out_view(&s->context),
			     (struct mls_leaf_set){0}, &s->c.rng);
	if (err)
		return err;
	r = rd_of(s->wire.p, s->wire.n);
	err = mls_path_read(&s->path, &r);
	if (!err)
		err = mls_tree_copy(&s->merged, s->c.tree);
	return err ? err : mls_path_merge(s->merged, 0, &s->path);
}

static void scene_end(struct scene *s)
{
	tree_fixture_free(&s->c);
	mls_tree_free(s->sent);
	mls_tree_free(s->merged);
	mls_path_free(&s->path);
	mls_out_free(&s->context);
	mls_out_free(&s->wire);
}

static int open_as(const struct scene *s, uint32_t leaf, const struct mls_path *path,
		   struct slice context)
{
	struct mls_private me = s->c.member[leaf]->keys, before = me;
	uint8_t commit_secret[MLS_HASH] = {0};
	int err = mls_path_open(&me, s->merged, 0, path, context, (struct mls_leaf_set){0},
				commit_secret);

	if (err)
		return memcmp(&me, &before, sizeof me) == 0 ? err : EINVAL;
	return memcmp(commit_secret, s->commit_secret, MLS_HASH) == 0 ? 0 : EINVAL;
}

TEST(mls_path_opens_only_as_it_was_sealed)
{
	struct scene s;
	struct mls_path path;

	CHECK_INT(scene_start(&s), 0);
	for (uint32_t leaf = 2; leaf < 7; leaf++) {
		CHECK_INT(open_as(&s, leaf, &s.path, mls_out_view(&s.context)), 0);
		CHECK_INT(open_as(&s, leaf, &s.path, mls_slice("another", 7)), EACCES);
		/* The tree is another one than the message says. */
		path = s.path;
		path.n--;
		CHECK_INT(open_as(&s, leaf, &path, mls_out_view(&s.context)), EBADMSG);
	}
	/* Not for the sender. */
	CHECK_INT(open_as(&s, 0, &s.path, mls_out_view(&s.context)), EBADMSG);
	scene_end(&s);
}

/* Where in the route a leaf's ciphertext is. */
static uint32_t node_for(const struct scene *s, uint32_t leaf)
{
	uint32_t i = 0;

	while (!tree_covers(s->secrets.node[i], 2 * leaf))
		i++;
	return i;
}

TEST(mls_path_tampered_ciphertexts_are_refused)
{
	struct scene s;

	CHECK_INT(scene_start(&s), 0);
	for (uint32_t leaf = 2; leaf < 7; leaf++) {
		uint32_t i = node_for(&s, leaf);
		struct slice was = s.path.node[i].ciphertexts;
		uint8_t *bytes = malloc(2 * was.n);
		struct mls_path path = s.path;
		unsigned refused = 0;

		CHECK(bytes);
		path.node[i].ciphertexts = mls_slice(bytes, was.n);
		for (size_t at = 0; at < was.n; at += 7) {
			int err;

			memcpy(bytes, was.p, was.n);
			bytes[at] ^= 1;
			err = open_as(&s, leaf, &path, mls_out_view(&s.context));
			CHECK(err == 0 || err == EACCES || err == EBADMSG);
			refused += err != 0;
		}
		/* What is for others we do not see. */
		CHECK(refused >= 115 / 7);
		/* One too many, one too few. */
		memcpy(bytes, was.p, was.n);
		memcpy(bytes + was.n, was.p, was.n);
		path.node[i].ciphertexts = mls_slice(bytes, 2 * was.n);
		CHECK_INT(open_as(&s, leaf, &path, mls_out_view(&s.context)), EBADMSG);
		path.node[i].ciphertexts = (struct slice){0};
		CHECK_INT(open_as(&s, leaf, &path, mls_out_view(&s.context)), EBADMSG);
		free(bytes);
	}
	scene_end(&s);
}

TEST(mls_path_without_our_key_is_refused)
{
	struct scene s;
	struct tree_fixture_member *m;

	CHECK_INT(scene_start(&s), 0);
	m = s.c.member[2];
	/* The only key that is left to us is one that the tree does not know. */
	mls_private_prune(&m->keys, s.c.tree);
	for (unsigned level = 1; level < MLS_PATH_MAX; level++)
		m->keys.known[level] = false;
	m->keys.key[0].pub[10] ^= 1;
	CHECK_INT(open_as(&s, 2, &s.path, mls_out_view(&s.context)), EBADMSG);
	scene_end(&s);
}

/* A path secret that does not lead to the keys in the tree, though it opens. */
TEST(mls_path_whose_secrets_are_not_its_keys_is_refused)
{
	struct tree_fixture_member *m;
	struct mls_path path = {0};
	struct mls_out wire = {0};
	struct scene s;
	struct rd r;

	CHECK_INT(scene_start(&s), 0);
	m = s.c.member[0];
	for (uint32_t i = 0; i < s.secrets.n; i++)
		s.secrets.secret[i][0] ^= 1;
	CHECK_INT(mls_path_write(&wire, s.sent, m->keys.leaf, &s.secrets, mls_out_view(&s.context),
				 (struct mls_leaf_set){0}, &s.c.rng),
		  0);
	r = rd_of(wire.p, wire.n);
	CHECK_INT(mls_path_read(&path, &r), 0);
	for (uint32_t leaf = 2; leaf < 7; leaf++) {
		struct mls_private keys = s.c.member[leaf]->keys;
		uint32_t i = node_for(&s, leaf);

		CHECK_INT(open_as(&s, leaf, &path, mls_out_view(&s.context)), EBADMSG);
		CHECK_INT(mls_private_implant(&keys, s.merged, 0, s.secrets.secret[i]), EBADMSG);
		CHECK(memcmp(&keys, &s.c.member[leaf]->keys, sizeof keys) == 0);
		s.secrets.secret[i][0] ^= 1;
		CHECK_INT(mls_private_implant(&keys, s.merged, 0, s.secrets.secret[i]), 0);
		s.secrets.secret[i][0] ^= 1;
	}
	mls_path_free(&path);
	mls_out_free(&wire);
	scene_end(&s);
}

static int merge(const struct scene *s, uint32_t sender, const struct mls_path *path)
{
	struct mls_tree *t;
	int err = mls_tree_copy(&t, s->c.tree);

	if (err)
		return err;
	err = mls_path_merge(t, sender, path);
	mls_tree_free(t);
	return err;
}

TEST(mls_path_that_does_not_fit_is_not_merged)
{
	struct mls_path path;
	struct scene s;

	CHECK_INT(scene_start(&s), 0);
	CHECK_INT(merge(&s, 0, &s.path), 0);
	CHECK_INT(merge(&s, 1, &s.path), EBADMSG); /* nobody there */
	CHECK_INT(merge(&s, 2, &s.path), EBADMSG); /* not its place in the tree */
	path = s.path;
	path.n--;
	CHECK_INT(merge(&s, 0, &path), EBADMSG);
	path = s.path;
	path.leaf = s.c.member[4]->leaf; /* of a key package */
	CHECK_INT(merge(&s, 0, &path), EBADMSG);
	/* The same path a second time: no key is new. */
	mls_tree_free(s.c.tree);
	s.c.tree = s.merged;
	s.merged = NULL;
	CHECK_INT(merge(&s, 0, &s.path), EBADMSG);
	scene_end(&s);
}

TEST(mls_path_of_a_lone_member_needs_a_leaf_of_a_commit)
{
	struct mls_leaf_spec spec = {.group_id = tree_fixture_group_id};
	struct mls_path path = {0};
	struct p256_pair fresh;
	struct tree_fixture c;

	CHECK_INT(tree_fixture_init(&c, "lone"), 0);
	CHECK_INT(p256_generate(&fresh, &c.rng), 0);
	spec.encryption_key = mls_slice(fresh.pub, MLS_POINT);
	spec.signer = &c.member[0]->signer;
	spec.source = MLS_LEAF_UPDATE;
	CHECK_INT(mls_leaf_remake(&path.leaf, c.member[0]->leaf, &spec, &c.rng), 0);
	CHECK_INT(mls_path_merge(c.tree, 0, &path), EBADMSG);
	mls_path_free(&path);
	spec.source = MLS_LEAF_COMMIT;
	CHECK_INT(mls_leaf_remake(&path.leaf, c.member[0]->leaf, &spec, &c.rng), 0);
	CHECK_INT(mls_path_merge(c.tree, 64, &path), EBADMSG); /* outside of the tree */
	CHECK_INT(mls_path_merge(c.tree, 0, &path), 0);
	mls_path_free(&path);
	tree_fixture_free(&c);
}

/* A path of member 0 whose hashes and signature are right, whatever its keys are. */
static int forge(struct scene *s, struct mls_path *out, const struct slice *keys,
		 struct slice leaf_key)
{
	struct mls_leaf_spec spec = {.encryption_key = leaf_key,
				     .signer = &s->c.member[0]->signer,
				     .source = MLS_LEAF_COMMIT,
				     .group_id = tree_fixture_group_id};
	uint32_t node[32], copath[32], n = mls_tree_filtered_path(s->c.tree, 0, node, copath);
	uint8_t hash[MLS_HASH];
	struct mls_tree *t;
	int err = mls_tree_copy(&t, s->c.tree);

	*out = (struct mls_path){.n = n};
	for (uint32_t i = n; !err && i-- > 0;) {
		out->node[i].key = keys[i];
		err = mls_tree_set_parent(t, node[i], keys[i], spec.parent_hash);
		if (!err)
			err = mls_tree_parent_hash(t, node[i], copath[i], hash);
		spec.parent_hash = mls_slice(hash, MLS_HASH);
	}
	if (!err)
		err = mls_leaf_remake(&out->leaf, s->c.member[0]->leaf, &spec, &s->c.rng);
	mls_tree_free(t);
	return err;
}

static int merge_forged(struct scene *s, const struct slice *keys, struct slice leaf_key)
{
	struct mls_path path;
	int err = forge(s, &path, keys, leaf_key);

	if (!err)
		err = merge(s, 0, &path);
	mls_path_free(&path);
	return err;
}

TEST(mls_path_keys_must_be_new_and_points)
{
	struct p256_pair fresh[4];
	struct slice keys[3], was, leaf;
	struct scene s;

	CHECK_INT(scene_start(&s), 0);
	CHECK_INT(s.path.n, 2);
	for (int i = 0; i < 4; i++)
		CHECK_INT(p256_generate(&fresh[i], &s.c.rng), 0);
	for (int i = 0; i < 3; i++)
		keys[i] = mls_slice(fresh[i].pub, MLS_POINT);
	leaf = mls_slice(fresh[3].pub, MLS_POINT);
	CHECK_INT(merge_forged(&s, keys, leaf), 0);
	CHECK_INT(merge_forged(&s, keys, mls_tree_key(s.c.tree, 0)),
		  EBADMSG); /* the sender's own, again */
	CHECK_INT(merge_forged(&s, keys, mls_tree_key(s.c.tree, 8)), EBADMSG);
	for (uint32_t i = 0; i < 2; i++) {
		was = keys[i];
		keys[i] = mls_tree_key(s.c.tree, 8);
		CHECK_INT(merge_forged(&s, keys, leaf), EBADMSG);
		keys[i] = mls_tree_key(s.c.tree, 7);
		CHECK_INT(merge_forged(&s, keys, leaf), EBADMSG);
		keys[i] = leaf;
		CHECK_INT(merge_forged(&s, keys, leaf), EBADMSG);
		keys[i] = keys[1 - i];
		CHECK_INT(merge_forged(&s, keys, leaf), EBADMSG);
		keys[i] = was;
		fresh[i].pub[64] ^= 1;
		CHECK_INT(merge_forged(&s, keys, leaf), EBADMSG);
		fresh[i].pub[64] ^= 1;
	}
	CHECK_INT(merge_forged(&s, keys, leaf), 0);
	scene_end(&s);
}

TEST(mls_path_leaf_must_vouch_for_its_nodes)
{
	struct p256_pair fresh[3];
	struct mls_path path, other;
	struct slice keys[2];
	struct mls_leaf *own;
	struct scene s;

	CHECK_INT(scene_start(&s), 0);
	for (int i = 0; i < 3; i++)
		CHECK_INT(p256_generate(&fresh[i], &s.c.rng), 0);
	for (int i = 0; i < 2; i++)
		keys[i] = mls_slice(fresh[i].pub, MLS_POINT);
	CHECK_INT(forge(&s, &path, keys, mls_slice(fresh[2].pub, MLS_POINT)), 0);
	keys[1] = mls_tree_key(s.sent, 7);
	CHECK_INT(forge(&s, &other, keys, mls_slice(fresh[2].pub, MLS_POINT)), 0);
	CHECK_INT(merge(&s, 0, &path), 0);
	own = path.leaf;
	path.leaf = other.leaf;
	CHECK_INT(merge(&s, 0, &path), EBADMSG);
	path.leaf = own;
	mls_path_free(&path);
	mls_path_free(&other);
	scene_end(&s);
}

TEST(mls_path_is_not_for_those_whom_its_commit_adds)
{
	static const uint32_t excluded[] = {4, 5};
	uint8_t commit_secret[MLS_HASH];
	struct mls_path path = {0};
	struct mls_out wire = {0};
	struct scene s;
	struct rd r;

	CHECK_INT(scene_start(&s), 0);
	CHECK_INT(mls_path_write(&wire, s.sent, 0, &s.secrets, mls_out_view(&s.context),
				 (struct mls_leaf_set){excluded, 2}, &s.c.rng),
		  0);
	r = rd_of(wire.p, wire.n);
	CHECK_INT(mls_path_read(&path, &r), 0);
	CHECK(s.wire.n - wire.n > 2 * (MLS_POINT + MLS_HASH + MLS_TAG));
	for (uint32_t leaf = 2; leaf < 7; leaf++) {
		struct mls_private keys = s.c.member[leaf]->keys;
		int err = mls_path_open(&keys, s.merged, 0, &path, mls_out_view(&s.context),
					(struct mls_leaf_set){excluded, 2}, commit_secret);

		CHECK_INT(err, leaf == 4 || leaf == 5 ? EBADMSG : 0);
		if (!err)
			CHECK_MEM(commit_secret, MLS_HASH, s.commit_secret, MLS_HASH);
	}
	mls_path_free(&path);
	mls_out_free(&wire);
	scene_end(&s);
}

TEST(mls_path_blanks_what_it_does_not_set)
{
	struct tree_fixture_commit one = {.n_come = 2}, two = {.n_gone = 1, .gone = {1}};
	struct mls_path_secrets secrets;
	uint8_t commit_secret[MLS_HASH];
	struct tree_fixture c;

	CHECK_INT(tree_fixture_init(&c, "blank"), 0);
	CHECK_INT(tree_fixture_commit(&c, &one), 0);
	CHECK_INT(tree_fixture_commit(&c, &two), 0);
	CHECK_INT(mls_tree_set_parent(c.tree, 1, mls_slice("left over", 9), (struct slice){0}), 0);
	CHECK_INT(mls_path_make(c.tree, &c.member[0]->keys, &c.member[0]->signer,
				tree_fixture_group_id, &secrets, commit_secret, &c.rng),
		  0);
	CHECK(!mls_tree_parent_at(c.tree, 1));
	CHECK(mls_tree_parent_at(c.tree, 3));
	CHECK_INT(tree_fixture_validate(c.tree), 0);
	tree_fixture_free(&c);
}

TEST(mls_path_has_32_nodes_at_most)
{
	struct mls_out o = {0};
	struct mls_path path;
	struct scene s;
	struct rd r;

	CHECK_INT(scene_start(&s), 0);
	for (unsigned n = 32; n <= 33; n++) {
		size_t at;

		mls_out_slice(&o, s.path.leaf->raw);
		at = mls_out_open(&o);
		for (unsigned i = 0; i < n; i++)
			mls_out_be(&o, 0, 2);
		mls_out_close(&o, at);
		r = rd_of(o.p, o.n);
		CHECK_INT(mls_path_read(&path, &r), n == 32 ? 0 : EBADMSG);
		if (n == 32)
			mls_path_free(&path);
		mls_out_free(&o);
	}
	scene_end(&s);
}

TEST(mls_path_cut_short_is_malformed)
{
	struct scene s;

	CHECK_INT(scene_start(&s), 0);
	for (size_t n = 0; n < s.wire.n; n++) {
		struct rd r = rd_of(s.wire.p, n);
		struct mls_path path;

		CHECK_INT(mls_path_read(&path, &r), EBADMSG);
	}
	scene_end(&s);
}

TEST(mls_private_forgets_what_the_tree_has_no_more)
{
	struct mls_private *keys;
	uint8_t compressed[33];
	struct scene s;

	CHECK_INT(scene_start(&s), 0);
	keys = &s.c.member[3]->keys;
	CHECK(keys->known[0] && keys->known[1] && keys->known[2] && keys->known[3]);
	mls_private_prune(keys, s.c.tree);
	CHECK(keys->known[0] && keys->known[1] && keys->known[2] && keys->known[3]);
	mls_private_prune(keys, s.merged); /* member 0 has set what is above both */
	CHECK(keys->known[0] && keys->known[1] && !keys->known[2] && !keys->known[3]);
	/* A compressed key is the same key, if the sign is right. */
	compressed[0] = (uint8_t)(2 | (keys->key[1].pub[64] & 1));
	memcpy(compressed + 1, keys->key[1].pub + 1, 32);
	CHECK_INT(mls_tree_set_parent(s.merged, 5, mls_slice(compressed, 33), mls_slice("h", 1)),
		  0);
	mls_private_prune(keys, s.merged);
	CHECK(keys->known[1]);
	compressed[0] ^= 1;
	CHECK_INT(mls_tree_set_parent(s.merged, 5, mls_slice(compressed, 33), mls_slice("h", 1)),
		  0);
	mls_private_prune(keys, s.merged);
	CHECK(keys->known[0] && !keys->known[1]);
	scene_end(&s);
}

TEST(mls_path_secret_is_for_members)
{
	struct mls_private keys = {0};
	struct scene s;

	CHECK_INT(scene_start(&s), 0);
	for (uint32_t leaf = 1; leaf < 60; leaf += 50) { /* a blank leaf, and one outside */
		keys.leaf = leaf;
		CHECK_INT(mls_private_implant(&keys, s.merged, 0, s.secrets.secret[0]), EBADMSG);
	}
	keys.leaf = 2;
	CHECK_INT(mls_private_implant(&keys, s.merged, 2, s.secrets.secret[0]), EBADMSG);
	CHECK_INT(mls_private_implant(&keys, s.merged, 51, s.secrets.secret[0]), EBADMSG);
	CHECK_INT(mls_private_implant(&keys, s.merged, 0, s.secrets.secret[0]), 0);
	scene_end(&s);
}

TEST(mls_path_make_is_for_members)
{
	struct mls_path_secrets secrets;
	struct mls_private nobody = {.leaf = 1};
	uint8_t commit_secret[MLS_HASH];
	struct mls_out o = {0};
	struct scene s;

	CHECK_INT(scene_start(&s), 0);
	CHECK_INT(mls_path_make(s.c.tree, &nobody, &s.c.member[0]->signer, tree_fixture_group_id,
				&secrets, commit_secret, &s.c.rng),
		  EINVAL);
	CHECK_INT(mls_path_write(&o, s.c.tree, 1, &s.secrets, mls_slice("", 0),
				 (struct mls_leaf_set){0}, &s.c.rng),
		  EINVAL);
	s.secrets.n++;
	CHECK_INT(mls_path_write(&o, s.sent, 0, &s.secrets, mls_slice("", 0),
				 (struct mls_leaf_set){0}, &s.c.rng),
		  EINVAL);
	CHECK_INT(o.n, 0);
	scene_end(&s);
}

TEST_OOM(mls_path_when_memory_ends)
{
	struct tree_fixture_commit first = {.n_come = 3},
				   second = {.sender = 1, .n_gone = 1, .gone = {2}, .n_come = 1};
	struct tree_fixture c;
	int err = tree_fixture_init(&c, "oom");

	if (!err)
		err = tree_fixture_commit(&c, &first);
	if (!err)
		err = tree_fixture_commit(&c, &second);
	tree_fixture_free(&c);
	CHECK_OOM(err, (void)err);
}
