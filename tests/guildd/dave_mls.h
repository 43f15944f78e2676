/* The part of MLS (RFC 9420) that a DAVE voice server needs, over libcrypto: it signs proposals as
 * the group's external sender, validates the key packages of clients, parses commits and makes a
 * Welcome for each joiner with its own secrets only. It verifies what it can: key packages, the
 * signature of a group's first commit, the leaf of a path. It is no member: it knows no secret and
 * no transcript of a group, so that tags and later signatures are for the members to verify. Pure
 * except for the sender's key and signatures. Returned slices point into the input. */
#ifndef GUILDD_DAVE_MLS_H
#define GUILDD_DAVE_MLS_H

#include "proto/base/cursor.h"

enum {
	GD_MLS_REF = 32,
	GD_MLS_SIGNATURE = 80, /* ECDSA over P-256 in DER, at most */
	GD_MLS_POINT = 65,
	GD_MLS_MAX = 1 << 20, /* of one message */
};

/* A KeyPackage as DAVE wants it: MLS 1.0, suite 2, a basic credential of eight bytes, the fixed
 * lifetime, no extensions, both signatures. */
struct gd_key_package {
	uint64_t user;
	struct slice signature_key;
	uint8_t ref[GD_MLS_REF];
};
/* EBADMSG: does not decode; EINVAL: decodes but is not what DAVE asks for; EACCES: a signature is
 * wrong. */
int gd_key_package_read(struct gd_key_package *out, struct slice kp);

struct gd_sender;

/* A new key. Caller owns *out. ENOMEM. */
int gd_sender_alloc(struct gd_sender **out);
struct gd_sender *gd_sender_free(struct gd_sender *s);
/* The payload of op 25, borrowed. */
struct slice gd_sender_package(const struct gd_sender *s);

struct gd_proposal {
	bool add;
	uint64_t user;			 /* the member it adds or removes; set by the caller */
	uint32_t leaf;			 /* of a Remove */
	uint8_t key_package[GD_MLS_REF]; /* of an Add */
	uint8_t ref[GD_MLS_REF];
	bool fresh; /* the caller's: nobody was sent it yet */
	size_t n;
	uint8_t message[]; /* MLSMessage(PublicMessage) */
};
/* Add: kp.n > 0, else Remove of leaf. Caller frees *out. ENOMEM. */
int gd_sender_propose(const struct gd_sender *s, struct gd_proposal **out, uint64_t group,
		      uint64_t epoch, struct slice kp, uint32_t leaf);

/* Op 28: an MLSMessage with a commit, and a bare Welcome behind it when somebody is added. */
struct gd_commit {
	struct slice message, welcome; /* welcome.n = 0: none */
	uint64_t group, epoch;
	uint32_t leaf;
	struct slice refs; /* ProposalOrRef, all of them references: 34 bytes each */
	size_t n_refs;
	bool path;
	uint64_t path_user; /* the UpdatePath's leaf */
	struct slice path_key;
	bool path_signed;     /* by that key, for this group and leaf */
	struct slice content; /* the signed part, from the version on */
	struct slice signature;
	struct slice secrets,
		info; /* of the Welcome: EncryptedGroupSecrets, encrypted_group_info */
	size_t n_secrets;
};
/* EBADMSG: does not decode; EINVAL: not a commit of a member, or one with proposals inside. */
int gd_commit_read(struct gd_commit *out, struct slice op28);
/* The signature of a commit of epoch 0, whose GroupContext a server can compute: the group's only
 * leaf is that of the committer's key package. Later ones contain a transcript that only members
 * know. sender: the payload of op 25. EACCES, EBADMSG, ENOMEM. */
int gd_commit_verify_first(const struct gd_commit *c, struct slice kp, struct slice sender);
/* The i-th reference, GD_MLS_REF bytes. */
const uint8_t *gd_commit_ref(const struct gd_commit *c, size_t i);
/* Writes the Welcome with the secrets of this key package alone. ENOENT: there are none. ENOBUFS.
 */
int gd_commit_welcome(const struct gd_commit *c, const uint8_t key_package[GD_MLS_REF],
		      struct wr *out);

/* Varints of MLS (RFC 9420, 2.1.2), least form only; a vector is a varint and so many bytes. */
struct slice gd_mls_vec(struct rd *r);
void gd_mls_len(struct wr *w, size_t n);
void gd_mls_put(struct wr *w, struct slice v);

#endif
