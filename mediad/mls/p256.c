#include "mediad/mls/p256.h"

#include <errno.h>

#include <sodium.h>

#include "mediad/mls/p256_maker.h"

static const uint8_t order[MLS_SCALAR] = {
	0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17,
	0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
};

static const struct p256_ops *ops_of(enum p256_maker maker, enum p256_maker any)
{
	if (maker == P256_ANY)
		maker = any;
	return maker == P256_MBEDTLS ? &p256_by_mbedtls : &p256_by_openssl;
}

/* True if a scalar is above 0 and below the order, in constant time. */
static bool in_range(const uint8_t v[MLS_SCALAR])
{
	unsigned borrow = 0, any = 0;

	for (int i = MLS_SCALAR - 1; i >= 0; i--) {
		borrow = (unsigned)(v[i] - order[i] - (int)borrow) >> 8 & 1;
		any |= v[i];
	}
	return any && borrow;
}

/* The forms of SEC 1 for a point other than infinity; the hybrid forms (6, 7) are not in use. */
static bool is_form(struct slice pub)
{
	if (pub.n == MLS_POINT)
		return pub.p[0] == 4;
	return pub.n == MLS_SCALAR + 1 && (pub.p[0] == 2 || pub.p[0] == 3);
}

/* ---- signatures in DER ---- */

/* Checks one INTEGER in its only DER form and within the range of r and s. */
static bool der_integer(struct rd *r)
{
	uint8_t v[MLS_SCALAR] = {0};
	uint64_t tag = rd_be(r, 1), n = rd_be(r, 1);
	const uint8_t *p = rd_bytes(r, n);

	if (tag != 2 || !p || n == 0 || p[0] & 0x80)
		return false;
	if (n > 1 && p[0] == 0) {
		if (!(p[1] & 0x80))
			return false;
		p++;
		n--;
	}
	if (n > sizeof v)
		return false;
	memcpy(v + sizeof v - n, p, n);
	return in_range(v);
}

/* The implementations differ in other forms that they accept (negative numbers, long lengths), so
 * this check comes first. */
static bool is_der(struct slice sig)
{
	struct rd r = rd_of(sig.p, sig.n);
	uint64_t tag = rd_be(&r, 1), n = rd_be(&r, 1);

	return tag == 0x30 && n == rd_left(&r) && der_integer(&r) && der_integer(&r) && r.ok &&
	       rd_left(&r) == 0;
}

/* ---- dispatch ---- */

int p256_from_priv(struct p256_pair *out, const uint8_t priv[MLS_SCALAR], enum p256_maker maker)
{
	struct p256_pair k;
	int err;

	if (!in_range(priv))
		return EBADMSG;
	err = ops_of(maker, P256_OPENSSL)->pub(k.pub, priv);
	if (err)
		return err;
	memcpy(k.priv, priv, sizeof k.priv);
	*out = k;
	p256_wipe(&k);
	return 0;
}

int p256_generate(struct p256_pair *out, struct mls_rng *rng)
{
	uint8_t priv[MLS_SCALAR];
	int err;

	/* One in 2^32 is not below the order. */
	do {
		mls_rng_fill(rng, priv, sizeof priv);
		err = p256_from_priv(out, priv, P256_ANY);
	} while (err == EBADMSG);
	sodium_memzero(priv, sizeof priv);
	return err;
}

void p256_wipe(struct p256_pair *k)
{
	sodium_memzero(k, sizeof *k);
}

int p256_point(uint8_t out[MLS_POINT], struct slice pub, enum p256_maker maker)
{
	return is_form(pub) ? ops_of(maker, P256_MBEDTLS)->point(out, pub) : EBADMSG;
}

int p256_check(struct slice pub, enum p256_maker maker)
{
	uint8_t point[MLS_POINT];

	return p256_point(point, pub, maker);
}

int p256_dh(uint8_t z[MLS_SCALAR], const uint8_t priv[MLS_SCALAR], struct slice pub,
	    enum p256_maker maker)
{
	return is_form(pub) && in_range(priv) ? ops_of(maker, P256_OPENSSL)->dh(z, priv, pub)
					      : EBADMSG;
}

int p256_sign(uint8_t sig[MLS_SIG_MAX], size_t *n, const uint8_t priv[MLS_SCALAR],
	      const uint8_t hash[MLS_HASH], struct mls_rng *rng)
{
	return in_range(priv) ? p256_mbedtls_sign(sig, n, priv, hash, rng) : EBADMSG;
}

int p256_verify(struct slice pub, const uint8_t hash[MLS_HASH], struct slice sig,
		enum p256_maker maker)
{
	return is_form(pub) && is_der(sig) ? ops_of(maker, P256_OPENSSL)->verify(pub, hash, sig)
					   : EACCES;
}
