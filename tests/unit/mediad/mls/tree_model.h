/* A ratchet tree told as plainly as the RFC tells it: flat arrays, sets as flags, everything
 * computed anew by walking halves. What mls_tree does must look the same. */
#ifndef TESTS_UNIT_MEDIAD_MLS_TREE_MODEL_H
#define TESTS_UNIT_MEDIAD_MLS_TREE_MODEL_H

#include "mediad/mls/tree.h"

enum { MODEL_LEAVES = 128 };

struct model {
	uint32_t width;
	struct mls_leaf *leaf[MODEL_LEAVES]; /* borrowed */
	struct model_parent {
		bool set;
		uint8_t key[5], hash[3];
		bool unmerged[MODEL_LEAVES];
	} parent[2 * MODEL_LEAVES]; /* by node */
};

/* False when it is full. */
bool model_add(struct model *m, struct mls_leaf *l, uint32_t *leaf);
void model_update(struct model *m, uint32_t leaf, struct mls_leaf *l);
void model_remove(struct model *m, uint32_t leaf);
/* A parent above `sender` whose other half has somebody; false for others. */
bool model_on_path(const struct model *m, uint32_t sender, uint32_t node);
void model_set_parent(struct model *m, uint32_t node, const uint8_t key[5], const uint8_t hash[3]);
/* Of the subtree of `width` leaves from `lo` on. without: leaves left out, or NULL. */
void model_hash(const struct model *m, uint32_t lo, uint32_t width, const bool *without,
		uint8_t out[32]);
uint32_t model_resolution(const struct model *m, uint32_t lo, uint32_t width, uint32_t *out);

#endif
