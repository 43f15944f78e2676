/* Members for tests of trees: leaves with real keys, and leaves that only look like some. */
#ifndef TESTS_UNIT_MEDIAD_MLS_CROWD_H
#define TESTS_UNIT_MEDIAD_MLS_CROWD_H

#include "mediad/mls/treekem.h"

extern const struct slice crowd_group; /* id of the group that they sign for */

struct crowd_member {
	uint64_t user;
	struct p256_pair signer;
	struct mls_private keys; /* of the leaf alone; its place is for the caller to say */
	struct mls_leaf *leaf;	 /* of a key package; owned */
};

struct mls_rng crowd_rng(const char *seed);
uint32_t crowd_below(struct mls_rng *rng, uint32_t n);
/* 0, or ENOMEM. */
int crowd_join(struct crowd_member *m, uint64_t user, struct mls_rng *rng);
void crowd_leave(struct crowd_member *m);

/* A group whose members all know their keys, as if the messages had passed. */
enum { CROWD_MAX = 64 };
struct crowd {
	struct mls_tree *tree;
	struct crowd_member *member[CROWD_MAX]; /* by leaf; owned */
	uint64_t epoch;
	struct mls_rng rng;
	uint64_t users; /* that ever were */
};
/* One commit with a path: who goes, how many come, who sends. Every other member opens it and must
 * come to the same secret; those who come get theirs from the path secrets. 0; ENOMEM; EINVAL when
 * the members do not agree. */
struct crowd_commit {
	uint32_t sender, gone[CROWD_MAX], n_gone, n_come;
};
int crowd_start(struct crowd *c, const char *seed);
int crowd_commit(struct crowd *c, const struct crowd_commit *what);
/* A member's leaf, at random but `not`. */
uint32_t crowd_any(struct crowd *c, uint32_t not );
void crowd_end(struct crowd *c);
/* What a newcomer says to a tree: it is validated with nothing remembered about its leaves. */
int crowd_judge(const struct mls_tree *t);
/* What stands in for the GroupContext of an epoch. Frees nothing; o is the caller's. */
void crowd_context(struct mls_out *o, const struct mls_tree *t, uint64_t epoch);

/* A leaf of opaque keys and no signature worth the name; ids make them differ. NULL when out of
 * memory. */
struct mls_leaf *crowd_fake(uint32_t id);

#endif
