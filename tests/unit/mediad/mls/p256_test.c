#include "tests/test.h"

#include <openssl/err.h>

#include "mediad/mls/crypto.h"
#include "mediad/mls/p256.h"
#include "tests/unit/mediad/mls/hex.h"

#define ORDER "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
#define FIELD "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"

static const enum p256_maker makers[] = {P256_MBEDTLS, P256_OPENSSL, P256_ANY};
enum { MAKERS = sizeof makers / sizeof *makers };

static bool is(const uint8_t *got, size_t n, const char *hex)
{
	return mls_equal(mls_slice(got, n), hex_bytes(hex));
}

static struct slice pub_of(const struct p256_pair *k)
{
	return mls_slice(k->pub, sizeof k->pub);
}

static void seeded(struct mls_rng *rng, uint8_t with)
{
	uint8_t seed[MLS_SEED] = {with};

	mls_rng_seed(rng, seed);
}

static struct slice compressed(uint8_t out[MLS_SCALAR + 1], const struct p256_pair *k)
{
	memcpy(out, k->pub, MLS_SCALAR + 1);
	out[0] = 2 + (k->pub[MLS_POINT - 1] & 1);
	return mls_slice(out, MLS_SCALAR + 1);
}

/* What all makers say of a point; -1 when they do not agree. */
static int verdict_of_point(struct slice pub)
{
	static const uint8_t priv[MLS_SCALAR] = {1};
	uint8_t z[MLS_SCALAR], out[MLS_POINT];
	int first = p256_check(pub, makers[0]);

	for (unsigned m = 0; m < MAKERS; m++)
		if (p256_check(pub, makers[m]) != first ||
		    p256_dh(z, priv, pub, makers[m]) != first ||
		    p256_point(out, pub, makers[m]) != first)
			return -1;
	return first;
}

/* What all makers say of a signature; -1 when they do not agree. */
static int verdict(struct slice pub, const uint8_t hash[MLS_HASH], struct slice sig)
{
	int first = p256_verify(pub, hash, sig, makers[0]);

	for (unsigned m = 1; m < MAKERS; m++)
		if (p256_verify(pub, hash, sig, makers[m]) != first)
			return -1;
	return first;
}

/* ---- keys ---- */

/* Scalars 1..32 and 100..131; values from another implementation. */
TEST(p256_known_answers)
{
	const char *pub = "04515c3d6eb9e396b904d3feca7f54fdcd0cc1e997bf375dca515ad0a6c3b4035f4536be"
			  "3a50f318fbf9a5475902"
			  "a221502bef0d57e0"
			  "8c53b2cc0a56f17d9f9354";
	const char *other = "045142f48a7c80caf47544a428fc57d272a6c678ad5e93ffcba36666a99639e51dd1bd"
			    "b6fb598144567a2657e8"
			    "ff3619fbaa0cd2a0"
			    "40c19ab22af910c705a757ba";
	struct slice other_short =
		hex_bytes("025142f48a7c80caf47544a428fc57d272a6c678ad5e93ffcba36666a99639e51d");
	uint8_t priv[MLS_SCALAR], z[MLS_SCALAR], point[MLS_POINT];

	for (unsigned i = 0; i < MLS_SCALAR; i++)
		priv[i] = (uint8_t)(1 + i);
	for (unsigned m = 0; m < MAKERS; m++) {
		struct p256_pair k;

		CHECK_INT(p256_from_priv(&k, priv, makers[m]), 0);
		CHECK(is(k.pub, sizeof k.pub, pub));
		CHECK_MEM(k.priv, sizeof k.priv, priv, sizeof priv);
		CHECK_INT(p256_point(point, other_short, makers[m]), 0);
		CHECK(is(point, sizeof point, other));
		CHECK_INT(p256_dh(z, priv, other_short, makers[m]), 0);
		CHECK(is(z, sizeof z,
			 "26d4eeef6a6c76d81c054d19d75dc4f0bdc45d632599df3b8b4c2a86134ffb6c"));
		CHECK_INT(p256_dh(z, priv, hex_bytes(other), makers[m]), 0);
		CHECK(is(z, sizeof z,
			 "26d4eeef6a6c76d81c054d19d75dc4f0bdc45d632599df3b8b4c2a86134ffb6c"));
	}
	hex_end();
}

TEST(p256_scalars_have_a_range)
{
	static const struct {
		const char *hex;
		int err;
	} cases[] = {
		{"0000000000000000000000000000000000000000000000000000000000000000", EBADMSG},
		{"0000000000000000000000000000000000000000000000000000000000000001", 0},
		{"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550", 0},
		{ORDER, EBADMSG},
		{"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552", EBADMSG},
		{"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", EBADMSG},
		{"ffffffff00000000fffffffffffffffe00000000000000000000000000000000", 0},
	};
	uint8_t z[MLS_SCALAR], sig[MLS_SIG_MAX], hash[MLS_HASH] = {1};
	struct p256_pair base, k, none = {0};
	struct mls_rng rng;
	size_t n;

	seeded(&rng, 1);
	CHECK_INT(p256_generate(&base, &rng), 0);
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
		for (unsigned m = 0; m < MAKERS; m++) {
			const uint8_t *priv = hex_bytes(cases[i].hex).p;

			k = none;
			CHECK_INT(p256_from_priv(&k, priv, makers[m]), cases[i].err);
			CHECK((memcmp(&k, &none, sizeof k) == 0) == (cases[i].err != 0));
			CHECK_INT(p256_dh(z, priv, pub_of(&base), makers[m]), cases[i].err);
			CHECK_INT(p256_sign(sig, &n, priv, hash, &rng), cases[i].err);
		}
	hex_end();
}

TEST(p256_generate_follows_its_seed)
{
	struct p256_pair a, b, zero = {0};
	struct mls_rng rng;

	seeded(&rng, 2);
	CHECK_INT(p256_generate(&a, &rng), 0);
	CHECK_INT(p256_generate(&b, &rng), 0);
	CHECK(memcmp(&a, &b, sizeof a) != 0);
	seeded(&rng, 2);
	CHECK_INT(p256_generate(&b, &rng), 0);
	CHECK_MEM(&a, sizeof a, &b, sizeof b);
	p256_wipe(&a);
	CHECK_MEM(&a, sizeof a, &zero, sizeof zero);
}

TEST(p256_makers_agree)
{
	struct mls_rng rng;

	seeded(&rng, 3);
	for (unsigned i = 0; i < 20; i++) {
		struct p256_pair a, b, again;
		uint8_t za[MLS_SCALAR], zb[MLS_SCALAR], zc[MLS_SCALAR], form[MLS_SCALAR + 1],
			point[MLS_POINT];
		uint8_t hash[MLS_HASH], sig[MLS_SIG_MAX];
		struct slice small;
		size_t n;

		CHECK_INT(p256_generate(&a, &rng), 0);
		CHECK_INT(p256_generate(&b, &rng), 0);
		small = compressed(form, &a);
		for (unsigned m = 0; m < MAKERS; m++) {
			CHECK_INT(p256_from_priv(&again, a.priv, makers[m]), 0);
			CHECK_MEM(again.pub, MLS_POINT, a.pub, MLS_POINT);
			CHECK_INT(p256_point(point, small, makers[m]), 0);
			CHECK_MEM(point, MLS_POINT, a.pub, MLS_POINT);
			CHECK_INT(p256_point(point, pub_of(&a), makers[m]), 0);
			CHECK_MEM(point, MLS_POINT, a.pub, MLS_POINT);
			CHECK_INT(p256_dh(za, a.priv, pub_of(&b), makers[m]), 0);
			CHECK_INT(p256_dh(zb, b.priv, pub_of(&a), makers[0]), 0);
			CHECK_INT(p256_dh(zc, b.priv, small, makers[m]), 0);
			CHECK_MEM(za, sizeof za, zb, sizeof zb);
			CHECK_MEM(za, sizeof za, zc, sizeof zc);
		}
		mls_rng_fill(&rng, hash, sizeof hash);
		CHECK_INT(p256_sign(sig, &n, a.priv, hash, &rng), 0);
		CHECK_INT(verdict(pub_of(&a), hash, mls_slice(sig, n)), 0);
		CHECK_INT(verdict(small, hash, mls_slice(sig, n)), 0);
		CHECK_INT(verdict(pub_of(&b), hash, mls_slice(sig, n)), EACCES);
		hash[i] ^= 0x10;
		CHECK_INT(verdict(pub_of(&a), hash, mls_slice(sig, n)), EACCES);
	}
}

/* ---- points ---- */

TEST(p256_refuses_what_is_no_point)
{
	static const uint8_t zero[MLS_POINT + 1];
	uint8_t p[MLS_POINT + 1] = {0};
	struct p256_pair k;
	struct mls_rng rng;

	seeded(&rng, 4);
	CHECK_INT(p256_generate(&k, &rng), 0);
	memcpy(p, k.pub, MLS_POINT);
	CHECK_INT(verdict_of_point(mls_slice(p, MLS_POINT)), 0);
	p[MLS_POINT - 1] ^= 1; /* beside the curve */
	CHECK_INT(verdict_of_point(mls_slice(p, MLS_POINT)), EBADMSG);
	p[MLS_POINT - 1] ^= 1;
	for (unsigned form = 0; form < 256; form++) {
		p[0] = (uint8_t)
			form; /* also the hybrid forms 6 and 7, whose coordinates are right */
		CHECK_INT(verdict_of_point(mls_slice(p, MLS_POINT)), form == 4 ? 0 : EBADMSG);
		CHECK_INT(verdict_of_point(mls_slice(p, MLS_SCALAR + 1)),
			  form == 2 || form == 3 ? 0 : EBADMSG);
	}
	p[0] = 4;
	for (size_t n = 0; n <= sizeof p; n++)
		CHECK_INT(verdict_of_point(mls_slice(p, n)), n == MLS_POINT ? 0 : EBADMSG);
	/* infinity, in its own form and in others' places */
	for (size_t n = 0; n <= sizeof zero; n++)
		CHECK_INT(verdict_of_point(mls_slice(zero, n)), EBADMSG);
	memset(p + 1, 0, MLS_POINT - 1);
	CHECK_INT(verdict_of_point(mls_slice(p, MLS_POINT)), EBADMSG);
}

TEST(p256_coordinates_are_below_the_field)
{
	/* x = 0 is on the curve; x = p would be the same point */
	CHECK_INT(verdict_of_point(hex_bytes(
			  "020000000000000000000000000000000000000000000000000000000000000000")),
		  0);
	CHECK_INT(verdict_of_point(hex_bytes("02" FIELD)), EBADMSG);
	CHECK_INT(verdict_of_point(hex_bytes("03" FIELD)), EBADMSG);
	CHECK_INT(verdict_of_point(hex_bytes(
			  "02ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff")),
		  EBADMSG);
	CHECK_INT(verdict_of_point(hex_bytes(
			  "04" FIELD
			  "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4")),
		  EBADMSG);
	hex_end();
}

TEST(p256_half_of_all_x_have_a_point)
{
	unsigned good = 0;

	for (unsigned x = 0; x < 64; x++) {
		uint8_t p[MLS_SCALAR + 1] = {2};
		int v;

		p[MLS_SCALAR] = (uint8_t)x;
		v = verdict_of_point(mls_slice(p, sizeof p));
		CHECK(v == 0 || v == EBADMSG);
		good += v == 0;
	}
	CHECK(good > 20 && good < 44);
}

/* ---- signatures ---- */

/* RFC 6979 A.2.5, SHA-256, "sample". */
TEST(p256_signs_as_rfc_6979)
{
	const struct slice sample = mls_slice("sample", 6);
	const uint8_t *priv =
		hex_bytes("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721").p;
	const char *want =
		"3046022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
		"022100f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8";
	uint8_t hash[MLS_HASH], sig[MLS_SIG_MAX];
	struct p256_pair k;
	struct mls_rng rng;
	size_t n;

	CHECK_INT(mls_hash(hash, &sample, 1), 0);
	for (uint8_t with = 5; with < 8; with++) {
		seeded(&rng, with);
		CHECK_INT(p256_sign(sig, &n, priv, hash, &rng), 0);
		CHECK(is(sig, n, want));
	}
	CHECK_INT(p256_from_priv(&k, priv, P256_ANY), 0);
	CHECK_INT(verdict(pub_of(&k), hash, mls_slice(sig, n)), 0);
	hex_end();
}

/* r and s of RFC 6979's signature, in other clothes. */
#define R     "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
#define S     "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
#define S_LOW "0834e36ad29a83bf2bc9385e491d6099c8fdf9d1ed67aa7ea5f51f93782857a9" /* order - s */
#define INT_R "022100" R
#define INT_S "022100" S

TEST(p256_signatures_are_der)
{
	static const struct {
		const char *hex;
		int err;
	} cases[] = {
		{"3046" INT_R INT_S, 0},
		{"3045" INT_R "0220" S_LOW, 0},	   /* either s will do */
		{"3046" INT_R INT_S "00", EACCES}, /* something behind it */
		{"3047" INT_R INT_S "00", EACCES}, /* something inside it */
		{"3045" INT_R INT_S, EACCES},	   /* a length too short */
		{"3047" INT_R INT_S, EACCES},	   /* too long */
		{"308146" INT_R INT_S, EACCES},	   /* long form */
		{"3047" INT_R "02810021"
		 "00" S,
		 EACCES},			     /* long form inside */
		{"3047" INT_R "02220000" S, EACCES}, /* a zero too many */
		{"3046" INT_R "02210008"
		 "34e36ad29a83bf2bc9385e491d6099c8fdf9d1ed67aa7ea5f51f93782857a900",
		 EACCES},
		{"3046" INT_R "022100" S_LOW, EACCES}, /* a zero that is not needed */
		{"3045"
		 "0220" R INT_S,
		 EACCES}, /* negative r */
		{"3046" INT_S INT_R, EACCES},
		{"3146" INT_R INT_S, EACCES},
		{"3046"
		 "032100" R INT_S,
		 EACCES},
		{"3026"
		 "020100" INT_S,
		 EACCES},			 /* r = 0 */
		{"3026" INT_R "020100", EACCES}, /* s = 0 */
		{"3025"
		 "0200" INT_S,
		 EACCES},
		{"3046"
		 "022100" ORDER INT_S,
		 EACCES},
		{"3046" INT_R "022100" ORDER, EACCES},
		{"3047"
		 "022201"
		 "00" R INT_S,
		 EACCES},
		{"3023" INT_R, EACCES},
		{"3000", EACCES},
		{"30", EACCES},
		{"", EACCES},
	};
	const struct slice sample = mls_slice("sample", 6);
	uint8_t hash[MLS_HASH];
	struct p256_pair k;

	CHECK_INT(
		p256_from_priv(
			&k,
			hex_bytes(
				"c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721")
				.p,
			P256_ANY),
		0);
	CHECK_INT(mls_hash(hash, &sample, 1), 0);
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		int got = verdict(pub_of(&k), hash, hex_bytes(cases[i].hex));

		if (got != cases[i].err)
			test_fail(__FILE__, __LINE__, "signature %u: %d, want %d", i, got,
				  cases[i].err);
	}
	hex_end();
}

TEST(p256_no_byte_of_a_signature_is_idle)
{
	uint8_t hash[MLS_HASH] = {9}, sig[MLS_SIG_MAX];
	struct p256_pair k;
	struct mls_rng rng;
	size_t n;

	seeded(&rng, 9);
	CHECK_INT(p256_generate(&k, &rng), 0);
	CHECK_INT(p256_sign(sig, &n, k.priv, hash, &rng), 0);
	CHECK_INT(verdict(pub_of(&k), hash, mls_slice(sig, n)), 0);
	for (size_t i = 0; i < n; i++) {
		CHECK_INT(verdict(pub_of(&k), hash, mls_slice(sig, i)), EACCES);
		sig[i] ^= (uint8_t)(1 << (i & 7));
		CHECK_INT(verdict(pub_of(&k), hash, mls_slice(sig, n)), EACCES);
		sig[i] ^= (uint8_t)(1 << (i & 7));
	}
}

/* A key made so that the sum of a verification is infinity: priv = order - hash, with r = s = 1. */
TEST(p256_verify_meets_infinity)
{
	struct slice order = hex_bytes(ORDER);
	uint8_t hash[MLS_HASH] = {0}, priv[MLS_SCALAR];
	struct p256_pair k;

	hash[MLS_HASH - 1] = 0x11;
	memcpy(priv, order.p, sizeof priv);
	priv[MLS_SCALAR - 1] -= 0x11;
	CHECK_INT(p256_from_priv(&k, priv, P256_ANY), 0);
	CHECK_INT(verdict(pub_of(&k), hash, hex_bytes("3006020101020101")), EACCES);
	hex_end();
}

TEST(p256_verify_with_a_key_that_is_none)
{
	uint8_t hash[MLS_HASH] = {1}, sig[MLS_SIG_MAX], pub[MLS_POINT];
	struct p256_pair k;
	struct mls_rng rng;
	size_t n;

	seeded(&rng, 10);
	CHECK_INT(p256_generate(&k, &rng), 0);
	CHECK_INT(p256_sign(sig, &n, k.priv, hash, &rng), 0);
	memcpy(pub, k.pub, sizeof pub);
	pub[40] ^= 1;
	CHECK_INT(verdict(mls_slice(pub, sizeof pub), hash, mls_slice(sig, n)), EACCES);
	CHECK_INT(verdict((struct slice){0}, hash, mls_slice(sig, n)), EACCES);
	pub[0] = 6;
	pub[40] ^= 1;
	CHECK_INT(verdict(mls_slice(pub, sizeof pub), hash, mls_slice(sig, n)), EACCES);
}

/* The queue of errors belongs to the thread, whose TLS reads it: we neither leave something there
 * nor take away. */
TEST(p256_leaves_no_errors_behind)
{
	uint8_t hash[MLS_HASH] = {1}, sig[MLS_SIG_MAX], pub[MLS_POINT], z[MLS_SCALAR];
	struct p256_pair k;
	struct mls_rng rng;
	unsigned long before;
	size_t n;

	seeded(&rng, 11);
	CHECK_INT(p256_generate(&k, &rng), 0);
	CHECK_INT(p256_sign(sig, &n, k.priv, hash, &rng), 0);
	memcpy(pub, k.pub, sizeof pub);
	pub[40] ^= 1;
	for (unsigned had = 0; had < 2; had++) {
		ERR_clear_error();
		if (had)
			ERR_raise(ERR_LIB_USER, 42);
		before = ERR_peek_last_error();
		CHECK_INT(p256_check(mls_slice(pub, sizeof pub), P256_OPENSSL), EBADMSG);
		CHECK_INT(p256_dh(z, k.priv, mls_slice(pub, sizeof pub), P256_OPENSSL), EBADMSG);
		CHECK_INT(p256_verify(mls_slice(pub, sizeof pub), hash, mls_slice(sig, n),
				      P256_OPENSSL),
			  EACCES);
		CHECK_INT(p256_verify(pub_of(&k), hash, mls_slice(sig, n), P256_OPENSSL), 0);
		hash[1] ^= 1;
		CHECK_INT(p256_verify(pub_of(&k), hash, mls_slice(sig, n), P256_OPENSSL), EACCES);
		hash[1] ^= 1;
		CHECK(ERR_get_error() == before && ERR_get_error() == 0);
	}
}
