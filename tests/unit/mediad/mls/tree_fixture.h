/* A tree fixture: members with real keys, and fake leaves. */
#ifndef TESTS_UNIT_MEDIAD_MLS_TREE_FIXTURE_H
#define TESTS_UNIT_MEDIAD_MLS_TREE_FIXTURE_H

#include "mediad/mls/treekem.h"

extern const struct slice tree_fixture_group_id; /* id of the group that they sign for */

struct tree_fixture_member {
	uint64_t user;
	struct p256_pair signer;
	struct mls_private keys; /* of the leaf alone; the caller sets its index */
	struct mls_leaf *leaf;	 /* of a key package; owned */
};

struct mls_rng tree_fixture_rng(const char *seed);
uint32_t tree_fixture_random(struct mls_rng *rng, uint32_t n);
/* 0, or ENOMEM. */
int tree_fixture_member_init(struct tree_fixture_member *m, uint64_t user, struct mls_rng *rng);
void tree_fixture_member_free(struct tree_fixture_member *m);

/* A group whose members hold their keys, as after an exchange of messages. */
enum { TREE_FIXTURE_MAX = 64 };
struct tree_fixture {
	struct mls_tree *tree;
	struct tree_fixture_member *member[TREE_FIXTURE_MAX]; /* by leaf; owned */
	uint64_t epoch;
	struct mls_rng rng;
	uint64_t users; /* users ever created */
};
/* One commit with a path: removed leaves, number of new members, sender. Every other member
 * decrypts it and must derive the same secret; new members derive it from the path secrets. Returns
 * ENOMEM, or EINVAL when the members disagree. */
struct tree_fixture_commit {
	uint32_t sender, gone[TREE_FIXTURE_MAX], n_gone, n_come;
};
int tree_fixture_init(struct tree_fixture *c, const char *seed);
int tree_fixture_commit(struct tree_fixture *c, const struct tree_fixture_commit *what);
/* A member's leaf, at random but `not`. */
uint32_t tree_fixture_random_leaf(struct tree_fixture *c, uint32_t not );
void tree_fixture_free(struct tree_fixture *c);
/* Validates the tree as a new member does, without remembered results. */
int tree_fixture_validate(const struct mls_tree *t);
/* Writes a stand-in for the GroupContext of an epoch; the caller owns o. */
void tree_fixture_context(struct mls_out *o, const struct mls_tree *t, uint64_t epoch);

/* Makes a leaf with opaque keys and an invalid signature; ids make leaves differ. Returns NULL
 * without memory. */
struct mls_leaf *tree_fixture_fake_leaf(uint32_t id);

#endif
