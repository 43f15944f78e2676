#include "tests/test.h"

#include "mediad/mls/hpke.h"
#include "tests/unit/mediad/mls/hex.h"

/* RFC 9180 A.3.1, sequence number 0. */
static const struct {
	const char *info, *ikm_e, *sk_e, *ikm_r, *sk_r, *pk_r, *enc, *plain, *aad, *sealed;
} a3 = {
	.info = "4f6465206f6e2061204772656369616e2055726e",
	.ikm_e = "4270e54ffd08d79d5928020af4686d8f6b7d35dbe470265f1f5aa22816ce860e",
	.sk_e = "4995788ef4b9d6132b249ce59a77281493eb39af373d236a1fe415cb0c2d7beb",
	.ikm_r = "668b37171f1072f3cf12ea8a236a45df23fc13b82af3609ad1e354f6ef817550",
	.sk_r = "f3ce7fdae57e1a310d87f1ebbde6f328be0a99cdbcadf4d6589cf29de4b8ffd2",
	.pk_r = "04fe8c19ce0905191ebc298a9245792531f26f0cece2460639e8bc39cb7f706a826a779b4cf969b8a0"
		"e539c7f62fb3d30ad6aa"
		"8f80e30f1d1"
		"28aafd68a2ce72ea0",
	.enc = "04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac98536d7b61a1af4b78"
	       "e5b7f951c0900be863c4"
	       "03ce65c9bfc"
	       "b9382657222d18c4",
	.plain = "4265617574792069732074727574682c20747275746820626561757479",
	.aad = "436f756e742d30",
	.sealed = "5ad590bb8baa577f8619db35a36311226a896e7342a6d836d8b7bcd2f20b6c7f9076ac232e3ab252"
		  "3f39513434",
};

static bool is(const uint8_t *got, size_t n, const char *hex)
{
	return mls_equal(mls_slice(got, n), hex_bytes(hex));
}

static void receiver(struct p256_pair *k)
{
	*k = (struct p256_pair){0};
	hpke_derive_pair(k, hex_bytes(a3.ikm_r));
}

TEST(hpke_derives_the_pairs_of_rfc_9180)
{
	struct p256_pair k;

	CHECK_INT(hpke_derive_pair(&k, hex_bytes(a3.ikm_e)), 0);
	CHECK(is(k.priv, sizeof k.priv, a3.sk_e));
	CHECK(is(k.pub, sizeof k.pub, a3.enc));
	CHECK_INT(hpke_derive_pair(&k, hex_bytes(a3.ikm_r)), 0);
	CHECK(is(k.priv, sizeof k.priv, a3.sk_r));
	CHECK(is(k.pub, sizeof k.pub, a3.pk_r));
	hex_end();
}

TEST(hpke_opens_what_rfc_9180_sealed)
{
	struct slice enc = hex_bytes(a3.enc), info = hex_bytes(a3.info), aad = hex_bytes(a3.aad);
	struct slice sealed = hex_bytes(a3.sealed);
	struct p256_pair k;
	uint8_t out[64];

	receiver(&k);
	CHECK_INT(hpke_open(out, &k, enc, info, aad, sealed), 0);
	CHECK(is(out, sealed.n - MLS_TAG, a3.plain));
	CHECK_INT(hpke_open(out, &k, enc, info, (struct slice){0}, sealed), EACCES);
	CHECK_INT(hpke_open(out, &k, enc, aad, aad, sealed), EACCES);
	sealed.n--;
	CHECK_INT(hpke_open(out, &k, enc, info, aad, sealed), EACCES);
	sealed.n = MLS_TAG - 1;
	CHECK_INT(hpke_open(out, &k, enc, info, aad, sealed), EACCES);
	hex_end();
}

TEST(hpke_seals_what_it_opens)
{
	const struct slice info = mls_slice("info", 4), aad = mls_slice("aad", 3),
			   plain = mls_slice("some text", 9);
	uint8_t enc[MLS_POINT], sealed[9 + MLS_TAG], out[9], other[MLS_POINT], seed[MLS_SEED] = {5};
	struct p256_pair k;
	struct mls_rng rng;

	receiver(&k);
	mls_rng_seed(&rng, seed);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_INT(
			hpke_seal(enc, sealed, mls_slice(k.pub, MLS_POINT), info, aad, plain, &rng),
			0);
		CHECK_INT(hpke_open(out, &k, mls_slice(enc, MLS_POINT), info, aad,
				    mls_slice(sealed, sizeof sealed)),
			  0);
		CHECK_MEM(out, sizeof out, plain.p, plain.n);
		/* a fresh key each time */
		CHECK(i == 0 || memcmp(enc, other, sizeof enc) != 0);
		memcpy(other, enc, sizeof enc);
	}
	hex_end();
}

TEST(hpke_seals_to_a_compressed_key_as_to_the_whole_one)
{
	const struct slice plain = mls_slice("text", 4);
	uint8_t enc[MLS_POINT], sealed[4 + MLS_TAG], out[4], seed[MLS_SEED] = {6},
							     pub[MLS_SCALAR + 1];
	struct p256_pair k;
	struct mls_rng rng;

	receiver(&k);
	mls_rng_seed(&rng, seed);
	memcpy(pub, k.pub, sizeof pub);
	pub[0] = 2 + (k.pub[MLS_POINT - 1] & 1);
	CHECK_INT(hpke_seal(enc, sealed, mls_slice(pub, sizeof pub), plain, plain, plain, &rng), 0);
	CHECK_INT(hpke_open(out, &k, mls_slice(enc, MLS_POINT), plain, plain,
			    mls_slice(sealed, sizeof sealed)),
		  0);
	CHECK_MEM(out, sizeof out, plain.p, plain.n);
	hex_end();
}

TEST(hpke_refuses_what_is_no_point)
{
	const struct slice plain = mls_slice("text", 4);
	uint8_t enc[MLS_POINT], sealed[4 + MLS_TAG] = {0}, out[4], seed[MLS_SEED] = {7},
					   pub[MLS_POINT];
	struct p256_pair k;
	struct mls_rng rng;

	receiver(&k);
	mls_rng_seed(&rng, seed);
	memcpy(pub, k.pub, sizeof pub);
	pub[MLS_POINT - 1] ^= 1;
	CHECK_INT(hpke_seal(enc, sealed, mls_slice(pub, MLS_POINT), plain, plain, plain, &rng),
		  EBADMSG);
	CHECK_INT(hpke_seal(enc, sealed, (struct slice){0}, plain, plain, plain, &rng), EBADMSG);
	CHECK_INT(hpke_open(out, &k, mls_slice(pub, MLS_POINT), plain, plain,
			    mls_slice(sealed, sizeof sealed)),
		  EBADMSG);
	/* the KEM's output has one form only */
	pub[0] = 2;
	CHECK_INT(hpke_open(out, &k, mls_slice(pub, MLS_SCALAR + 1), plain, plain,
			    mls_slice(sealed, sizeof sealed)),
		  EBADMSG);
	CHECK_INT(hpke_open(out, &k, (struct slice){0}, plain, plain,
			    mls_slice(sealed, sizeof sealed)),
		  EBADMSG);
	hex_end();
}

TEST(mls_encrypt_with_label)
{
	const struct slice context = mls_slice("context", 7), plain = mls_slice("text", 4);
	const struct slice info = mls_slice("\x0cMLS 1.0 Test\x07"
					    "context",
					    21);
	uint8_t enc[MLS_POINT], sealed[4 + MLS_TAG], out[4], seed[MLS_SEED] = {8};
	struct p256_pair k;
	struct mls_rng rng;

	receiver(&k);
	mls_rng_seed(&rng, seed);
	CHECK_INT(mls_encrypt_label(enc, sealed, mls_slice(k.pub, MLS_POINT), "Test", context,
				    plain, &rng),
		  0);
	CHECK_INT(mls_decrypt_label(out, &k, "Test", context, mls_slice(enc, MLS_POINT),
				    mls_slice(sealed, sizeof sealed)),
		  0);
	CHECK_MEM(out, sizeof out, plain.p, plain.n);
	/* its info is one EncryptContext, and no aad */
	CHECK_INT(hpke_open(out, &k, mls_slice(enc, MLS_POINT), info, (struct slice){0},
			    mls_slice(sealed, sizeof sealed)),
		  0);
	CHECK_INT(mls_decrypt_label(out, &k, "Tess", context, mls_slice(enc, MLS_POINT),
				    mls_slice(sealed, sizeof sealed)),
		  EACCES);
	CHECK_INT(mls_decrypt_label(out, &k, "Test", plain, mls_slice(enc, MLS_POINT),
				    mls_slice(sealed, sizeof sealed)),
		  EACCES);
	hex_end();
}
