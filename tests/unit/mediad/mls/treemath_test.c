#include "tests/test.h"

#include "mediad/mls/treemath.h"

/* The tree of 8 leaves drawn in RFC 9420 appendix C:
 *
 *                              X 7
 *               X 3                         X 11
 *        X 1           X 5           X 9           X 13
 *     0     2       4     6       8     10      12    14   */
enum { N = TREE_NONE };
static const struct {
	uint32_t left, right, parent, sibling;
	unsigned level;
} eight[] = {
	{N, N, 1, 2, 0},   {0, 2, 3, 5, 1},    {N, N, 1, 0, 0},	  {1, 5, 7, 11, 2},
	{N, N, 5, 6, 0},   {4, 6, 3, 1, 1},    {N, N, 5, 4, 0},	  {3, 11, N, N, 3},
	{N, N, 9, 10, 0},  {8, 10, 11, 13, 1}, {N, N, 9, 8, 0},	  {9, 13, 7, 3, 2},
	{N, N, 13, 14, 0}, {12, 14, 11, 9, 1}, {N, N, 13, 12, 0},
};

TEST(treemath_of_eight_leaves)
{
	CHECK_INT(tree_width(8), 15);
	CHECK_INT(tree_root(8), 7);
	for (uint32_t i = 0; i < 15; i++) {
		CHECK_INT(tree_level(i), eight[i].level);
		CHECK_INT(tree_left(i), eight[i].left);
		CHECK_INT(tree_right(i), eight[i].right);
		CHECK_INT(tree_parent(i, 8), eight[i].parent);
		CHECK_INT(tree_sibling(i, 8), eight[i].sibling);
	}
	CHECK_INT(tree_width(0), 0);
	CHECK_INT(tree_root(0), TREE_NONE);
	CHECK_INT(tree_root(1), 0);
	CHECK_INT(tree_parent(0, 1), TREE_NONE);
	CHECK_INT(tree_sibling(0, 1), TREE_NONE);
	/* the same node below the root of a smaller tree and inside a bigger one */
	CHECK_INT(tree_parent(3, 4), TREE_NONE);
	CHECK_INT(tree_parent(7, 16), 15);
}

static bool covers_by_walking(uint32_t node, uint32_t below, uint32_t leaves)
{
	while (below != TREE_NONE && below != node)
		below = tree_parent(below, leaves);
	return below == node;
}

TEST(treemath_covers_and_common_agree_with_walking_up)
{
	enum { LEAVES = 32 };

	for (uint32_t a = 0; a < tree_width(LEAVES); a++)
		for (uint32_t b = 0; b < tree_width(LEAVES); b++)
			CHECK(tree_covers(a, b) == covers_by_walking(a, b, LEAVES));
	for (uint32_t a = 0; a < LEAVES; a++)
		for (uint32_t b = 0; b < LEAVES; b++) {
			uint32_t up = 2 * a;

			while (!covers_by_walking(up, 2 * b, LEAVES))
				up = tree_parent(up, LEAVES);
			CHECK_INT(tree_common(a, b), up);
		}
}

TEST(treemath_at_the_edge)
{
	CHECK_INT(tree_level(UINT32_MAX), 32);
	CHECK_INT(tree_width(1u << 31), UINT32_MAX);
	CHECK_INT(tree_common(0, (1u << 30) - 1), (1u << 30) - 1);
	CHECK_INT(tree_left(0x7fffffff), 0x3fffffff);
	CHECK_INT(tree_right(0x7fffffff), 0xbfffffff);
	CHECK_INT(tree_parent(0x3fffffff, 1u << 31), 0x7fffffff);
	CHECK(tree_covers(0x7fffffff, 0) && tree_covers(0x7fffffff, 0xfffffffe));
}
