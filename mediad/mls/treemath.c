#include "mediad/mls/treemath.h"

uint32_t tree_width(uint32_t leaves)
{
	return leaves ? 2 * leaves - 1 : 0;
}

unsigned tree_level(uint32_t node)
{
	unsigned level = 0;

	while (level < 32 && (node >> level & 1))
		level++;
	return level;
}

uint32_t tree_root(uint32_t leaves)
{
	return leaves ? leaves - 1 : TREE_NONE;
}

uint32_t tree_left(uint32_t node)
{
	unsigned level = tree_level(node);

	return level ? node ^ UINT32_C(1) << (level - 1) : TREE_NONE;
}

uint32_t tree_right(uint32_t node)
{
	unsigned level = tree_level(node);

	return level ? node ^ UINT32_C(3) << (level - 1) : TREE_NONE;
}

uint32_t tree_parent(uint32_t node, uint32_t leaves)
{
	unsigned level = tree_level(node);

	if (node == tree_root(leaves))
		return TREE_NONE;
	return (node | UINT32_C(1) << level) & ~(UINT32_C(2) << level);
}

uint32_t tree_sibling(uint32_t node, uint32_t leaves)
{
	uint32_t parent = tree_parent(node, leaves);

	if (parent == TREE_NONE)
		return TREE_NONE;
	return node < parent ? tree_right(parent) : tree_left(parent);
}

bool tree_covers(uint32_t node, uint32_t below)
{
	uint32_t reach = (UINT32_C(1) << tree_level(node)) - 1;

	return below >= node - reach && below <= node + reach;
}

uint32_t tree_common(uint32_t leaf_a, uint32_t leaf_b)
{
	unsigned level = 0;

	while (leaf_a >> level != leaf_b >> level)
		level++;
	return (2 * (leaf_a >> level) + 1) * (UINT32_C(1) << level) - 1;
}
