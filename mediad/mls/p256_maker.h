/* The interface of an implementation of curve arithmetic for p256.c. p256.c has checked lengths,
 * forms and ranges: scalars are above 0 and below the order, points have 33 or 65 bytes and begin
 * with 2, 3 or 4, signatures are strict DER. The implementation checks that a point is on the
 * curve. Errors as in p256.h. */
#ifndef MEDIAD_MLS_P256_MAKER_H
#define MEDIAD_MLS_P256_MAKER_H

#include "mediad/mls/p256.h"

struct p256_ops {
	int (*pub)(uint8_t pub[MLS_POINT], const uint8_t priv[MLS_SCALAR]);
	int (*point)(uint8_t out[MLS_POINT], struct slice pub);
	int (*dh)(uint8_t z[MLS_SCALAR], const uint8_t priv[MLS_SCALAR], struct slice pub);
	int (*verify)(struct slice pub, const uint8_t hash[MLS_HASH], struct slice sig);
};
extern const struct p256_ops p256_by_mbedtls, p256_by_openssl;

int p256_mbedtls_sign(uint8_t sig[MLS_SIG_MAX], size_t *n, const uint8_t priv[MLS_SCALAR],
		      const uint8_t hash[MLS_HASH], struct mls_rng *rng);

#endif
