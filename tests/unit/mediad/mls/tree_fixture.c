#include "tests/unit/mediad/mls/tree_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

const struct slice tree_fixture_group_id = {
	.p = (const uint8_t *)"\x0c\xde\x77\xea\xdc\x82\x30\x33", .n = 8};

struct mls_rng tree_fixture_rng(const char *seed)
{
	uint8_t key[MLS_SEED] = {0};
	struct mls_rng rng;

	snprintf((char *)key, sizeof key, "%s", seed);
	mls_rng_seed(&rng, key);
	return rng;
}

uint32_t tree_fixture_random(struct mls_rng *rng, uint32_t n)
{
	uint32_t v;

	mls_rng_fill(rng, &v, sizeof v);
	return v % n;
}

int tree_fixture_member_init(struct tree_fixture_member *m, uint64_t user, struct mls_rng *rng)
{
	uint8_t id[8];
	struct wr w = wr_of(id, sizeof id);
	struct mls_leaf_spec spec = {.identity = mls_slice(id, sizeof id),
				     .encryption_key = mls_slice(m->keys.key[0].pub, MLS_POINT),
				     .signer = &m->signer,
				     .source = MLS_LEAF_KEY_PACKAGE};
	int err;

	*m = (struct tree_fixture_member){.user = user, .keys.known[0] = true};
	wr_be(&w, user, 8);
	err = p256_generate(&m->signer, rng);
	if (!err)
		err = p256_generate(&m->keys.key[0], rng);
	return err ? err : mls_leaf_make(&m->leaf, &spec, rng);
}

void tree_fixture_member_free(struct tree_fixture_member *m)
{
	mls_leaf_free(m->leaf);
	*m = (struct tree_fixture_member){0};
}

struct mls_leaf *tree_fixture_fake_leaf(uint32_t id)
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

/* ---- a group ---- */

void tree_fixture_context(struct mls_out *o, const struct mls_tree *t, uint64_t epoch)
{
	uint8_t hash[MLS_HASH] = {0};

	if (mls_tree_root_hash(t, hash))
		o->err = ENOMEM;
	mls_out_vec(o, tree_fixture_group_id);
	mls_out_be(o, epoch, 8);
	mls_out_vec(o, mls_slice(hash, MLS_HASH));
}

static int come(struct tree_fixture *c, struct mls_tree *t, uint32_t *at)
{
	struct tree_fixture_member *m = calloc(1, sizeof *m);
	int err = m ? tree_fixture_member_init(m, ++c->users, &c->rng) : ENOMEM;

	if (!err)
		err = mls_tree_add(t, m->leaf, at);
	if (err) {
		if (m)
			tree_fixture_member_free(m);
		free(m);
		return err;
	}
	m->keys.leaf = *at;
	c->member[*at] = m;
	return 0;
}

static void go(struct tree_fixture *c, uint32_t leaf)
{
	if (c->member[leaf])
		tree_fixture_member_free(c->member[leaf]);
	free(c->member[leaf]);
	c->member[leaf] = NULL;
}

int tree_fixture_init(struct tree_fixture *c, const char *seed)
{
	uint32_t at;
	int err;

	*c = (struct tree_fixture){.rng = tree_fixture_rng(seed)};
	err = mls_tree_alloc(&c->tree);
	return err ? err : come(c, c->tree, &at);
}

void tree_fixture_free(struct tree_fixture *c)
{
	for (uint32_t i = 0; i < TREE_FIXTURE_MAX; i++)
		go(c, i);
	c->tree = mls_tree_free(c->tree);
}

uint32_t tree_fixture_random_leaf(struct tree_fixture *c, uint32_t not )
{
	uint32_t i = tree_fixture_random(&c->rng, mls_tree_leaves(c->tree));

	while (!c->member[i] || i == not )
		i = (i + 1) % mls_tree_leaves(c->tree);
	return i;
}

/* What a commit is made of, on its way. */
struct flight {
	struct mls_tree *before, *sent,
		*merged; /* with proposals; with the sender's path; the same at the others */
	struct mls_private sender;
	struct mls_path_secrets secrets;
	uint8_t commit_secret[MLS_HASH];
	struct mls_out context, wire;
	struct mls_path path;
	uint32_t added[TREE_FIXTURE_MAX], n_added;
};

static int send_path(struct tree_fixture *c, struct flight *f, uint32_t sender)
{
	struct tree_fixture_member *m = c->member[sender];
	struct rd r;
	int err = mls_tree_copy(&f->sent, f->before);

	f->sender = m->keys;
	if (!err)
		err = mls_path_make(f->sent, &f->sender, &m->signer, tree_fixture_group_id,
				    &f->secrets, f->commit_secret, &c->rng);
	if (err)
		return err;
	tree_fixture_context(&f->context, f->sent, c->epoch + 1);
	err = mls_path_write(&f->wire, f->sent, sender, &f->secrets, mls_out_view(&f->context),
			     (struct mls_leaf_set){f->added, f->n_added}, &c->rng);
	if (err)
		return err;
	r = rd_of(f->wire.p, f->wire.n);
	err = mls_path_read(&f->path, &r);
	if (!err)
		err = mls_tree_copy(&f->merged, f->before);
	if (!err)
		err = mls_path_merge(f->merged, sender, &f->path);
	return err ? err : rd_left(&r) ? EINVAL : 0;
}

static bool came(const struct flight *f, uint32_t leaf)
{
	for (uint32_t i = 0; i < f->n_added; i++)
		if (f->added[i] == leaf)
			return true;
	return false;
}

/* The lowest path secret that covers a leaf, as a Welcome tells it. */
static const uint8_t *secret_for(const struct flight *f, uint32_t leaf)
{
	for (uint32_t i = 0; i < f->secrets.n; i++)
		if (tree_covers(f->secrets.node[i], 2 * leaf))
			return f->secrets.secret[i];
	return NULL;
}

/* No private key is left that the tree knows nothing of. */
static bool all_current(const struct mls_private *keys, const struct mls_tree *t)
{
	struct mls_private pruned = *keys;

	mls_private_prune(&pruned, t);
	return memcmp(&pruned, keys, sizeof pruned) == 0;
}

static int receive_path(struct tree_fixture *c, struct flight *f, uint32_t sender, uint32_t leaf)
{
	struct tree_fixture_member *m = c->member[leaf];
	uint8_t commit_secret[MLS_HASH];
	int err;

	if (came(f, leaf))
		return mls_private_implant(&m->keys, f->merged, sender, secret_for(f, leaf));
	err = mls_path_open(&m->keys, f->merged, sender, &f->path, mls_out_view(&f->context),
			    (struct mls_leaf_set){f->added, f->n_added}, commit_secret);
	if (err)
		return err;
	return memcmp(commit_secret, f->commit_secret, MLS_HASH) == 0 &&
			       all_current(&m->keys, f->merged)
		       ? 0
		       : EINVAL;
}

static bool same_hash(const struct mls_tree *a, const struct mls_tree *b)
{
	uint8_t x[MLS_HASH], y[MLS_HASH];

	return mls_tree_root_hash(a, x) == 0 && mls_tree_root_hash(b, y) == 0 &&
	       memcmp(x, y, MLS_HASH) == 0;
}

int tree_fixture_commit(struct tree_fixture *c, const struct tree_fixture_commit *what)
{
	struct flight f = {0};
	int err = mls_tree_copy(&f.before, c->tree);

	for (uint32_t i = 0; !err && i < what->n_gone; i++) {
		err = mls_tree_remove(f.before, what->gone[i]);
		go(c, what->gone[i]);
	}
	for (uint32_t i = 0; !err && i < what->n_come; i++, f.n_added++)
		err = come(c, f.before, &f.added[i]);
	if (!err)
		err = send_path(c, &f, what->sender);
	for (uint32_t i = 0; !err && i < TREE_FIXTURE_MAX; i++)
		if (c->member[i] && i != what->sender)
			err = receive_path(c, &f, what->sender, i);
	if (!err && !same_hash(f.sent, f.merged))
		err = EINVAL;
	if (!err) {
		c->member[what->sender]->keys = f.sender;
		c->tree = mls_tree_free(c->tree);
		c->tree = f.merged;
		f.merged = NULL;
		c->epoch++;
	}
	mls_tree_free(f.before);
	mls_tree_free(f.sent);
	mls_tree_free(f.merged);
	mls_path_free(&f.path);
	mls_out_free(&f.context);
	mls_out_free(&f.wire);
	return err;
}

int tree_fixture_validate(const struct mls_tree *t)
{
	struct mls_tree *read = NULL;
	struct mls_out o = {0};
	int err;

	mls_tree_write(t, &o);
	err = o.err ? o.err : mls_tree_read(&read, mls_out_view(&o));
	if (!err)
		err = mls_tree_validate(read, tree_fixture_group_id);
	mls_tree_free(read);
	mls_out_free(&o);
	return err;
}
