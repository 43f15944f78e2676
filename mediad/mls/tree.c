#include "mediad/mls/tree_internal.h"

#include <errno.h>
#include <stdlib.h>

enum { NODE_LEAF = 1, NODE_PARENT = 2 };

/* ---- parents ---- */

/* The caller fills in the unmerged leaves. */
static struct mls_parent *parent_new(struct slice key, struct slice parent_hash,
				     uint32_t n_unmerged)
{
	size_t list = n_unmerged * sizeof(uint32_t);
	struct mls_parent *p = malloc(sizeof *p + list + key.n + parent_hash.n);
	uint8_t *bytes;

	if (!p)
		return NULL;
	bytes = (uint8_t *)(p + 1) + list;
	if (key.n)
		memcpy(bytes, key.p, key.n);
	if (parent_hash.n)
		memcpy(bytes + key.n, parent_hash.p, parent_hash.n);
	*p = (struct mls_parent){.refs = 1,
				 .encryption_key = mls_slice(bytes, key.n),
				 .parent_hash = mls_slice(bytes + key.n, parent_hash.n),
				 .unmerged = (uint32_t *)(p + 1),
				 .n_unmerged = n_unmerged};
	return p;
}

/* Copies a parent with one more unmerged leaf. */
static struct mls_parent *parent_with(const struct mls_parent *old, uint32_t leaf)
{
	struct mls_parent *p =
		parent_new(old->encryption_key, old->parent_hash, old->n_unmerged + 1);
	uint32_t at = tree_lower(old->unmerged, old->n_unmerged, leaf);

	if (!p)
		return NULL;
	memcpy(p->unmerged, old->unmerged, at * sizeof *p->unmerged);
	p->unmerged[at] = leaf;
	memcpy(p->unmerged + at + 1, old->unmerged + at,
	       (old->n_unmerged - at) * sizeof *p->unmerged);
	return p;
}

static void parent_free(struct mls_parent *p)
{
	if (p && --p->refs == 0)
		free(p);
}

/* ---- slots ---- */

static bool is_blank(const struct mls_tree *t, uint32_t node)
{
	return node % 2 ? !t->slot[node / 2].parent : !t->slot[node / 2].leaf;
}

/* Both take over the caller's reference. */
static void put_leaf(struct mls_tree *t, uint32_t leaf, struct mls_leaf *l)
{
	t->members = t->members - (t->slot[leaf].leaf != NULL) + (l != NULL);
	mls_leaf_free(t->slot[leaf].leaf);
	t->slot[leaf].leaf = l;
}

static void put_parent(struct mls_tree *t, uint32_t node, struct mls_parent *p)
{
	parent_free(t->slot[node / 2].parent);
	t->slot[node / 2].parent = p;
}

static void blank_path(struct mls_tree *t, uint32_t leaf)
{
	for (uint32_t x = tree_parent(2 * leaf, t->leaves); x != TREE_NONE;
	     x = tree_parent(x, t->leaves))
		put_parent(t, x, NULL);
}

/* Makes room for this many leaves, at least the present number. */
static int resize_slots(struct mls_tree *t, uint32_t leaves)
{
	struct tree_slot *slot;

	if (leaves > MLS_LEAVES_MAX)
		return EOVERFLOW;
	slot = calloc(leaves, sizeof *slot);
	if (!slot)
		return ENOMEM;
	if (t->leaves)
		memcpy(slot, t->slot, t->leaves * sizeof *slot);
	free(t->slot);
	t->slot = slot;
	t->leaves = leaves;
	return 0;
}

static int double_width(struct mls_tree *t)
{
	return resize_slots(t, t->leaves ? 2 * t->leaves : 1);
}

/* Halves the tree while its right half has no member (section 7.7). */
static void truncate_tree(struct mls_tree *t)
{
	while (t->leaves) {
		uint32_t half = t->leaves / 2;

		for (uint32_t i = half; i < t->leaves; i++)
			if (t->slot[i].leaf)
				return;
		for (uint32_t x = half ? tree_width(half) : 0; x < tree_width(t->leaves); x++)
			mls_tree_blank(t, x);
		t->leaves = half;
	}
}

/* ---- alloc, free, copy ---- */

int mls_tree_alloc(struct mls_tree **out)
{
	struct mls_tree *t = calloc(1, sizeof *t);

	if (!t)
		return ENOMEM;
	*out = t;
	return 0;
}

struct mls_tree *mls_tree_free(struct mls_tree *t)
{
	if (!t)
		return NULL;
	for (uint32_t i = 0; i < t->leaves; i++) {
		mls_leaf_free(t->slot[i].leaf);
		parent_free(t->slot[i].parent);
	}
	free(t->slot);
	free(t);
	return NULL;
}

int mls_tree_copy(struct mls_tree **out, const struct mls_tree *t)
{
	struct mls_tree *copy;
	int err = mls_tree_alloc(&copy);

	if (err)
		return err;
	if (t->leaves)
		err = resize_slots(copy, t->leaves);
	if (err)
		return mls_tree_free(copy), err;
	for (uint32_t i = 0; i < t->leaves; i++) {
		if (t->slot[i].leaf)
			copy->slot[i].leaf = mls_leaf_ref(t->slot[i].leaf);
		if (t->slot[i].parent) {
			copy->slot[i].parent = t->slot[i].parent;
			copy->slot[i].parent->refs++;
		}
	}
	copy->members = t->members;
	*out = copy;
	return 0;
}

/* ---- reading and writing ---- */

static int read_parent(struct mls_parent **out, struct rd *r)
{
	struct slice key = mls_rd_vec(r), parent_hash = mls_rd_vec(r);
	struct rd list = mls_rd_sub(r);
	struct mls_parent *p;

	if (!r->ok || list.n % 4)
		return EBADMSG;
	if (list.n / 4 > MLS_LEAVES_MAX)
		return EOVERFLOW;
	p = parent_new(key, parent_hash, (uint32_t)(list.n / 4));
	if (!p)
		return ENOMEM;
	for (uint32_t i = 0; i < p->n_unmerged; i++)
		p->unmerged[i] = (uint32_t)rd_be(&list, 4);
	*out = p;
	return 0;
}

static int read_node(struct mls_tree *t, uint32_t node, struct rd *r)
{
	unsigned type = (unsigned)rd_be(r, 1);
	struct mls_leaf *l;
	struct mls_parent *p;
	int err;

	if (!r->ok || type != (node % 2 ? NODE_PARENT : NODE_LEAF))
		return EBADMSG;
	if (node % 2) {
		err = read_parent(&p, r);
		if (!err)
			put_parent(t, node, p);
		return err;
	}
	err = mls_leaf_read(&l, r);
	if (!err)
		put_leaf(t, node / 2, l);
	return err;
}

/* Checks what the other functions rely on: unmerged leaves are members under the parent, in order,
 * and not all of these. */
static bool parent_in_form(const struct mls_tree *t, uint32_t node)
{
	const struct mls_parent *p = t->slot[node / 2].parent;
	uint32_t first, n = tree_span(node, &first), members = 0;

	for (uint32_t i = 0; i < p->n_unmerged; i++) {
		uint32_t leaf = p->unmerged[i];

		if (leaf < first || leaf >= first + n || !t->slot[leaf].leaf ||
		    (i && leaf <= p->unmerged[i - 1]))
			return false;
	}
	for (uint32_t i = first; i < first + n; i++)
		members += t->slot[i].leaf != NULL;
	return members > p->n_unmerged;
}

static int read_nodes(struct mls_tree *t, struct rd *r)
{
	uint32_t node = 0;
	int err = 0;

	for (; !err && rd_left(r); node++) {
		if (!t->leaves || node == tree_width(t->leaves))
			err = double_width(t);
		if (!err && mls_rd_optional(r))
			err = read_node(t, node, r);
	}
	if (err)
		return err;
	if (!r->ok || !node || is_blank(t, node - 1))
		return EBADMSG;
	if (t->members > MLS_MEMBERS_MAX)
		return EOVERFLOW;
	for (uint32_t x = 1; x < tree_width(t->leaves); x += 2)
		if (t->slot[x / 2].parent && !parent_in_form(t, x))
			return EBADMSG;
	return 0;
}

int mls_tree_read(struct mls_tree **out, struct slice extension)
{
	struct rd r = rd_of(extension.p, extension.n), nodes = mls_rd_sub(&r);
	struct mls_tree *t;
	int err;

	if (!r.ok || rd_left(&r))
		return EBADMSG;
	err = mls_tree_alloc(&t);
	if (err)
		return err;
	err = read_nodes(t, &nodes);
	if (err)
		return mls_tree_free(t), err;
	*out = t;
	return 0;
}

static void write_parent(const struct mls_parent *p, struct mls_out *o)
{
	mls_out_be(o, NODE_PARENT, 1);
	mls_out_vec(o, p->encryption_key);
	mls_out_vec(o, p->parent_hash);
	mls_out_varint(o, 4 * (size_t)p->n_unmerged);
	for (uint32_t i = 0; i < p->n_unmerged; i++)
		mls_out_be(o, p->unmerged[i], 4);
}

void mls_tree_write(const struct mls_tree *t, struct mls_out *o)
{
	size_t at = mls_out_open(o);
	uint32_t n = tree_width(t->leaves);

	while (n && is_blank(t, n - 1))
		n--;
	for (uint32_t x = 0; x < n; x++) {
		mls_out_be(o, !is_blank(t, x), 1);
		if (is_blank(t, x))
			continue;
		if (x % 2) {
			write_parent(t->slot[x / 2].parent, o);
		} else {
			mls_out_be(o, NODE_LEAF, 1);
			mls_out_slice(o, t->slot[x / 2].leaf->raw);
		}
	}
	mls_out_close(o, at);
}

/* ---- getters ---- */

uint32_t mls_tree_leaves(const struct mls_tree *t)
{
	return t->leaves;
}

uint32_t mls_tree_members(const struct mls_tree *t)
{
	return t->members;
}

struct mls_leaf *mls_tree_leaf(const struct mls_tree *t, uint32_t leaf)
{
	return leaf < t->leaves ? t->slot[leaf].leaf : NULL;
}

const struct mls_parent *mls_tree_parent_at(const struct mls_tree *t, uint32_t node)
{
	return node % 2 && node < tree_width(t->leaves) ? t->slot[node / 2].parent : NULL;
}

struct slice mls_tree_key(const struct mls_tree *t, uint32_t node)
{
	if (node >= tree_width(t->leaves) || is_blank(t, node))
		return (struct slice){0};
	return node % 2 ? t->slot[node / 2].parent->encryption_key
			: t->slot[node / 2].leaf->encryption_key;
}

int mls_tree_find(const struct mls_tree *t, const struct mls_leaf *leaf, uint32_t *index)
{
	for (uint32_t i = 0; i < t->leaves; i++)
		if (t->slot[i].leaf && mls_equal(t->slot[i].leaf->raw, leaf->raw))
			return *index = i, 0;
	return ENOENT;
}

struct nodes {
	uint32_t *at;
	uint32_t n, cap;
};

static void append_node(struct nodes *to, uint32_t node)
{
	if (to->n < to->cap)
		to->at[to->n++] = node;
}

/* Recursion depth is the height of the tree. */
static void collect_resolution(const struct mls_tree *t, uint32_t node, struct nodes *to)
{
	const struct mls_parent *p;

	if (!is_blank(t, node)) {
		append_node(to, node);
		p = mls_tree_parent_at(t, node);
		for (uint32_t i = 0; p && i < p->n_unmerged; i++)
			append_node(to, 2 * p->unmerged[i]);
	} else if (node % 2) {
		collect_resolution(t, tree_left(node), to);
		collect_resolution(t, tree_right(node), to);
	}
}

uint32_t mls_tree_resolution(const struct mls_tree *t, uint32_t node, uint32_t *out)
{
	struct nodes to = {.at = out, .cap = t->leaves};

	if (node < tree_width(t->leaves))
		collect_resolution(t, node, &to);
	return to.n;
}

/* True if a subtree has an empty resolution. */
static bool has_no_members(const struct mls_tree *t, uint32_t node)
{
	uint32_t reach = (UINT32_C(1) << tree_level(node)) - 1;

	for (uint32_t x = node - reach; x <= node + reach; x++)
		if (!is_blank(t, x))
			return false;
	return true;
}

uint32_t mls_tree_filtered_path(const struct mls_tree *t, uint32_t leaf, uint32_t path[32],
				uint32_t copath[32])
{
	uint32_t n = 0, below = 2 * leaf;

	if (leaf >= t->leaves)
		return 0;
	for (uint32_t x; (x = tree_parent(below, t->leaves)) != TREE_NONE; below = x) {
		uint32_t other = tree_sibling(below, t->leaves);

		if (has_no_members(t, other))
			continue;
		path[n] = x;
		copath[n++] = other;
	}
	return n;
}

/* ---- changing ---- */

static uint32_t leftmost_blank(const struct mls_tree *t)
{
	uint32_t i = 0;

	while (i < t->leaves && t->slot[i].leaf)
		i++;
	return i;
}

int mls_tree_add(struct mls_tree *t, struct mls_leaf *l, uint32_t *leaf)
{
	struct mls_parent *next[32];
	uint32_t node[32], n = 0, i = leftmost_blank(t);
	int err;

	if (t->members >= MLS_MEMBERS_MAX)
		return EOVERFLOW;
	if (i == t->leaves) {
		err = double_width(t);
		if (err)
			return err;
	}
	/* A leaf for which the tree was just widened has no parents, so nothing needs to be undone.
	 */
	for (uint32_t x = tree_parent(2 * i, t->leaves); x != TREE_NONE;
	     x = tree_parent(x, t->leaves)) {
		if (!t->slot[x / 2].parent)
			continue;
		node[n] = x;
		next[n] = parent_with(t->slot[x / 2].parent, i);
		if (!next[n++])
			goto fail;
	}
	while (n--)
		put_parent(t, node[n], next[n]);
	put_leaf(t, i, mls_leaf_ref(l));
	*leaf = i;
	return 0;
fail:
	while (n--)
		parent_free(next[n]);
	return ENOMEM;
}

int mls_tree_set_leaf(struct mls_tree *t, uint32_t leaf, struct mls_leaf *l)
{
	if (leaf >= t->leaves)
		return ENOENT;
	put_leaf(t, leaf, mls_leaf_ref(l));
	return 0;
}

int mls_tree_update(struct mls_tree *t, uint32_t leaf, struct mls_leaf *l)
{
	if (!mls_tree_leaf(t, leaf))
		return ENOENT;
	blank_path(t, leaf);
	return mls_tree_set_leaf(t, leaf, l);
}

int mls_tree_remove(struct mls_tree *t, uint32_t leaf)
{
	if (!mls_tree_leaf(t, leaf))
		return ENOENT;
	blank_path(t, leaf);
	put_leaf(t, leaf, NULL);
	truncate_tree(t);
	return 0;
}

int mls_tree_set_parent(struct mls_tree *t, uint32_t node, struct slice key,
			struct slice parent_hash)
{
	struct mls_parent *p;

	if (node % 2 == 0 || node >= tree_width(t->leaves))
		return ENOENT;
	p = parent_new(key, parent_hash, 0);
	if (!p)
		return ENOMEM;
	put_parent(t, node, p);
	return 0;
}

void mls_tree_blank(struct mls_tree *t, uint32_t node)
{
	if (node >= tree_width(t->leaves))
		return;
	if (node % 2)
		put_parent(t, node, NULL);
	else
		put_leaf(t, node / 2, NULL);
}
