/* What lies under every MLS message: vectors, points and signatures.
 *
 * Input: one byte of choices, then the bytes. 0: vectors in vectors, which must be what the writer
 * writes. 1: a point, 2: a signature, of which both makers must say the same. */
#include <stdlib.h>

#include "mediad/mls/codec.h"
#include "mediad/mls/p256.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEEP = 8 };

/* Reads a V, and in it Vs, and writes what it read; false when it is malformed. */
static bool copy(struct rd *r, struct mls_out *o, unsigned depth)
{
	struct rd sub = mls_rd_sub(r), inner = sub;
	size_t at = mls_out_open(o), before = o->n;

	if (!sub.ok)
		return false;
	while (depth < DEEP && rd_left(&inner) > 0)
		if (!copy(&inner, o, depth + 1))
			break;
	if (depth == DEEP || !inner.ok) {
		o->n = before; /* no vectors in here after all */
		mls_out_bytes(o, sub.p, sub.n);
	}
	mls_out_close(o, at);
	return true;
}

static void vectors(const uint8_t *p, size_t n)
{
	struct rd r = rd_of(p, n);
	struct mls_out o = {0};
	struct slice s;

	while (rd_left(&r) > 0) {
		size_t from = r.pos;

		if (mls_rd_optional(&r))
			mls_out_be(&o, 1, 1);
		else if (r.ok)
			mls_out_be(&o, 0, 1);
		if (!r.ok || !copy(&r, &o, 0))
			break;
		s = mls_out_view(&o);
		if (!o.err && (s.n != r.pos - from || memcmp(s.p, p + from, s.n) != 0))
			abort();
		mls_out_free(&o);
	}
	mls_out_free(&o);
}

static void point(struct slice pub)
{
	static const uint8_t priv[MLS_SCALAR] = {1};
	uint8_t a[MLS_POINT], b[MLS_POINT], z[MLS_SCALAR];
	int err = p256_point(a, pub, P256_MBEDTLS);

	if (p256_point(b, pub, P256_OPENSSL) != err || p256_dh(z, priv, pub, P256_OPENSSL) != err)
		abort();
	if (!err && memcmp(a, b, sizeof a) != 0)
		abort();
}

/* The signer's scalar is 1, so that the key is the base point. */
static void signature(struct slice sig)
{
	static const uint8_t hash[MLS_HASH] = {7}, one[MLS_SCALAR] = {[MLS_SCALAR - 1] = 1};
	struct p256_pair k;

	if (p256_from_priv(&k, one, P256_ANY))
		return;
	if (p256_verify(mls_slice(k.pub, MLS_POINT), hash, sig, P256_MBEDTLS) !=
	    p256_verify(mls_slice(k.pub, MLS_POINT), hash, sig, P256_OPENSSL))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] == 0)
		vectors(data + 1, size - 1);
	else if (data[0] == 1)
		point(mls_slice(data + 1, size - 1));
	else
		signature(mls_slice(data + 1, size - 1));
	return 0;
}
