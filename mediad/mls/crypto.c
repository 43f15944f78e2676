#include "mediad/mls/crypto.h"

#include <errno.h>

#include <mbedtls/gcm.h>
#include <sodium.h>

#include "mediad/mls/codec.h"

#define PREFIX "MLS 1.0 "
enum { EXPAND_MAX = 255 * MLS_HASH };

/* ---- hashes ---- */

int mls_hash(uint8_t out[MLS_HASH], const struct slice *parts, size_t n)
{
	crypto_hash_sha256_state st;

	crypto_hash_sha256_init(&st);
	for (size_t i = 0; i < n; i++)
		if (parts[i].n)
			crypto_hash_sha256_update(&st, parts[i].p, parts[i].n);
	crypto_hash_sha256_final(&st, out);
	sodium_memzero(&st, sizeof st);
	return 0;
}

int mls_hmac(uint8_t out[MLS_HASH], struct slice key, const struct slice *parts, size_t n)
{
	crypto_auth_hmacsha256_state st;

	crypto_auth_hmacsha256_init(&st, key.n ? key.p : (const uint8_t *)"", key.n);
	for (size_t i = 0; i < n; i++)
		if (parts[i].n)
			crypto_auth_hmacsha256_update(&st, parts[i].p, parts[i].n);
	crypto_auth_hmacsha256_final(&st, out);
	sodium_memzero(&st, sizeof st);
	return 0;
}

bool mls_same(const uint8_t *a, const uint8_t *b, size_t n)
{
	return sodium_memcmp(a, b, n) == 0;
}

void mls_wipe(void *p, size_t n)
{
	sodium_memzero(p, n);
}

/* ---- key derivation ---- */

int mls_extract(uint8_t out[MLS_HASH], struct slice salt, struct slice ikm)
{
	return mls_hmac(out, salt, &ikm, 1);
}

/* HKDF-Expand; info comes in two parts. */
static int hkdf_expand(uint8_t *out, size_t n, struct slice prk, struct slice head,
		       struct slice tail)
{
	uint8_t block[MLS_HASH], count = 1;

	if (n > EXPAND_MAX)
		return EOVERFLOW;
	for (size_t done = 0; done < n; done += MLS_HASH, count++) {
		const struct slice parts[] = {mls_slice(block, done ? sizeof block : 0), head, tail,
					      mls_slice(&count, 1)};
		size_t left = n - done;

		mls_hmac(block, prk, parts, 4);
		memcpy(out + done, block, left < sizeof block ? left : sizeof block);
	}
	sodium_memzero(block, sizeof block);
	return 0;
}

int mls_expand(uint8_t *out, size_t n, struct slice prk, struct slice info)
{
	return hkdf_expand(out, n, prk, info, (struct slice){0});
}

static void put_varint(struct wr *w, size_t n)
{
	uint8_t form[4];
	size_t size = mls_varint_put(form, n);

	if (size)
		wr_bytes(w, form, size);
	else
		w->ok = false;
}

static void put_label(struct wr *w, const char *label, size_t content)
{
	size_t n = strlen(label);

	put_varint(w, sizeof PREFIX - 1 + n);
	wr_bytes(w, PREFIX, sizeof PREFIX - 1);
	wr_bytes(w, label, n);
	put_varint(w, content);
}

int mls_label_head(uint8_t head[MLS_HEAD], size_t *n, const char *label, size_t content)
{
	struct wr w = wr_of(head, MLS_HEAD);

	put_label(&w, label, content);
	if (!w.ok)
		return EOVERFLOW;
	*n = w.pos;
	return 0;
}

int mls_expand_label(uint8_t *out, size_t n, struct slice secret, const char *label,
		     struct slice context)
{
	uint8_t head[2 + MLS_HEAD];
	struct wr w = wr_of(head, sizeof head);

	wr_be(&w, n, 2);
	put_label(&w, label, context.n);
	if (!w.ok)
		return EOVERFLOW;
	return hkdf_expand(out, n, secret, mls_slice(head, w.pos), context);
}

int mls_derive_secret(uint8_t out[MLS_HASH], struct slice secret, const char *label)
{
	return mls_expand_label(out, MLS_HASH, secret, label, (struct slice){0});
}

int mls_derive_tree_secret(uint8_t *out, size_t n, struct slice secret, const char *label,
			   uint32_t generation)
{
	uint8_t context[4];
	struct wr w = wr_of(context, sizeof context);

	wr_be(&w, generation, sizeof context);
	return mls_expand_label(out, n, secret, label, mls_slice(context, sizeof context));
}

int mls_ref_hash(uint8_t out[MLS_HASH], const char *label, struct slice value)
{
	uint8_t before[4], between[4];
	size_t n = strlen(label), nb = mls_varint_put(before, n),
	       nv = mls_varint_put(between, value.n);
	const struct slice parts[] = {mls_slice(before, nb), mls_slice(label, n),
				      mls_slice(between, nv), value};

	return nb && nv ? mls_hash(out, parts, 4) : EOVERFLOW;
}

/* ---- signatures ---- */

static int sign_hash(uint8_t out[MLS_HASH], const char *label, struct slice content)
{
	uint8_t head[MLS_HEAD];
	struct slice parts[2] = {{.p = head}, content};
	int err = mls_label_head(head, &parts[0].n, label, content.n);

	return err ? err : mls_hash(out, parts, 2);
}

int mls_sign(uint8_t sig[MLS_SIG_MAX], size_t *n, const uint8_t priv[MLS_SCALAR], const char *label,
	     struct slice content, struct mls_rng *rng)
{
	uint8_t hash[MLS_HASH];
	int err = sign_hash(hash, label, content);

	return err ? err : p256_sign(sig, n, priv, hash, rng);
}

int mls_verify(struct slice pub, const char *label, struct slice content, struct slice sig)
{
	uint8_t hash[MLS_HASH];
	int err = sign_hash(hash, label, content);

	return err ? err : p256_verify(pub, hash, sig, P256_ANY);
}

/* ---- AES-128-GCM ---- */

static int gcm_key(mbedtls_gcm_context *gcm, const uint8_t key[MLS_KEY])
{
	mbedtls_gcm_init(gcm);
	return mbedtls_gcm_setkey(gcm, MBEDTLS_CIPHER_ID_AES, key, MLS_KEY * 8) ? ENOMEM : 0;
}

int mls_seal(uint8_t *out, const uint8_t key[MLS_KEY], const uint8_t nonce[MLS_NONCE],
	     struct slice aad, struct slice plain)
{
	mbedtls_gcm_context gcm;
	int err = gcm_key(&gcm, key);

	if (!err && mbedtls_gcm_crypt_and_tag(&gcm, MBEDTLS_GCM_ENCRYPT, plain.n, nonce, MLS_NONCE,
					      aad.p, aad.n, plain.p, out, MLS_TAG, out + plain.n))
		err = EOVERFLOW;
	mbedtls_gcm_free(&gcm);
	return err;
}

int mls_open(uint8_t *out, const uint8_t key[MLS_KEY], const uint8_t nonce[MLS_NONCE],
	     struct slice aad, struct slice sealed)
{
	mbedtls_gcm_context gcm;
	size_t n;
	int err;

	if (sealed.n < MLS_TAG)
		return EACCES;
	n = sealed.n - MLS_TAG;
	err = gcm_key(&gcm, key);
	if (!err && mbedtls_gcm_auth_decrypt(&gcm, n, nonce, MLS_NONCE, aad.p, aad.n, sealed.p + n,
					     MLS_TAG, sealed.p, out))
		err = EACCES;
	mbedtls_gcm_free(&gcm);
	return err;
}
