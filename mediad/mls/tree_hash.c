#include "mediad/mls/tree_internal.h"

#include <errno.h>

enum { HASH_LEAF = 1, HASH_PARENT = 2 };

/* One computation of hashes over a tree, optionally without some leaves. */
struct hashing {
	const struct mls_tree *t;
	const uint8_t (*known)[MLS_HASH]; /* tree hashes with all leaves, or NULL */
	const uint32_t *without;	  /* sorted leaves */
	uint32_t n_without;
};

/* The input of a hash in parts; holds the lengths of vectors. */
struct pieces {
	struct slice part[16];
	uint8_t heads[8][4];
	size_t n, n_heads;
};

static void append_piece(struct pieces *s, const void *p, size_t n)
{
	s->part[s->n++] = mls_slice(p, n);
}

static void piece_vec(struct pieces *s, const void *p, size_t n)
{
	uint8_t *head = s->heads[s->n_heads++];

	append_piece(s, head, mls_varint_put(head, n));
	append_piece(s, p, n);
}

static int hash_leaf(const struct hashing *h, uint32_t leaf, uint8_t out[MLS_HASH])
{
	const struct mls_leaf *l = h->t->slot[leaf].leaf;
	uint8_t head[6];
	struct wr w = wr_of(head, sizeof head);
	struct pieces s = {0};

	if (tree_listed(h->without, h->n_without, leaf))
		l = NULL;
	wr_be(&w, HASH_LEAF, 1);
	wr_be(&w, leaf, 4);
	wr_be(&w, l != NULL, 1);
	append_piece(&s, head, sizeof head);
	if (l)
		append_piece(&s, l->raw.p, l->raw.n);
	return mls_hash(out, s.part, s.n);
}

static int hash_parent(const struct hashing *h, uint32_t node, const uint8_t *left,
		       const uint8_t *right, uint8_t out[MLS_HASH])
{
	const struct mls_parent *p = h->t->slot[node / 2].parent;
	uint8_t head[] = {HASH_PARENT, p != NULL}, unmerged[4 * MLS_LEAVES_MAX];
	struct wr w = wr_of(unmerged, sizeof unmerged);
	struct pieces s = {0};

	append_piece(&s, head, sizeof head);
	if (p) {
		for (uint32_t i = 0; i < p->n_unmerged; i++)
			if (!tree_listed(h->without, h->n_without, p->unmerged[i]))
				wr_be(&w, p->unmerged[i], 4);
		piece_vec(&s, p->encryption_key.p, p->encryption_key.n);
		piece_vec(&s, p->parent_hash.p, p->parent_hash.n);
		piece_vec(&s, unmerged, w.pos);
	}
	piece_vec(&s, left, MLS_HASH);
	piece_vec(&s, right, MLS_HASH);
	return mls_hash(out, s.part, s.n);
}

static bool is_complete(const struct hashing *h, uint32_t node)
{
	uint32_t first, n = tree_span(node, &first);

	return tree_lower(h->without, h->n_without, first) ==
	       tree_lower(h->without, h->n_without, first + n);
}

/* Recursion depth is the height of the tree. */
static int hash_node(const struct hashing *h, uint32_t node, uint8_t out[MLS_HASH])
{
	uint8_t left[MLS_HASH], right[MLS_HASH];
	int err;

	if (h->known && is_complete(h, node)) {
		memcpy(out, h->known[node], MLS_HASH);
		return 0;
	}
	if (node % 2 == 0)
		return hash_leaf(h, node / 2, out);
	err = hash_node(h, tree_left(node), left);
	if (!err)
		err = hash_node(h, tree_right(node), right);
	return err ? err : hash_parent(h, node, left, right, out);
}

int tree_hashes(const struct mls_tree *t, uint8_t (*out)[MLS_HASH])
{
	struct hashing h = {.t = t};
	int err = 0;

	for (uint32_t i = 0; !err && i < t->leaves; i++)
		err = hash_leaf(&h, i, out[2 * i]);
	for (uint32_t step = 2; step <= t->leaves; step *= 2)
		for (uint32_t x = step - 1; !err && x < tree_width(t->leaves); x += 2 * step)
			err = hash_parent(&h, x, out[tree_left(x)], out[tree_right(x)], out[x]);
	return err;
}

int mls_tree_hash(const struct mls_tree *t, uint32_t node, uint8_t out[MLS_HASH])
{
	uint8_t hash[MLS_HASH];
	struct hashing h = {.t = t};
	int err;

	if (node >= tree_width(t->leaves))
		return ENOENT;
	err = hash_node(&h, node, hash);
	if (!err)
		memcpy(out, hash, MLS_HASH);
	return err;
}

int mls_tree_root_hash(const struct mls_tree *t, uint8_t out[MLS_HASH])
{
	return mls_tree_hash(t, tree_root(t->leaves), out);
}

int tree_parent_hash_by(const struct mls_tree *t, uint32_t parent, uint32_t sibling,
			const uint8_t (*hashes)[MLS_HASH], uint8_t out[MLS_HASH])
{
	const struct mls_parent *p = mls_tree_parent_at(t, parent);
	struct hashing h = {.t = t, .known = hashes};
	struct pieces s = {0};
	uint8_t original[MLS_HASH];
	int err;

	if (!p || sibling >= tree_width(t->leaves))
		return ENOENT;
	h.without = p->unmerged;
	h.n_without = p->n_unmerged;
	err = hash_node(&h, sibling, original);
	if (err)
		return err;
	piece_vec(&s, p->encryption_key.p, p->encryption_key.n);
	piece_vec(&s, p->parent_hash.p, p->parent_hash.n);
	piece_vec(&s, original, MLS_HASH);
	return mls_hash(out, s.part, s.n);
}

int mls_tree_parent_hash(const struct mls_tree *t, uint32_t parent, uint32_t sibling,
			 uint8_t out[MLS_HASH])
{
	return tree_parent_hash_by(t, parent, sibling, NULL, out);
}
