/* Members for tests of trees: leaves with real keys, and leaves that only look like some. */
#ifndef TESTS_UNIT_MEDIAD_MLS_TREE_FIXTURE_H
#define TESTS_UNIT_MEDIAD_MLS_TREE_FIXTURE_H

#include "mediad/mls/treekem.h"

extern const struct slice tree_fixture_group_id; /* id of the group that they sign for */

struct tree_fixture_member {
	uint64_t user;
	struct p256_pair signer;
	struct mls_private keys; /* of the leaf alone; its place is for the caller to say */
	struct mls_leaf *leaf;	 /* of a key package; owned */
};

struct mls_rng tree_fixture_rng(const char *seed);
uint32_t tree_fixture_random(struct mls_rng *rng, uint32_t n);
/* 0, or ENOMEM. */
int tree_fixture_member_init(struct tree_fixture_member *m, uint64_t user, struct mls_rng *rng);
void tree_fixture_member_free(struct tree_fixture_member *m);

/* A group whose members all know their keys, as if the messages had passed. */
enum { TREE_FIXTURE_MAX = 64 };
struct tree_fixture {
	struct mls_tree *tree;
	struct tree_fixture_member *member[TREE_FIXTURE_MAX]; /* by leaf; owned */
	uint64_t epoch;
	struct mls_rng rng;
	uint64_t users; /* that ever were */
};
/* One commit with a path: who goes, how many come, who sends. Every other member opens it and must
 * come to the same secret; those who come get theirs from the path secrets. 0; ENOMEM; EINVAL when
 * the members do not agree. */
struct tree_fixture_commit {
	uint32_t sender, gone[TREE_FIXTURE_MAX], n_gone, n_come;
};
int tree_fixture_init(struct tree_fixture *c, const char *seed);
int tree_fixture_commit(struct tree_fixture *c, const struct tree_fixture_commit *what);
/* A member's leaf, at random but `not`. */
uint32_t tree_fixture_random_leaf(struct tree_fixture *c, uint32_t not );
void tree_fixture_free(struct tree_fixture *c);
/* What a newcomer says to a tree: it is validated with nothing remembered about its leaves. */
int tree_fixture_validate(const struct mls_tree *t);
/* What stands in for the GroupContext of an epoch. Frees nothing; o is the caller's. */
void tree_fixture_context(struct mls_out *o, const struct mls_tree *t, uint64_t epoch);

/* A leaf of opaque keys and no signature worth the name; ids make them differ. NULL when out of
 * memory. */
struct mls_leaf *tree_fixture_fake_leaf(uint32_t id);

#endif
