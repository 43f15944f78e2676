#include "tests/test.h"

#include "mediad/mls/crypto.h"
#include "tests/unit/mediad/mls/hex.h"

/* from, from + 1, … */
static struct slice count(uint8_t *p, uint8_t from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(from + i);
	return mls_slice(p, n);
}

static bool is(const uint8_t *got, size_t n, const char *hex)
{
	struct slice want = hex_bytes(hex);

	return mls_equal(mls_slice(got, n), want);
}

/* The long values in this file come from another implementation of the primitives. */
TEST(mls_hash_and_hmac)
{
	const struct slice parts[] = {mls_slice("a", 1), {0}, mls_slice("bc", 2)};
	uint8_t out[MLS_HASH], key[5];

	CHECK_INT(mls_hash(out, parts, 3), 0);
	CHECK(is(out, sizeof out,
		 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
	CHECK_INT(mls_hash(out, NULL, 0), 0);
	CHECK(is(out, sizeof out,
		 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
	CHECK_INT(mls_hmac(out, count(key, 0, 5), parts, 3), 0);
	CHECK(is(out, sizeof out,
		 "853bd8abaf273c563ab3e9d64fde80e2cf40f09f2628d92b84a3a58f2ed529c4"));
	hex_end();
}

TEST(mls_same_and_wipe)
{
	uint8_t a[4] = {1, 2, 3, 4}, b[4] = {1, 2, 3, 5}, zero[4] = {0};

	CHECK(mls_same(a, b, 3));
	CHECK(!mls_same(a, b, 4));
	mls_wipe(a, sizeof a);
	CHECK_MEM(a, sizeof a, zero, sizeof zero);
}

/* RFC 5869 A.1 and A.3. */
TEST(mls_hkdf_of_rfc_5869)
{
	uint8_t prk[MLS_HASH], okm[42];
	struct slice ikm = hex_bytes("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b");

	CHECK_INT(mls_extract(prk, hex_bytes("000102030405060708090a0b0c"), ikm), 0);
	CHECK(is(prk, sizeof prk,
		 "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"));
	CHECK_INT(mls_expand(okm, sizeof okm, mls_slice(prk, sizeof prk),
			     hex_bytes("f0f1f2f3f4f5f6f7f8f9")),
		  0);
	CHECK(is(okm, sizeof okm,
		 "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185"
		 "865"));
	CHECK_INT(mls_extract(prk, (struct slice){0}, ikm), 0);
	CHECK_INT(mls_expand(okm, sizeof okm, mls_slice(prk, sizeof prk), (struct slice){0}), 0);
	CHECK(is(okm, sizeof okm,
		 "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a9"
		 "6c8"));
	hex_end();
}

TEST(mls_expand_takes_a_short_key_and_has_an_end)
{
	static uint8_t out[255 * MLS_HASH + 1];
	uint8_t key[16];
	struct slice prk = count(key, 0, sizeof key);

	CHECK_INT(mls_expand(out, 50, prk, mls_slice("info", 4)), 0);
	CHECK(is(out, 50,
		 "80fead2937e205140e296c7af7d6ebaecc6f0e7f105ce1d370eeefc9676e855145da215d495b0edf0"
		 "f89b8e6b98232d88f4"
		 "d"));
	CHECK_INT(mls_expand(out, sizeof out - 1, prk, mls_slice("info", 4)), 0);
	CHECK(is(out, 32, "80fead2937e205140e296c7af7d6ebaecc6f0e7f105ce1d370eeefc9676e8551"));
	CHECK_INT(mls_expand(out, sizeof out, prk, mls_slice("info", 4)), EOVERFLOW);
	CHECK_INT(mls_expand(out, 0, prk, mls_slice("info", 4)), 0);
	hex_end();
}

TEST(mls_labelled_functions)
{
	uint8_t key[32], context[200], out[MLS_HASH], head[MLS_HEAD];
	struct slice secret = count(key, 0, sizeof key);
	char label[300];
	size_t n;

	CHECK_INT(mls_expand_label(out, 20, mls_slice(key, 16), "label", count(context, 1, 100)),
		  0);
	CHECK(is(out, 20, "387b2715e29a22d031e9a7290cc8478e9a018d8a"));
	CHECK_INT(mls_derive_secret(out, secret, "test"), 0);
	CHECK(is(out, 32, "bbdbc366d045f52e443d75d065284aef899171ea139a1f237a74ba0b7fb94867"));
	CHECK_INT(mls_derive_tree_secret(out, 16, secret, "key", 0x01020304), 0);
	CHECK(is(out, 16, "1bab0ad363e368d4bda2f1e55fd9cd9d"));
	CHECK_INT(mls_ref_hash(out, "MLS 1.0 KeyPackage Reference", count(context, 5, 200)), 0);
	CHECK(is(out, 32, "dae4e5937b9acbc9c0d91045d8a115a9a15599a58f6e1984de040c2f8ef7f1d2"));
	hex_end();

	CHECK_INT(mls_label_head(head, &n, "Welcome", 300), 0);
	CHECK_MEM(head, n, "\x0fMLS 1.0 Welcome\x41\x2c", 18);
	memset(label, 'x', sizeof label);
	label[250] = '\0';
	CHECK_INT(mls_label_head(head, &n, label, 1 << 20), 0);
	CHECK_INT(n, 2 + 8 + 250 + 4);
	label[250] = 'x';
	label[251] = '\0';
	CHECK_INT(mls_label_head(head, &n, label, 1 << 20), EOVERFLOW);
	CHECK_INT(mls_expand_label(out, 32, secret, label, mls_slice(context, 0)), 0);
	memset(label, 'x', 299);
	label[299] = '\0';
	CHECK_INT(mls_expand_label(out, 32, secret, label, mls_slice(context, 0)), EOVERFLOW);
}

TEST(mls_sign_and_verify)
{
	struct slice content = mls_slice("what is signed", 14), got;
	uint8_t priv[MLS_SCALAR] = {1, 2, 3}, seed[MLS_SEED] = {0}, sig[MLS_SIG_MAX],
		again[MLS_SIG_MAX];
	struct p256_pair k;
	struct mls_rng rng;
	size_t n, m;

	mls_rng_seed(&rng, seed);
	CHECK_INT(p256_from_priv(&k, priv, P256_ANY), 0);
	CHECK_INT(mls_sign(sig, &n, priv, "Test", content, &rng), 0);
	got = mls_slice(sig, n);
	CHECK_INT(mls_verify(mls_slice(k.pub, MLS_POINT), "Test", content, got), 0);
	CHECK_INT(mls_verify(mls_slice(k.pub, MLS_POINT), "Tesu", content, got), EACCES);
	content.n--;
	CHECK_INT(mls_verify(mls_slice(k.pub, MLS_POINT), "Test", content, got), EACCES);
	content.n++;
	/* the randomness blinds, it does not choose */
	CHECK_INT(mls_sign(again, &m, priv, "Test", content, &rng), 0);
	CHECK_MEM(again, m, sig, n);
	CHECK_INT(mls_sign(again, &m, (uint8_t[MLS_SCALAR]){0}, "Test", content, &rng), EBADMSG);
}

TEST(mls_seal_and_open)
{
	uint8_t key[MLS_KEY], nonce[MLS_NONCE], out[64], plain[64];
	const struct slice aad = mls_slice("aad", 3), text = mls_slice("plain text", 10);

	count(key, 0, sizeof key);
	count(nonce, 16, sizeof nonce);
	CHECK_INT(mls_seal(out, key, nonce, aad, text), 0);
	CHECK(is(out, 26, "b44262c6616fc28a6fa9e96a5ed7888c50d080fa1d0e669622a8"));
	CHECK_INT(mls_open(plain, key, nonce, aad, mls_slice(out, 26)), 0);
	CHECK_MEM(plain, 10, text.p, text.n);
	CHECK_INT(mls_open(plain, key, nonce, mls_slice("aae", 3), mls_slice(out, 26)), EACCES);
	for (unsigned i = 0; i < 26; i++) {
		out[i] ^= 1;
		CHECK_INT(mls_open(plain, key, nonce, aad, mls_slice(out, 26)), EACCES);
		out[i] ^= 1;
		CHECK_INT(mls_open(plain, key, nonce, aad, mls_slice(out, i)), EACCES);
	}
	CHECK_INT(mls_seal(out, key, nonce, (struct slice){0}, (struct slice){0}), 0);
	CHECK(is(out, 16, "0ed7259add1011e159d00e61b1925410"));
	CHECK_INT(mls_open(plain, key, nonce, (struct slice){0}, mls_slice(out, 16)), 0);
	hex_end();
}
