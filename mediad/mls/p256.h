/* P-256: keys, Diffie-Hellman, ECDSA with SHA-256 (RFC 9420 suite 2; SEC 1; signatures in DER).
 * There are two implementations (docs/decisions/0009 says why): libcrypto multiplies and verifies
 * at a tenth of mbedTLS's cost or less; mbedTLS validates points and signs, because its nonces are
 * deterministic (RFC 6979), which replay needs. P256_ANY chooses the better one for the call.
 * Points are checked to be on the curve; compressed ones are accepted. Private scalars are 32
 * bytes, big-endian. */
#ifndef MEDIAD_MLS_P256_H
#define MEDIAD_MLS_P256_H

#include "mediad/mls/mls.h"
#include "mediad/mls/rng.h"

enum p256_maker { P256_ANY, P256_MBEDTLS, P256_OPENSSL };

struct p256_pair {
	uint8_t priv[MLS_SCALAR];
	uint8_t pub[MLS_POINT];
};

/* ENOMEM. Values, to be wiped by the caller (p256_wipe). */
int p256_generate(struct p256_pair *out, struct mls_rng *rng);
/* The pair of a known scalar. EBADMSG when it is 0 or not below the order. */
int p256_from_priv(struct p256_pair *out, const uint8_t priv[MLS_SCALAR], enum p256_maker maker);
void p256_wipe(struct p256_pair *k);
/* EBADMSG: not a point of the curve, in 33 or 65 bytes, or the point at infinity. */
int p256_check(struct slice pub, enum p256_maker maker);
/* The same point in its uncompressed form. EBADMSG as above. */
int p256_point(uint8_t out[MLS_POINT], struct slice pub, enum p256_maker maker);
/* z: the x coordinate, 32 bytes with leading zeros. EBADMSG as above. */
int p256_dh(uint8_t z[MLS_SCALAR], const uint8_t priv[MLS_SCALAR], struct slice pub,
	    enum p256_maker maker);
/* *n: bytes written, at most MLS_SIG_MAX. rng only blinds. */
int p256_sign(uint8_t sig[MLS_SIG_MAX], size_t *n, const uint8_t priv[MLS_SCALAR],
	      const uint8_t hash[MLS_HASH], struct mls_rng *rng);
/* EACCES: not this key's signature (a signature or key that is malformed too). */
int p256_verify(struct slice pub, const uint8_t hash[MLS_HASH], struct slice sig,
		enum p256_maker maker);

#endif
