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

/* A leaf of opaque keys and no signature worth the name; ids make them differ. NULL when out of memory. */
struct mls_leaf *crowd_fake(uint32_t id);

#endif
