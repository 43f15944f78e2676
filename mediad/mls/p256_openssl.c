#include "mediad/mls/p256_maker.h"

#include <errno.h>

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>

/* P-256 by libcrypto. Every call allocates and frees its own objects, so threads share nothing.
 * libcrypto's error queue also belongs to the thread's TLS, so errors that a call adds are removed
 * again. */
static int finish_call(bool ok, int other)
{
	int reason = ERR_GET_REASON(ERR_peek_last_error());

	ERR_pop_to_mark();
	if (ok)
		return 0;
	return reason == ERR_R_MALLOC_FAILURE ? ENOMEM : other;
}

/* The objects of one multiplication. */
struct work {
	EC_GROUP *group;
	EC_POINT *in, *out;
	BIGNUM *scalar;
};

static int work_begin(struct work *w)
{
	ERR_set_mark();
	*w = (struct work){.group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1),
			   .scalar = BN_new()};
	if (w->group) {
		w->in = EC_POINT_new(w->group);
		w->out = EC_POINT_new(w->group);
	}
	return w->in && w->out && w->scalar ? 0 : ENOMEM;
}

static int work_end(struct work *w, bool ok)
{
	BN_clear_free(w->scalar);
	EC_POINT_clear_free(w->in);
	EC_POINT_clear_free(w->out);
	EC_GROUP_free(w->group);
	return finish_call(ok, EBADMSG);
}

/* Also checks that it is on the curve. */
static bool read_point(struct work *w, struct slice pub)
{
	return EC_POINT_oct2point(w->group, w->in, pub.p, pub.n, NULL) == 1;
}

static bool read_scalar(struct work *w, const uint8_t priv[MLS_SCALAR])
{
	if (!BN_bin2bn(priv, MLS_SCALAR, w->scalar))
		return false;
	BN_set_flags(w->scalar, BN_FLG_CONSTTIME);
	return true;
}

static bool write_point(struct work *w, const EC_POINT *p, uint8_t out[MLS_POINT])
{
	return EC_POINT_point2oct(w->group, p, POINT_CONVERSION_UNCOMPRESSED, out, MLS_POINT,
				  NULL) == MLS_POINT;
}

static int make_pub(uint8_t pub[MLS_POINT], const uint8_t priv[MLS_SCALAR])
{
	struct work w;
	bool ok = work_begin(&w) == 0 && read_scalar(&w, priv) &&
		  EC_POINT_mul(w.group, w.out, w.scalar, NULL, NULL, NULL) == 1 &&
		  write_point(&w, w.out, pub);

	return work_end(&w, ok);
}

static int make_point(uint8_t out[MLS_POINT], struct slice pub)
{
	struct work w;
	bool ok = work_begin(&w) == 0 && read_point(&w, pub) && write_point(&w, w.in, out);

	return work_end(&w, ok);
}

static int make_dh(uint8_t z[MLS_SCALAR], const uint8_t priv[MLS_SCALAR], struct slice pub)
{
	uint8_t shared[MLS_POINT];
	struct work w;
	bool ok = work_begin(&w) == 0 && read_point(&w, pub) && read_scalar(&w, priv) &&
		  EC_POINT_mul(w.group, w.out, NULL, w.in, w.scalar, NULL) == 1 &&
		  write_point(&w, w.out, shared);

	if (ok)
		memcpy(z, shared + 1, MLS_SCALAR);
	OPENSSL_cleanse(shared, sizeof shared);
	return work_end(&w, ok);
}

static EVP_PKEY *read_key(struct slice pub)
{
	char curve[] = "P-256";
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, curve, 0),
		/* It is not written to, although its type is not const. */
		OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)pub.p, pub.n),
		OSSL_PARAM_construct_end(),
	};
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
	EVP_PKEY *key = NULL;

	if (ctx && EVP_PKEY_fromdata_init(ctx) == 1)
		EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, (OSSL_PARAM *)params);
	EVP_PKEY_CTX_free(ctx);
	return key;
}

static int make_verify(struct slice pub, const uint8_t hash[MLS_HASH], struct slice sig)
{
	EVP_PKEY_CTX *ctx = NULL;
	EVP_PKEY *key;
	bool ok;

	ERR_set_mark();
	key = read_key(pub);
	if (key)
		ctx = EVP_PKEY_CTX_new(key, NULL);
	ok = ctx && EVP_PKEY_verify_init(ctx) == 1 &&
	     EVP_PKEY_verify(ctx, sig.p, sig.n, hash, MLS_HASH) == 1;
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(key);
	return finish_call(ok, EACCES);
}

const struct p256_ops p256_by_openssl = {
	.pub = make_pub,
	.point = make_point,
	.dh = make_dh,
	.verify = make_verify,
};
