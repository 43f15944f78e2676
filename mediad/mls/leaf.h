/* Leaf nodes and key packages (RFC 9420 sections 7.2 and 10): immutable objects with counted
 * references.
 *
 * A leaf keeps its own bytes and every slice points into them, so hashes and signatures are over
 * the bytes as received. Counting is not atomic: an object and everything that shares it belongs to
 * one thread at a time. */
#ifndef MEDIAD_MLS_LEAF_H
#define MEDIAD_MLS_LEAF_H

#include "mediad/mls/codec.h"
#include "mediad/mls/crypto.h"

enum mls_leaf_source { MLS_LEAF_KEY_PACKAGE = 1, MLS_LEAF_UPDATE = 2, MLS_LEAF_COMMIT = 3 };
enum { MLS_CREDENTIAL_BASIC = 1, MLS_CREDENTIAL_X509 = 2 };

struct mls_leaf {
	unsigned refs;
	struct slice raw; /* the whole LeafNode; owned */
	struct slice tbs; /* raw without the signature */
	struct slice encryption_key, signature_key;
	uint16_t credential_type;
	struct slice
		identity; /* of a basic credential; else the rest of the credential as it came */
	struct slice credential; /* type and body */
	struct slice versions, suites, extension_types, proposal_types,
		credential_types; /* u16 lists */
	enum mls_leaf_source source;
	uint64_t not_before, not_after; /* KEY_PACKAGE */
	struct slice parent_hash;	/* COMMIT */
	struct slice extensions;	/* body of the vector */
	struct slice signature;
	/* The signature was verified, in the group and at the leaf index given (these count for
	 * UPDATE, COMMIT). */
	bool verified;
	uint32_t verified_leaf;
	uint8_t verified_group[MLS_HASH]; /* hash of the group id */
};

/* EBADMSG, ENOTSUP, EOVERFLOW, ENOMEM. Keys are opaque here. Caller owns one reference. */
int mls_leaf_read(struct mls_leaf **out, struct rd *r);
struct mls_leaf *mls_leaf_ref(struct mls_leaf *l);
/* NULL is accepted; returns NULL. */
struct mls_leaf *mls_leaf_free(struct mls_leaf *l);

/* Our own capabilities: version 1, suite 2, basic credential, nothing else. */
struct mls_leaf_spec {
	struct slice identity;
	struct slice encryption_key;
	const struct p256_pair *signer;
	enum mls_leaf_source source;
	struct slice parent_hash; /* COMMIT */
	struct slice group_id;	  /* COMMIT, UPDATE: signed with it */
	uint32_t leaf;		  /* the same */
};
/* Lifetime 0 … 2^64-1, as Discord's gateway requires. */
int mls_leaf_make(struct mls_leaf **out, const struct mls_leaf_spec *spec, struct mls_rng *rng);
/* Makes the same member's next leaf: everything of `old` but key, source, parent hash and signature
 * (for leaves of other implementations, as in the published vectors). */
int mls_leaf_remake(struct mls_leaf **out, const struct mls_leaf *old,
		    const struct mls_leaf_spec *spec, struct mls_rng *rng);

/* Validates a leaf by section 7.3 without uniqueness and lifetime: signature, suite and version
 * among the capabilities, its own extensions and credential among them, keys that are points.
 * Remembers the verified signature. Returns EBADMSG, EACCES (also for a signature key that is no
 * point), or ENOTSUP when the credential is not basic. */
int mls_leaf_validate(struct mls_leaf *l, struct slice group_id, uint32_t leaf);
/* True when the u16 is in the list. */
bool mls_u16_listed(struct slice list, uint16_t value);

struct mls_key_package {
	unsigned refs;
	struct slice raw; /* owned */
	struct slice tbs;
	uint16_t version, suite;
	struct slice init_key;
	struct mls_leaf *leaf;
	struct slice extensions, signature;
	bool verified; /* it was validated */
};
int mls_key_package_read(struct mls_key_package **out, struct rd *r);
struct mls_key_package *mls_key_package_ref(struct mls_key_package *k);
struct mls_key_package *mls_key_package_free(struct mls_key_package *k);
/* leaf: source KEY_PACKAGE, signed by `signer`; a reference is taken. */
int mls_key_package_make(struct mls_key_package **out, struct mls_leaf *leaf, struct slice init_key,
			 const struct p256_pair *signer, struct mls_rng *rng);
/* Section 10.1: version, suite, both signatures, init key unlike the encryption key, all three
 * points. EBADMSG, ENOTSUP, EACCES. */
int mls_key_package_validate(struct mls_key_package *k);
int mls_key_package_ref_hash(uint8_t out[MLS_HASH], const struct mls_key_package *k);

#endif
