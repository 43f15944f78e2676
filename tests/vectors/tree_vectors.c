/* Ratchet trees: validation, operations, TreeKEM. */
#include "tests/vectors/vectors.h"

#include <errno.h>
#include <stdlib.h>

#include "mediad/mls/treekem.h"

/* ---- tree validation ---- */

static bool resolution_is(const struct mls_tree *t, uint32_t node, const json_t *want,
			  uint32_t *nodes)
{
	uint32_t n = mls_tree_resolution(t, node, nodes);

	if (n != json_array_size(want))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (nodes[i] != json_integer_value(json_array_get(want, i)))
			return false;
	return true;
}

static bool written_is(const struct mls_tree *t, struct slice want)
{
	struct mls_out o = {0};
	bool same;

	mls_tree_write(t, &o);
	same = !o.err && mls_equal(mls_out_view(&o), want);
	mls_out_free(&o);
	return same;
}

bool vec_tree_validation(const json_t *c)
{
	const json_t *hashes = json_object_get(c, "tree_hashes"),
		     *resolutions = json_object_get(c, "resolutions");
	struct slice bytes = vec_get(c, "tree");
	struct mls_tree *t = NULL;
	uint32_t *nodes = NULL;
	uint8_t hash[MLS_HASH];
	bool ok = false;

	VEC(mls_tree_read(&t, bytes) == 0);
	VEC(written_is(t, bytes));
	VEC(json_array_size(hashes) == tree_width(mls_tree_leaves(t)));
	VEC(json_array_size(resolutions) == json_array_size(hashes));
	nodes = calloc(mls_tree_leaves(t), sizeof *nodes);
	VEC(nodes);
	for (uint32_t x = 0; x < json_array_size(hashes); x++) {
		VEC(mls_tree_hash(t, x, hash) == 0);
		VEC(mls_equal(mls_slice(hash, MLS_HASH), vec_hex(json_array_get(hashes, x))));
		VEC(resolution_is(t, x, json_array_get(resolutions, x), nodes));
	}
	VEC(mls_tree_check_parent_hashes(t) == 0);
	VEC(mls_tree_validate(t, vec_get(c, "group_id")) == 0);
	ok = true;
out:
	free(nodes);
	mls_tree_free(t);
	return ok;
}

/* ---- tree operations ---- */

static bool root_is(const struct mls_tree *t, struct slice want)
{
	uint8_t hash[MLS_HASH];

	return mls_tree_root_hash(t, hash) == 0 && mls_equal(mls_slice(hash, MLS_HASH), want);
}

static int apply(struct mls_tree *t, struct slice proposal, uint32_t sender)
{
	struct rd r = rd_of(proposal.p, proposal.n);
	struct mls_key_package *k;
	struct mls_leaf *l;
	uint32_t leaf;
	int err;

	switch (rd_be(&r, 2)) {
	case MLS_PROPOSAL_ADD:
		err = mls_key_package_read(&k, &r);
		if (err)
			return err;
		err = mls_tree_add(t, k->leaf, &leaf);
		mls_key_package_free(k);
		return err;
	case MLS_PROPOSAL_UPDATE:
		err = mls_leaf_read(&l, &r);
		if (err)
			return err;
		err = mls_tree_update(t, sender, l);
		mls_leaf_free(l);
		return err;
	default:
		return mls_tree_remove(t, (uint32_t)rd_be(&r, 4));
	}
}

bool vec_tree_operations(const json_t *c)
{
	struct mls_tree *before = NULL, *t = NULL;
	bool ok = false;

	VEC(mls_tree_read(&before, vec_get(c, "tree_before")) == 0);
	VEC(root_is(before, vec_get(c, "tree_hash_before")));
	VEC(mls_tree_copy(&t, before) == 0);
	VEC(apply(t, vec_get(c, "proposal"), (uint32_t)vec_uint(c, "proposal_sender")) == 0);
	VEC(written_is(t, vec_get(c, "tree_after")));
	VEC(root_is(t, vec_get(c, "tree_hash_after")));
	VEC(written_is(before, vec_get(c, "tree_before")));
	ok = true;
out:
	mls_tree_free(before);
	mls_tree_free(t);
	return ok;
}

/* ---- TreeKEM ---- */

/* A member of the vector's group. */
struct member {
	struct mls_private keys;
	struct p256_pair signer;
};

static bool pair_of(struct p256_pair *out, struct slice priv)
{
	return priv.n == MLS_SCALAR && p256_from_priv(out, priv.p, P256_ANY) == 0;
}

static bool read_member(struct member *m, const struct mls_tree *t, const json_t *c)
{
	const json_t *secrets = json_object_get(c, "path_secrets"), *s;
	uint8_t node_secret[MLS_HASH];
	bool ok = false;
	size_t i;

	*m = (struct member){.keys.leaf = (uint32_t)vec_uint(c, "index"), .keys.known[0] = true};
	VEC(mls_tree_leaf(t, m->keys.leaf));
	VEC(pair_of(&m->keys.key[0], vec_get(c, "encryption_priv")));
	VEC(pair_of(&m->signer, vec_get(c, "signature_priv")));
	VEC(mls_equal(mls_slice(m->keys.key[0].pub, MLS_POINT), mls_tree_key(t, 2 * m->keys.leaf)));
	VEC(mls_equal(mls_slice(m->signer.pub, MLS_POINT),
		      mls_tree_leaf(t, m->keys.leaf)->signature_key));
	json_array_foreach((json_t *)secrets, i, s)
	{
		uint32_t node = (uint32_t)vec_uint(s, "node");
		unsigned level = tree_level(node);

		VEC(mls_derive_secret(node_secret, vec_get(s, "path_secret"), "node") == 0);
		VEC(hpke_derive_pair(&m->keys.key[level], mls_slice(node_secret, MLS_HASH)) == 0);
		VEC(mls_equal(mls_slice(m->keys.key[level].pub, MLS_POINT), mls_tree_key(t, node)));
		m->keys.known[level] = true;
	}
	ok = true;
out:
	return ok;
}

/* The provisional GroupContext of a path: without extensions. */
static void write_context(struct mls_out *o, const json_t *c, const struct mls_tree *t)
{
	uint8_t hash[MLS_HASH];

	if (mls_tree_root_hash(t, hash))
		o->err = ENOMEM;
	mls_out_be(o, MLS_VERSION, 2);
	mls_out_be(o, MLS_SUITE, 2);
	mls_out_vec(o, vec_get(c, "group_id"));
	mls_out_be(o, vec_uint(c, "epoch"), 8);
	mls_out_vec(o, mls_slice(hash, MLS_HASH));
	mls_out_vec(o, vec_get(c, "confirmed_transcript_hash"));
	mls_out_vec(o, (struct slice){0});
}

/* True if the other members compute `want` from this path. told: the path secret that each decrypts
 * according to the vector, or NULL. */
static bool all_open(const json_t *c, const struct mls_tree *before, const struct mls_tree *merged,
		     uint32_t sender, const struct mls_path *path, struct slice want,
		     const json_t *told)
{
	const json_t *list = json_object_get(c, "leaves_private");
	uint8_t commit_secret[MLS_HASH];
	struct mls_out context = {0};
	struct member m, n;
	bool ok = false;

	write_context(&context, c, merged);
	for (size_t i = 0; i < json_array_size(list); i++) {
		VEC(read_member(&m, before, json_array_get(list, i)));
		if (m.keys.leaf == sender)
			continue;
		n = m;
		VEC(mls_path_open(&m.keys, merged, sender, path, mls_out_view(&context),
				  (struct mls_leaf_set){0}, commit_secret) == 0);
		VEC(mls_equal(mls_slice(commit_secret, MLS_HASH), want));
		if (!told)
			continue;
		/* The keys derived from the hidden path secret verify it. */
		VEC(mls_private_implant(&n.keys, merged, sender,
					vec_hex(json_array_get(told, m.keys.leaf)).p) == 0);
		mls_private_prune(&n.keys, merged);
		VEC(memcmp(&n.keys, &m.keys, sizeof n.keys) == 0);
	}
	ok = true;
out:
	mls_out_free(&context);
	return ok;
}

static bool check_update_path(const json_t *c, const struct mls_tree *t, const json_t *update)
{
	struct slice bytes = vec_get(update, "update_path"), group = vec_get(c, "group_id");
	uint32_t sender = (uint32_t)vec_uint(update, "sender");
	struct rd r = rd_of(bytes.p, bytes.n);
	struct mls_path path = {0};
	struct mls_tree *merged = NULL;
	bool ok = false;

	VEC(mls_path_read(&path, &r) == 0 && rd_left(&r) == 0);
	VEC(mls_leaf_validate(path.leaf, group, sender) == 0);
	VEC(mls_tree_copy(&merged, t) == 0);
	VEC(mls_path_merge(merged, sender, &path) == 0);
	VEC(root_is(merged, vec_get(update, "tree_hash_after")));
	VEC(mls_tree_validate(merged, group) == 0);
	VEC(all_open(c, t, merged, sender, &path, vec_get(update, "commit_secret"),
		     json_object_get(update, "path_secrets")));
	ok = true;
out:
	mls_path_free(&path);
	mls_tree_free(merged);
	return ok;
}

/* Creates a path of this member, which all others must decrypt. */
static bool check_own_path(const json_t *c, const struct mls_tree *t, const json_t *private,
			   struct mls_rng *rng)
{
	struct mls_tree *ours = NULL, *merged = NULL;
	struct mls_path_secrets secrets;
	uint8_t commit_secret[MLS_HASH];
	struct mls_out context = {0}, o = {0};
	struct mls_path path = {0};
	struct member m;
	struct rd r;
	bool ok = false;

	VEC(read_member(&m, t, private));
	VEC(mls_tree_copy(&ours, t) == 0 && mls_tree_copy(&merged, t) == 0);
	VEC(mls_path_make(ours, &m.keys, &m.signer, vec_get(c, "group_id"), &secrets, commit_secret,
			  rng) == 0);
	write_context(&context, c, ours);
	VEC(mls_path_write(&o, ours, m.keys.leaf, &secrets, mls_out_view(&context),
			   (struct mls_leaf_set){0}, rng) == 0);
	r = rd_of(o.p, o.n);
	VEC(mls_path_read(&path, &r) == 0 && rd_left(&r) == 0);
	VEC(mls_path_merge(merged, m.keys.leaf, &path) == 0);
	VEC(mls_tree_validate(merged, vec_get(c, "group_id")) == 0);
	VEC(all_open(c, t, merged, m.keys.leaf, &path, mls_slice(commit_secret, MLS_HASH), NULL));
	ok = true;
out:
	mls_out_free(&context);
	mls_out_free(&o);
	mls_path_free(&path);
	mls_tree_free(ours);
	mls_tree_free(merged);
	return ok;
}

bool vec_treekem(const json_t *c)
{
	const json_t *updates = json_object_get(c, "update_paths"),
		     *private = json_object_get(c, "leaves_private");
	static const uint8_t seed[MLS_SEED] = "treekem";
	struct mls_tree *t = NULL;
	struct mls_rng rng;
	bool ok = false;

	mls_rng_seed(&rng, seed);
	VEC(mls_tree_read(&t, vec_get(c, "ratchet_tree")) == 0);
	VEC(mls_tree_validate(t, vec_get(c, "group_id")) == 0);
	for (size_t i = 0; i < json_array_size(updates); i++)
		VEC(check_update_path(c, t, json_array_get(updates, i)));
	for (size_t i = 0; i < json_array_size(private); i++)
		VEC(check_own_path(c, t, json_array_get(private, i), &rng));
	ok = json_array_size(updates) > 0;
out:
	mls_tree_free(t);
	return ok;
}
