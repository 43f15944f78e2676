#include "mediad/mls/treekem.h"

#include <errno.h>
#include <stdlib.h>

/* The nodes that a path of `sender` sets, from the bottom up, and beside each the sibling it is
 * encrypted to. */
struct route {
	uint32_t n, node[MLS_PATH_MAX], copath[MLS_PATH_MAX];
};

static struct route route_of(const struct mls_tree *t, uint32_t sender)
{
	struct route way;

	way.n = mls_tree_filtered_path(t, sender, way.node, way.copath);
	return way;
}

/* ---- private keys ---- */

void mls_private_wipe(struct mls_private *p)
{
	mls_wipe(p, sizeof *p);
}

/* Trees of other implementations may hold compressed points. */
static bool is_public_of(const struct p256_pair *pair, struct slice key)
{
	if (key.n == MLS_POINT)
		return memcmp(key.p, pair->pub, MLS_POINT) == 0;
	return key.n == 1 + MLS_SCALAR && key.p[0] == (2 | (pair->pub[MLS_POINT - 1] & 1)) &&
	       memcmp(key.p + 1, pair->pub + 1, MLS_SCALAR) == 0;
}

static void forget_key(struct mls_private *p, unsigned level)
{
	p->known[level] = false;
	p256_wipe(&p->key[level]);
}

void mls_private_prune(struct mls_private *p, const struct mls_tree *t)
{
	uint32_t x = 2 * p->leaf, leaves = mls_tree_leaves(t);

	for (unsigned level = 1; level < MLS_PATH_MAX; level++) {
		x = x == TREE_NONE || p->leaf >= leaves ? TREE_NONE : tree_parent(x, leaves);
		if (p->known[level] &&
		    (x == TREE_NONE || !is_public_of(&p->key[level], mls_tree_key(t, x))))
			forget_key(p, level);
	}
}

/* ---- secrets ---- */

static int node_pair(struct p256_pair *out, const uint8_t path_secret[MLS_HASH])
{
	uint8_t node_secret[MLS_HASH];
	int err = mls_derive_secret(node_secret, mls_slice(path_secret, MLS_HASH), "node");

	if (!err)
		err = hpke_derive_pair(out, mls_slice(node_secret, MLS_HASH));
	mls_wipe(node_secret, sizeof node_secret);
	return err;
}

static int next_secret(uint8_t path_secret[MLS_HASH])
{
	uint8_t next[MLS_HASH];
	int err = mls_derive_secret(next, mls_slice(path_secret, MLS_HASH), "path");

	if (!err)
		memcpy(path_secret, next, MLS_HASH);
	mls_wipe(next, sizeof next);
	return err;
}

/* Derives the keys from the path secret of the route's i-th node to its end; each pair must match
 * the tree. *secret becomes the commit secret. */
static int derive_path(struct mls_private *p, const struct mls_tree *t, const struct route *way,
		       uint32_t i, uint8_t secret[MLS_HASH])
{
	int err = 0;

	for (; !err && i < way->n; i++) {
		unsigned level = tree_level(way->node[i]);

		err = node_pair(&p->key[level], secret);
		if (!err && !is_public_of(&p->key[level], mls_tree_key(t, way->node[i])))
			err = EBADMSG;
		p->known[level] = true;
		if (!err)
			err = next_secret(secret);
	}
	return err;
}

/* Returns where a route meets the direct path of a leaf, or n when it does not. */
static uint32_t find_meeting(const struct route *way, uint32_t leaf)
{
	uint32_t i = 0;

	while (i < way->n && !tree_covers(way->node[i], 2 * leaf))
		i++;
	return i;
}

static bool both_members(const struct mls_tree *t, uint32_t a, uint32_t b)
{
	return a != b && mls_tree_leaf(t, a) && mls_tree_leaf(t, b);
}

int mls_private_implant(struct mls_private *p, const struct mls_tree *t, uint32_t other,
			const uint8_t path_secret[MLS_HASH])
{
	struct route way = route_of(t, other);
	struct mls_private next = *p;
	uint8_t secret[MLS_HASH];
	int err = EBADMSG;

	memcpy(secret, path_secret, MLS_HASH);
	if (both_members(t, p->leaf, other))
		err = derive_path(&next, t, &way, find_meeting(&way, p->leaf), secret);
	if (!err)
		*p = next;
	mls_private_wipe(&next);
	mls_wipe(secret, sizeof secret);
	return err;
}

/* ---- parsing ---- */

static int read_nodes(struct mls_path *path, struct rd *r)
{
	struct rd nodes = mls_rd_sub(r);

	while (rd_left(&nodes)) {
		if (path->n == MLS_PATH_MAX)
			return EBADMSG;
		path->node[path->n].key = mls_rd_vec(&nodes);
		path->node[path->n++].ciphertexts = mls_rd_vec(&nodes);
	}
	return r->ok && nodes.ok ? 0 : EBADMSG;
}

int mls_path_read(struct mls_path *out, struct rd *r)
{
	struct mls_path path = {0};
	int err = mls_leaf_read(&path.leaf, r);

	if (!err)
		err = read_nodes(&path, r);
	if (err)
		return mls_path_free(&path), err;
	*out = path;
	return 0;
}

void mls_path_free(struct mls_path *p)
{
	p->leaf = mls_leaf_free(p->leaf);
}

/* ---- merging into the tree ---- */

static bool key_in_tree(const struct mls_tree *t, struct slice key)
{
	for (uint32_t x = 0; x < tree_width(mls_tree_leaves(t)); x++)
		if (mls_equal(mls_tree_key(t, x), key))
			return true;
	return false;
}

/* Section 12.4.2: no key of a path may be in the tree already; here also no key twice in the path.
 */
static int check_keys(const struct mls_tree *t, const struct mls_path *path)
{
	int err = key_in_tree(t, path->leaf->encryption_key) ? EBADMSG : 0;

	for (uint32_t i = 0; !err && i < path->n; i++) {
		struct slice key = path->node[i].key;
		bool again = mls_equal(key, path->leaf->encryption_key) || key_in_tree(t, key);

		for (uint32_t j = 0; j < i; j++)
			again = again || mls_equal(key, path->node[j].key);
		err = again ? EBADMSG : p256_check(key, P256_ANY);
	}
	return err;
}

/* Sets the nodes of a route from the top down, because each holds the hash of the next one above,
 * and blanks the rest of the direct path. *hash: the parent hash of the leaf; *hash_n 0 when there
 * is no node above it. */
static int put_nodes(struct mls_tree *t, uint32_t sender, const struct route *way,
		     const struct slice *keys, uint8_t hash[MLS_HASH], size_t *hash_n)
{
	uint32_t leaves = mls_tree_leaves(t);
	int err = 0;

	for (uint32_t x = tree_parent(2 * sender, leaves); x != TREE_NONE;
	     x = tree_parent(x, leaves))
		mls_tree_blank(t, x);
	*hash_n = 0;
	for (uint32_t i = way->n; !err && i-- > 0;) {
		err = mls_tree_set_parent(t, way->node[i], keys[i], mls_slice(hash, *hash_n));
		if (!err)
			err = mls_tree_parent_hash(t, way->node[i], way->copath[i], hash);
		*hash_n = MLS_HASH;
	}
	return err;
}

int mls_path_merge(struct mls_tree *t, uint32_t sender, const struct mls_path *path)
{
	struct route way = route_of(t, sender);
	struct slice keys[MLS_PATH_MAX];
	uint8_t hash[MLS_HASH];
	size_t hash_n;
	int err;

	if (!mls_tree_leaf(t, sender) || path->leaf->source != MLS_LEAF_COMMIT || path->n != way.n)
		return EBADMSG;
	err = check_keys(t, path);
	if (err)
		return err;
	for (uint32_t i = 0; i < path->n; i++)
		keys[i] = path->node[i].key;
	err = put_nodes(t, sender, &way, keys, hash, &hash_n);
	if (!err && !mls_equal(path->leaf->parent_hash, mls_slice(hash, hash_n)))
		err = EBADMSG;
	return err ? err : mls_tree_set_leaf(t, sender, path->leaf);
}

/* ---- ciphertexts ---- */

static bool is_listed(const uint32_t *list, uint32_t n, uint32_t leaf)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i] == leaf)
			return true;
	return false;
}

/* Returns the nodes under `node` to which a path secret is encrypted: its resolution without leaves
 * that this commit adds. The caller frees *out. */
static int list_recipients(uint32_t **out, uint32_t *n, const struct mls_tree *t, uint32_t node,
			   struct mls_leaf_set excluded)
{
	uint32_t *list = malloc(mls_tree_leaves(t) * sizeof *list), all, kept = 0;

	if (!list)
		return ENOMEM;
	all = mls_tree_resolution(t, node, list);
	for (uint32_t i = 0; i < all; i++)
		if (list[i] % 2 || !is_listed(excluded.leaf, excluded.n, list[i] / 2))
			list[kept++] = list[i];
	*out = list;
	*n = kept;
	return 0;
}

/* Finds the first recipient whose private key is ours. */
static bool find_ours(const struct mls_private *me, const struct mls_tree *t, const uint32_t *list,
		      uint32_t n, uint32_t *at)
{
	for (uint32_t i = 0; i < n; i++) {
		unsigned level = tree_level(list[i]);

		if (tree_covers(list[i], 2 * me->leaf) && me->known[level] &&
		    is_public_of(&me->key[level], mls_tree_key(t, list[i])))
			return *at = i, true;
	}
	return false;
}

struct sealed {
	struct slice enc, text;
};

/* Returns the ciphertext at `want`; there must be n. */
static int pick_ciphertext(struct sealed *out, struct slice ciphertexts, uint32_t n, uint32_t want)
{
	struct rd r = rd_of(ciphertexts.p, ciphertexts.n);
	struct sealed it = {0};
	uint32_t count = 0;

	for (; rd_left(&r); count++) {
		struct slice enc = mls_rd_vec(&r), text = mls_rd_vec(&r);

		if (count == want)
			it = (struct sealed){enc, text};
	}
	if (!r.ok || count != n || it.text.n != MLS_HASH + MLS_TAG)
		return EBADMSG;
	*out = it;
	return 0;
}

int mls_path_open(struct mls_private *me, const struct mls_tree *merged, uint32_t sender,
		  const struct mls_path *path, struct slice context, struct mls_leaf_set excluded,
		  uint8_t commit_secret[MLS_HASH])
{
	struct route way = route_of(merged, sender);
	uint32_t *list = NULL, n, i = find_meeting(&way, me->leaf), ours;
	struct mls_private next = *me;
	uint8_t secret[MLS_HASH];
	struct sealed it;
	int err = EBADMSG;

	if (!both_members(merged, me->leaf, sender) || path->n != way.n || i == way.n)
		goto out;
	err = list_recipients(&list, &n, merged, way.copath[i], excluded);
	if (err)
		goto out;
	err = EBADMSG;
	if (!find_ours(me, merged, list, n, &ours))
		goto out;
	err = pick_ciphertext(&it, path->node[i].ciphertexts, n, ours);
	if (!err)
		err = mls_decrypt_label(secret, &me->key[tree_level(list[ours])], "UpdatePathNode",
					context, it.enc, it.text);
	if (!err)
		err = derive_path(&next, merged, &way, i, secret);
	if (err)
		goto out;
	mls_private_prune(&next, merged);
	*me = next;
	memcpy(commit_secret, secret, MLS_HASH);
out:
	free(list);
	mls_private_wipe(&next);
	mls_wipe(secret, sizeof secret);
	return err;
}

/* ---- our own path ---- */

/* Makes new keys of our leaf and along the route; *after is the secret after its end. */
static int fresh_keys(struct mls_private *next, struct mls_path_secrets *secrets,
		      const struct route *way, uint8_t after[MLS_HASH], struct mls_rng *rng)
{
	int err = p256_generate(&next->key[0], rng);

	next->known[0] = true;
	mls_rng_fill(rng, after, MLS_HASH);
	secrets->n = way->n;
	for (uint32_t i = 0; !err && i < way->n; i++) {
		unsigned level = tree_level(way->node[i]);

		secrets->node[i] = way->node[i];
		memcpy(secrets->secret[i], after, MLS_HASH);
		err = node_pair(&next->key[level], after);
		next->known[level] = true;
		if (!err)
			err = next_secret(after);
	}
	return err;
}

static int put_own_leaf(struct mls_tree *t, const struct mls_private *me,
			const struct p256_pair *signer, struct slice group_id,
			struct slice parent_hash, struct mls_rng *rng)
{
	struct mls_leaf_spec spec = {.encryption_key = mls_slice(me->key[0].pub, MLS_POINT),
				     .signer = signer,
				     .source = MLS_LEAF_COMMIT,
				     .parent_hash = parent_hash,
				     .group_id = group_id,
				     .leaf = me->leaf};
	struct mls_leaf *l;
	int err = mls_leaf_remake(&l, mls_tree_leaf(t, me->leaf), &spec, rng);

	if (err)
		return err;
	err = mls_tree_set_leaf(t, me->leaf, l);
	mls_leaf_free(l);
	return err;
}

int mls_path_make(struct mls_tree *t, struct mls_private *me, const struct p256_pair *signer,
		  struct slice group_id, struct mls_path_secrets *secrets,
		  uint8_t commit_secret[MLS_HASH], struct mls_rng *rng)
{
	struct route way = route_of(t, me->leaf);
	struct mls_private next = {.leaf = me->leaf};
	struct mls_path_secrets fresh = {0};
	struct slice keys[MLS_PATH_MAX];
	uint8_t after[MLS_HASH], hash[MLS_HASH];
	size_t hash_n;
	int err = EINVAL;

	if (!mls_tree_leaf(t, me->leaf))
		goto out;
	err = fresh_keys(&next, &fresh, &way, after, rng);
	if (err)
		goto out;
	for (uint32_t i = 0; i < way.n; i++)
		keys[i] = mls_slice(next.key[tree_level(way.node[i])].pub, MLS_POINT);
	err = put_nodes(t, me->leaf, &way, keys, hash, &hash_n);
	if (!err)
		err = put_own_leaf(t, &next, signer, group_id, mls_slice(hash, hash_n), rng);
	if (err)
		goto out;
	*me = next;
	*secrets = fresh;
	memcpy(commit_secret, after, MLS_HASH);
out:
	mls_private_wipe(&next);
	mls_wipe(&fresh, sizeof fresh);
	mls_wipe(after, sizeof after);
	return err;
}

static int write_ciphertexts(struct mls_out *o, const struct mls_tree *t, const uint32_t *list,
			     uint32_t n, const uint8_t secret[MLS_HASH], struct slice context,
			     struct mls_rng *rng)
{
	uint8_t enc[MLS_POINT], text[MLS_HASH + MLS_TAG];
	size_t at = mls_out_open(o);
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++) {
		err = mls_encrypt_label(enc, text, mls_tree_key(t, list[i]), "UpdatePathNode",
					context, mls_slice(secret, MLS_HASH), rng);
		if (err)
			return err;
		mls_out_vec(o, mls_slice(enc, sizeof enc));
		mls_out_vec(o, mls_slice(text, sizeof text));
		err = o->err;
	}
	mls_out_close(o, at);
	return err ? err : o->err;
}

int mls_path_write(struct mls_out *o, const struct mls_tree *t, uint32_t sender,
		   const struct mls_path_secrets *secrets, struct slice context,
		   struct mls_leaf_set excluded, struct mls_rng *rng)
{
	struct route way = route_of(t, sender);
	const struct mls_leaf *l = mls_tree_leaf(t, sender);
	size_t at;
	int err = 0;

	if (!l || way.n != secrets->n)
		return EINVAL;
	mls_out_slice(o, l->raw);
	at = mls_out_open(o);
	for (uint32_t i = 0; !err && i < way.n; i++) {
		uint32_t *list, n;

		err = list_recipients(&list, &n, t, way.copath[i], excluded);
		if (err)
			return err;
		mls_out_vec(o, mls_tree_key(t, way.node[i]));
		err = write_ciphertexts(o, t, list, n, secrets->secret[i], context, rng);
		free(list);
	}
	mls_out_close(o, at);
	return err ? err : o->err;
}
