/* The part of MLS (RFC 9420) that DAVE uses, for one cipher suite: 2,
 * MLS_128_DHKEMP256_AES128GCM_SHA256_P256.
 *
 * Everything in this folder is a function of its arguments: no clock, no system randomness (struct
 * mls_rng), no I/O. Input comes from strangers: every length is checked against the available bytes
 * and against these caps before anything is allocated.
 *
 * Errors, the same in the whole folder: EBADMSG malformed, or against a rule of the RFC; EACCES a
 * signature, tag or ciphertext is not authentic; ESTALE another epoch or group; ENOENT not for us,
 * or an unknown reference; ENOTSUP a suite, version or type outside of this subset; EOVERFLOW past
 * a cap; ENOMEM. Out-parameters are written only on success. */
#ifndef MEDIAD_MLS_MLS_H
#define MEDIAD_MLS_MLS_H

#include "proto/base/cursor.h"

enum {
	MLS_VERSION = 1, /* mls10 */
	MLS_SUITE = 2,
	MLS_HASH = 32,
	MLS_KEY = 16,
	MLS_NONCE = 12,
	MLS_TAG = 16,
	MLS_POINT = 65, /* uncompressed */
	MLS_SCALAR = 32,
	MLS_SIG_MAX = 72, /* DER */

	MLS_LEAVES_MAX = 1024, /* width of a tree; members at most 1000 */
	MLS_MEMBERS_MAX = 1000,
	MLS_BYTES_MAX = 1 << 20,  /* a message, also one that we build */
	MLS_PROPOSALS_MAX = 1024, /* of one epoch */
};

enum mls_proposal_type {
	MLS_PROPOSAL_ADD = 1,
	MLS_PROPOSAL_UPDATE = 2,
	MLS_PROPOSAL_REMOVE = 3,
	MLS_PROPOSAL_PSK = 4,
	MLS_PROPOSAL_REINIT = 5,
	MLS_PROPOSAL_EXTERNAL_INIT = 6,
	MLS_PROPOSAL_GROUP_CONTEXT_EXTENSIONS = 7,
};
enum {
	MLS_EXT_RATCHET_TREE = 2,
	MLS_EXT_REQUIRED_CAPABILITIES = 3,
	MLS_EXT_EXTERNAL_PUB = 4,
	MLS_EXT_EXTERNAL_SENDERS = 5
};

static inline struct slice mls_slice(const void *p, size_t n)
{
	return (struct slice){.p = p, .n = n};
}
static inline bool mls_equal(struct slice a, struct slice b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

#endif
