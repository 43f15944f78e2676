#include "tests/test.h"

#include "tests/unit/mediad/mls/crowd.h"

/* The tree as a newcomer would see it: nothing is remembered about its leaves. */
static int judge_as_newcomer(const struct mls_tree *t)
{
	struct mls_tree *read = NULL;
	struct mls_out o = {0};
	int err;

	mls_tree_write(t, &o);
	err = o.err ? o.err : mls_tree_read(&read, mls_out_view(&o));
	if (!err)
		err = mls_tree_validate(read, crowd_group);
	mls_tree_free(read);
	mls_out_free(&o);
	return err;
}

/* ---- groups that live ---- */

TEST(mls_paths_of_anyone_are_opened_by_everyone)
{
	enum { STEPS = 60 };
	struct crowd c;

	CHECK_INT(crowd_start(&c, "everyone"), 0);
	for (unsigned i = 0; i < STEPS; i++) {
		uint32_t n = mls_tree_members(c.tree);
		struct crowd_commit what = {.sender = crowd_any(&c, UINT32_MAX)};

		/* Grows to about 20, then shrinks to 1, then grows again. */
		if (i % 40 < 20)
			what.n_come = crowd_below(&c.rng, 4);
		if (i % 40 >= 10 && n > 1)
			what.gone[what.n_gone++] = crowd_any(&c, what.sender);
		if (i % 40 >= 20 && n > 2) {
			what.gone[what.n_gone] = crowd_any(&c, what.sender);
			what.n_gone += what.gone[1] != what.gone[0];
		}
		CHECK_INT(crowd_commit(&c, &what), 0);
		CHECK_INT(judge_as_newcomer(c.tree), 0);
	}
	crowd_end(&c);
}

TEST(mls_path_of_a_lone_member_has_no_nodes)
{
	struct crowd_commit what = {0};
	struct crowd c;

	CHECK_INT(crowd_start(&c, "alone"), 0);
	CHECK_INT(crowd_commit(&c, &what), 0);
	CHECK_INT(mls_tree_leaf(c.tree, 0)->source, MLS_LEAF_COMMIT);
	CHECK_INT(mls_tree_leaf(c.tree, 0)->parent_hash.n, 0);
	CHECK_INT(judge_as_newcomer(c.tree), 0);
	crowd_end(&c);
}

/* ---- one path, looked at closely ---- */

/* Six members after some commits, and a path that member 0 sends to them. */
struct scene {
	struct crowd c;
	struct mls_tree *sent, *merged;
	struct mls_private sender;
	struct mls_path_secrets secrets;
	uint8_t commit_secret[MLS_HASH];
	struct mls_out context, wire;
	struct mls_path path;
};

static int scene_start(struct scene *s)
{
	struct crowd_commit first = {.n_come = 6}, second = {.sender = 3, .n_gone = 1, .gone = {1}};
	struct crowd_member *m;
	struct rd r;
	int err;

	memset(s, 0, sizeof *s);
	err = crowd_start(&s->c, "scene");
	if (!err)
		err = crowd_commit(&s->c, &first);
	if (!err)
		err = crowd_commit(&s->c, &second);
	if (!err)
		err = mls_tree_copy(&s->sent, s->c.tree);
	if (err)
		return err;
	m = s->c.member[0];
	s->sender = m->keys;
	err = mls_path_make(s->sent, &s->sender, &m->signer, crowd_group, &s->secrets, s->commit_secret, &s->c.rng);
	if (err)
		return err;
	crowd_context(&s->context, s->sent, 9);
	err = mls_path_write(&s->wire, s->sent, 0, &s->secrets, mls_out_view(&s->context), NULL, 0, &s->c.rng);
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
	crowd_end(&s->c);
	mls_tree_free(s->sent);
	mls_tree_free(s->merged);
	mls_path_free(&s->path);
	mls_out_free(&s->context);
	mls_out_free(&s->wire);
}

static int open_as(const struct scene *s, uint32_t leaf, const struct mls_path *path, struct slice context)
{
	struct mls_private me = s->c.member[leaf]->keys, before = me;
	uint8_t commit_secret[MLS_HASH] = {0};
	int err = mls_path_open(&me, s->merged, 0, path, context, NULL, 0, commit_secret);

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
	struct crowd_member *m;

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
	struct crowd_member *m;
	struct mls_path path = {0};
	struct mls_out wire = {0};
	struct scene s;
	struct rd r;

	CHECK_INT(scene_start(&s), 0);
	m = s.c.member[0];
	for (uint32_t i = 0; i < s.secrets.n; i++)
		s.secrets.secret[i][0] ^= 1;
	CHECK_INT(mls_path_write(&wire, s.sent, m->keys.leaf, &s.secrets, mls_out_view(&s.context), NULL, 0, &s.c.rng), 0);
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
	struct mls_leaf *old;
	struct mls_path path;
	uint8_t other[MLS_POINT];
	struct p256_pair fresh;
	struct scene s;

	CHECK_INT(scene_start(&s), 0);
	CHECK_INT(merge(&s, 0, &s.path), 0);
	CHECK_INT(merge(&s, 1, &s.path), EBADMSG);  /* nobody there */
	CHECK_INT(merge(&s, 2, &s.path), EBADMSG);  /* not its place in the tree */
	CHECK_INT(merge(&s, 64, &s.path), EBADMSG); /* outside */
	path = s.path;
	path.n--;
	CHECK_INT(merge(&s, 0, &path), EBADMSG);
	path = s.path;
	path.leaf = s.c.member[4]->leaf; /* of a key package */
	CHECK_INT(merge(&s, 0, &path), EBADMSG);
	/* Keys that are there already, twice the same, or none. */
	old = mls_tree_leaf(s.c.tree, 4);
	for (uint32_t i = 0; i < s.path.n; i++) {
		path = s.path;
		path.node[i].key = old->encryption_key;
		CHECK_INT(merge(&s, 0, &path), EBADMSG);
		path.node[i].key = mls_tree_key(s.c.tree, s.secrets.node[s.path.n - 1]);
		CHECK_INT(merge(&s, 0, &path), EBADMSG);
		path.node[i].key = path.leaf->encryption_key;
		CHECK_INT(merge(&s, 0, &path), EBADMSG);
		path.node[i].key = path.node[i ? 0 : 1].key;
		CHECK_INT(merge(&s, 0, &path), EBADMSG);
		memcpy(other, s.path.node[i].key.p, MLS_POINT);
		other[64] ^= 1;
		path.node[i].key = mls_slice(other, MLS_POINT);
		CHECK_INT(merge(&s, 0, &path), EBADMSG);
		/* A good key, but not the one that the leaf's parent hash is about. */
		CHECK_INT(p256_generate(&fresh, &s.c.rng), 0);
		path.node[i].key = mls_slice(fresh.pub, MLS_POINT);
		CHECK_INT(merge(&s, 0, &path), EBADMSG);
	}
	/* The leaf keeps its old key. */
	mls_tree_free(s.c.tree);
	s.c.tree = s.merged;
	s.merged = NULL;
	CHECK_INT(merge(&s, 0, &s.path), EBADMSG);
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
	struct scene s;

	CHECK_INT(scene_start(&s), 0);
	keys = &s.c.member[3]->keys;
	CHECK(keys->known[0] && keys->known[1] && keys->known[2] && keys->known[3]);
	mls_private_prune(keys, s.c.tree);
	CHECK(keys->known[0] && keys->known[1] && keys->known[2] && keys->known[3]);
	mls_private_prune(keys, s.merged); /* member 0 has set what is above both */
	CHECK(keys->known[0] && keys->known[1] && !keys->known[2] && !keys->known[3]);
	mls_tree_blank(s.merged, 5);
	mls_private_prune(keys, s.merged);
	CHECK(keys->known[0] && !keys->known[1]);
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
	CHECK_INT(mls_path_make(s.c.tree, &nobody, &s.c.member[0]->signer, crowd_group, &secrets, commit_secret, &s.c.rng),
		  EINVAL);
	CHECK_INT(mls_path_write(&o, s.c.tree, 1, &s.secrets, mls_slice("", 0), NULL, 0, &s.c.rng), EINVAL);
	CHECK_INT(o.n, 0);
	scene_end(&s);
}

TEST_OOM(mls_path_when_memory_ends)
{
	struct crowd_commit first = {.n_come = 3}, second = {.sender = 1, .n_gone = 1, .gone = {2}, .n_come = 1};
	struct crowd c;
	int err = crowd_start(&c, "oom");

	if (!err)
		err = crowd_commit(&c, &first);
	if (!err)
		err = crowd_commit(&c, &second);
	crowd_end(&c);
	CHECK_OOM(err, (void)err);
}

/* ---- trees from outside ---- */

TEST(mls_tree_of_another_group_is_refused)
{
	struct scene s;
	struct mls_tree *read;
	struct mls_out o = {0};

	CHECK_INT(scene_start(&s), 0);
	CHECK_INT(judge_as_newcomer(s.merged), 0);
	mls_tree_write(s.merged, &o);
	CHECK_INT(mls_tree_read(&read, mls_out_view(&o)), 0);
	CHECK_INT(mls_tree_validate(read, mls_slice("another", 7)), EACCES);
	mls_tree_free(read);
	mls_out_free(&o);
	scene_end(&s);
}

TEST(mls_tree_with_a_forged_parent_is_refused)
{
	struct scene s;
	struct p256_pair forged;
	uint32_t parents = 0;

	CHECK_INT(scene_start(&s), 0);
	CHECK_INT(p256_generate(&forged, &s.c.rng), 0);
	for (uint32_t x = 1; x < tree_width(mls_tree_leaves(s.merged)); x += 2) {
		const struct mls_parent *p = mls_tree_parent_at(s.merged, x);
		struct mls_tree *t;

		if (!p)
			continue;
		parents++;
		CHECK_INT(mls_tree_copy(&t, s.merged), 0);
		/* Another key under the same parent hash: what is below tells. */
		CHECK_INT(mls_tree_set_parent(t, x, mls_slice(forged.pub, MLS_POINT), p->parent_hash), 0);
		CHECK_INT(judge_as_newcomer(t), EBADMSG);
		CHECK_INT(mls_tree_set_parent(t, x, p->encryption_key, mls_slice("below me", 8)), 0);
		CHECK_INT(judge_as_newcomer(t), EBADMSG);
		mls_tree_free(t);
	}
	CHECK_INT(parents, 3);
	scene_end(&s);
}

TEST(mls_tree_with_a_key_twice_is_refused)
{
	struct mls_rng rng = crowd_rng("twice");
	struct crowd_member a, b;
	struct mls_tree *t;
	uint32_t at;

	CHECK_INT(crowd_join(&a, 1, &rng), 0);
	CHECK_INT(crowd_join(&b, 2, &rng), 0);
	CHECK_INT(mls_tree_alloc(&t), 0);
	CHECK_INT(mls_tree_validate(t, crowd_group), EBADMSG); /* nobody in it */
	CHECK_INT(mls_tree_add(t, a.leaf, &at), 0);
	CHECK_INT(mls_tree_add(t, b.leaf, &at), 0);
	CHECK_INT(judge_as_newcomer(t), 0);
	CHECK_INT(mls_tree_unique_keys(t), 0);
	mls_tree_free(t);
	for (int signature = 0; signature < 2; signature++) {
		struct mls_leaf_spec spec = {.identity = mls_slice("b", 1),
					     .encryption_key = signature ? b.leaf->encryption_key : a.leaf->encryption_key,
					     .signer = signature ? &a.signer : &b.signer,
					     .source = MLS_LEAF_KEY_PACKAGE};
		struct mls_leaf *l;

		CHECK_INT(mls_leaf_make(&l, &spec, &rng), 0);
		CHECK_INT(mls_tree_alloc(&t), 0);
		CHECK_INT(mls_tree_add(t, a.leaf, &at), 0);
		CHECK_INT(mls_tree_add(t, l, &at), 0);
		CHECK_INT(judge_as_newcomer(t), EBADMSG);
		CHECK_INT(mls_tree_unique_keys(t), EBADMSG);
		mls_tree_free(t);
		mls_leaf_free(l);
	}
	crowd_leave(&a);
	crowd_leave(&b);
}

/* Somebody who is put beside a member, so that paths are sealed to them, while no hash changes: only the third condition of
 * section 7.9.2 tells. Put there by the rules, among the unmerged, they are welcome. */
TEST(mls_tree_with_a_stranger_beside_a_member_is_refused)
{
	struct crowd_commit grow = {.n_come = 2}, cut = {.sender = 0, .n_gone = 1, .gone = {1}};
	struct mls_rng rng = crowd_rng("somebody else");
	struct crowd_member stranger;
	struct mls_tree *t;
	struct crowd c;
	uint32_t at;

	CHECK_INT(crowd_start(&c, "stranger"), 0);
	CHECK_INT(crowd_commit(&c, &grow), 0);
	CHECK_INT(crowd_commit(&c, &cut), 0);
	CHECK_INT(crowd_join(&stranger, 99, &rng), 0);
	CHECK(mls_tree_parent_at(c.tree, 3) && !mls_tree_parent_at(c.tree, 1) && !mls_tree_leaf(c.tree, 1));
	CHECK_INT(mls_tree_copy(&t, c.tree), 0);
	CHECK_INT(mls_tree_set_leaf(t, 1, stranger.leaf), 0);
	CHECK_INT(judge_as_newcomer(t), EBADMSG);
	mls_tree_free(t);
	CHECK_INT(mls_tree_copy(&t, c.tree), 0);
	CHECK_INT(mls_tree_add(t, stranger.leaf, &at), 0);
	CHECK_INT(at, 1);
	CHECK_INT(judge_as_newcomer(t), 0);
	mls_tree_free(t);
	crowd_leave(&stranger);
	crowd_end(&c);
}
