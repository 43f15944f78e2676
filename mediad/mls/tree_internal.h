/* The contents of the ratchet tree; for tree.c, tree_hash.c and tree_check.c alone. */
#ifndef MEDIAD_MLS_TREE_INTERNAL_H
#define MEDIAD_MLS_TREE_INTERNAL_H

#include "mediad/mls/tree.h"

/* Nodes 2i and 2i + 1; NULL: blank. */
struct tree_slot {
	struct mls_leaf *leaf;
	struct mls_parent *parent;
};

struct mls_tree {
	uint32_t leaves, members;
	struct tree_slot *slot; /* as many as leaves */
};

/* Returns the number of leaves under a node; *first: the first of them. */
static inline uint32_t tree_span(uint32_t node, uint32_t *first)
{
	uint32_t n = UINT32_C(1) << tree_level(node);

	*first = (node - (n - 1)) / 2;
	return n;
}

/* Returns the first position in a sorted list whose leaf is not below `leaf`. */
static inline uint32_t tree_lower(const uint32_t *list, uint32_t n, uint32_t leaf)
{
	uint32_t low = 0;

	while (low < n) {
		uint32_t mid = low + (n - low) / 2;

		if (list[mid] < leaf)
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

static inline bool tree_listed(const uint32_t *list, uint32_t n, uint32_t leaf)
{
	uint32_t at = tree_lower(list, n, leaf);

	return at < n && list[at] == leaf;
}

/* Computes the tree hashes of all nodes, by node. */
int tree_hashes(const struct mls_tree *t, uint8_t (*out)[MLS_HASH]);
/* mls_tree_parent_hash with precomputed tree hashes, or NULL. */
int tree_parent_hash_by(const struct mls_tree *t, uint32_t parent, uint32_t sibling,
			const uint8_t (*hashes)[MLS_HASH], uint8_t out[MLS_HASH]);

#endif
