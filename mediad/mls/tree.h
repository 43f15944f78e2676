/* The ratchet tree (RFC 9420 sections 4 and 7): members, keys of the inner nodes, hashes.
 *
 * Nodes are immutable and shared between copies, so a copy costs pointers. Indices: `leaf` counts
 * leaves, `node` counts nodes of the array form (treemath.h). Keys are opaque except where a
 * function says otherwise. */
#ifndef MEDIAD_MLS_TREE_H
#define MEDIAD_MLS_TREE_H

#include "mediad/mls/leaf.h"
#include "mediad/mls/treemath.h"

struct mls_tree;

struct mls_parent {
	unsigned refs;
	struct slice encryption_key, parent_hash; /* owned, in one block */
	uint32_t *unmerged;			  /* sorted leaves; owned */
	uint32_t n_unmerged;
};

/* Makes an empty tree. */
int mls_tree_alloc(struct mls_tree **out);
struct mls_tree *mls_tree_free(struct mls_tree *t);
int mls_tree_copy(struct mls_tree **out, const struct mls_tree *t);
/* Reads the data of a ratchet_tree extension: optional<Node><V>, length and nodes, no blank at the
 * end. Only the form is validated: leaves and parents at their places, unmerged leaves in order,
 * members under the parent and not all of these. EBADMSG, ENOTSUP, EOVERFLOW, ENOMEM. */
int mls_tree_read(struct mls_tree **out, struct slice extension);
/* Writes that form. */
void mls_tree_write(const struct mls_tree *t, struct mls_out *o);

/* Width in leaves (0 or a power of two), and members. */
uint32_t mls_tree_leaves(const struct mls_tree *t);
uint32_t mls_tree_members(const struct mls_tree *t);
/* Borrowed; NULL when blank or outside. */
struct mls_leaf *mls_tree_leaf(const struct mls_tree *t, uint32_t leaf);
const struct mls_parent *mls_tree_parent_at(const struct mls_tree *t, uint32_t node);
/* The encryption key of a node, empty when blank. */
struct slice mls_tree_key(const struct mls_tree *t, uint32_t node);
/* Finds a leaf by its exact bytes. ENOENT. */
int mls_tree_find(const struct mls_tree *t, const struct mls_leaf *leaf, uint32_t *index);

/* Takes a reference and puts the leaf into the leftmost blank place and among the unmerged leaves
 * of its ancestors. *leaf: its index. EOVERFLOW; nothing changes on an error. */
int mls_tree_add(struct mls_tree *t, struct mls_leaf *l, uint32_t *leaf);
/* Replaces a leaf and blanks its direct path (Update). ENOENT. */
int mls_tree_update(struct mls_tree *t, uint32_t leaf, struct mls_leaf *l);
/* Blanks the leaf and its direct path, then truncates the tree. ENOENT. */
int mls_tree_remove(struct mls_tree *t, uint32_t leaf);
/* Sets a leaf without touching its ancestors, and a parent (UpdatePath). Arguments are copied or
 * referenced. ENOENT: outside. */
int mls_tree_set_leaf(struct mls_tree *t, uint32_t leaf, struct mls_leaf *l);
int mls_tree_set_parent(struct mls_tree *t, uint32_t node, struct slice key,
			struct slice parent_hash);
void mls_tree_blank(struct mls_tree *t, uint32_t node);

/* Nodes, in order, that hold all members under `node` (4.1.1). out: at least mls_tree_leaves()
 * entries; returns how many. */
uint32_t mls_tree_resolution(const struct mls_tree *t, uint32_t node, uint32_t *out);
/* The direct path of a leaf without the parents whose copath child has an empty resolution (4.1.2),
 * from the bottom up, and beside each its copath child. At most 32 entries; returns how many. */
uint32_t mls_tree_filtered_path(const struct mls_tree *t, uint32_t leaf, uint32_t path[32],
				uint32_t copath[32]);

/* Section 7.8. ENOENT: no such node. */
int mls_tree_hash(const struct mls_tree *t, uint32_t node, uint8_t out[MLS_HASH]);
int mls_tree_root_hash(const struct mls_tree *t, uint8_t out[MLS_HASH]);
/* The parent hash that `parent` gives to its child on the other side of `sibling` (7.9). ENOENT:
 * blank. */
int mls_tree_parent_hash(const struct mls_tree *t, uint32_t parent, uint32_t sibling,
			 uint8_t out[MLS_HASH]);
/* Every non-blank parent's hash is found below it (7.9.2). EBADMSG. */
int mls_tree_check_parent_hashes(const struct mls_tree *t);
/* Section 12.4.3.1 for a tree from outside: leaves validated for their place, keys of all nodes
 * distinct and points, unmerged lists sorted and true, every member's capabilities cover what is in
 * use, parent hashes. EBADMSG, EACCES, ENOTSUP. */
int mls_tree_validate(const struct mls_tree *t, struct slice group_id);
/* Checks that no signature or encryption key occurs twice. EBADMSG. */
int mls_tree_unique_keys(const struct mls_tree *t);

#endif
