/* Indices of the array form of a full binary tree (RFC 9420 appendix C): leaf i is node 2i; a tree
 * of n leaves (a power of two) has 2n - 1 nodes. Node arguments must be inside the tree. */
#ifndef MEDIAD_MLS_TREEMATH_H
#define MEDIAD_MLS_TREEMATH_H

#include <stdbool.h>
#include <stdint.h>

enum { TREE_NONE = UINT32_MAX };

uint32_t tree_width(uint32_t leaves); /* nodes; 0 for 0 leaves */
unsigned tree_level(uint32_t node);   /* 0 for leaves */
uint32_t tree_root(uint32_t leaves);
/* TREE_NONE of a leaf. */
uint32_t tree_left(uint32_t node);
uint32_t tree_right(uint32_t node);
/* TREE_NONE of the root. */
uint32_t tree_parent(uint32_t node, uint32_t leaves);
uint32_t tree_sibling(uint32_t node, uint32_t leaves);
/* True if `node` is `below` or one of its ancestors. */
bool tree_covers(uint32_t node, uint32_t below);
/* The lowest node that covers both leaves (indices of leaves). */
uint32_t tree_common(uint32_t leaf_a, uint32_t leaf_b);

#endif
