/* A client's side of DAVE as far as a voice server sees it: key packages that hold, and commits
 * whose secrets mean nothing. */
#ifndef TESTS_UNIT_GUILDD_MEMBER_H
#define TESTS_UNIT_GUILDD_MEMBER_H

#include "tests/guildd/dave_mls.h"

struct evp_pkey_st;

struct member_key {
	uint64_t user;
	struct evp_pkey_st *sign;
	uint8_t pub[GD_MLS_POINT];
};
/* False without memory. */
bool member_begin(struct member_key *m, uint64_t user);
void member_end(struct member_key *m);

/* What makes a key package another than it should be. */
struct member_odd {
	uint16_t suite;	      /* 0: 2 */
	uint8_t not_before;   /* last byte of the lifetime's begin */
	bool same_keys;	      /* init key and encryption key are one */
	bool off_curve;	      /* of the init key */
	bool other_signature; /* of the leaf */
};
/* Writes a key package; a new one each time. */
void member_key_package(const struct member_key *m, const struct member_odd *odd, struct wr *out);

struct member_commit {
	uint64_t group, epoch;
	uint32_t leaf;
	bool path;
	const uint8_t (*refs)[GD_MLS_REF];
	size_t n_refs;
	const uint8_t (*welcomes)[GD_MLS_REF]; /* references of key packages */
	size_t n_welcomes;
	struct slice kp, sender; /* of epoch 0: the committer's key package, op 25 */
	bool other_leaf_signature, other_signature;
};
/* Writes op 28. */
void member_commit(const struct member_key *m, const struct member_commit *c, struct wr *out);

#endif
