#include "mediad/mls/hpke.h"

#include <errno.h>

/* kem 0x0010, kdf 0x0001, aead 0x0001. */
static const uint8_t suite_kem[] = {'K', 'E', 'M', 0x00, 0x10};
static const uint8_t suite_hpke[] = {'H', 'P', 'K', 'E', 0x00, 0x10, 0x00, 0x01, 0x00, 0x01};
#define VERSION	 "HPKE-v1"
#define SUITE(s) mls_slice(s, sizeof(s))

enum { CANDIDATES = 256, KEM_CONTEXT = 2 * MLS_POINT, CONTEXT = 1 + 2 * MLS_HASH };

static struct slice text_slice(const char *s)
{
	return mls_slice(s, strlen(s));
}

static struct slice hash_slice(const uint8_t *p)
{
	return mls_slice(p, MLS_HASH);
}

/* LabeledExtract; ikm comes in two parts. HKDF-Extract is an HMAC keyed by the salt. */
static int labeled_extract(uint8_t out[MLS_HASH], struct slice suite, struct slice salt,
			   const char *label, struct slice ikm, struct slice more)
{
	const struct slice parts[] = {text_slice(VERSION), suite, text_slice(label), ikm, more};

	return mls_hmac(out, salt, parts, sizeof parts / sizeof *parts);
}

/* LabeledExpand. */
static int labeled_expand(uint8_t *out, size_t n, struct slice suite, const uint8_t prk[MLS_HASH],
			  const char *label, struct slice info)
{
	uint8_t labeled[KEM_CONTEXT + 64];
	struct wr w = wr_of(labeled, sizeof labeled);
	int err;

	wr_be(&w, n, 2);
	wr_bytes(&w, VERSION, sizeof VERSION - 1);
	wr_bytes(&w, suite.p, suite.n);
	wr_bytes(&w, label, strlen(label));
	wr_bytes(&w, info.p, info.n);
	err = w.ok ? mls_expand(out, n, hash_slice(prk), mls_slice(labeled, w.pos)) : EOVERFLOW;
	mls_wipe(labeled, sizeof labeled);
	return err;
}

/* ---- the KEM ---- */

int hpke_derive_pair(struct p256_pair *out, struct slice ikm)
{
	uint8_t prk[MLS_HASH], priv[MLS_SCALAR];
	int err = labeled_extract(prk, SUITE(suite_kem), (struct slice){0}, "dkp_prk", ikm,
				  (struct slice){0});
	bool again = !err;

	for (unsigned i = 0; again && i < CANDIDATES; i++) {
		const uint8_t counter = (uint8_t)i;

		err = labeled_expand(priv, sizeof priv, SUITE(suite_kem), prk, "candidate",
				     mls_slice(&counter, 1));
		if (!err)
			err = p256_from_priv(out, priv, P256_ANY);
		again = err == EBADMSG;
	}
	mls_wipe(prk, sizeof prk);
	mls_wipe(priv, sizeof priv);
	return err;
}

/* priv is ours, pub the other's; enc and receiver are known to both sides. */
static int shared_secret(uint8_t out[MLS_HASH], const uint8_t priv[MLS_SCALAR], struct slice pub,
			 const uint8_t enc[MLS_POINT], const uint8_t receiver[MLS_POINT])
{
	uint8_t dh[MLS_SCALAR], prk[MLS_HASH], context[KEM_CONTEXT];
	int err;

	memcpy(context, enc, MLS_POINT);
	memcpy(context + MLS_POINT, receiver, MLS_POINT);
	err = p256_dh(dh, priv, pub, P256_ANY);
	if (!err)
		err = labeled_extract(prk, SUITE(suite_kem), (struct slice){0}, "eae_prk",
				      mls_slice(dh, sizeof dh), (struct slice){0});
	if (!err)
		err = labeled_expand(out, MLS_HASH, SUITE(suite_kem), prk, "shared_secret",
				     mls_slice(context, sizeof context));
	mls_wipe(dh, sizeof dh);
	mls_wipe(prk, sizeof prk);
	return err;
}

/* ---- key schedule, base mode ---- */

struct keys {
	uint8_t key[MLS_KEY], nonce[MLS_NONCE];
};

/* A sender and a receiver use each context once, so the base nonce is the nonce. */
static int derive_keys(struct keys *out, const uint8_t shared[MLS_HASH], struct slice info,
		       struct slice more)
{
	static const struct slice none;
	const struct slice suite = SUITE(suite_hpke);
	uint8_t context[CONTEXT] = {0}, secret[MLS_HASH];
	int err;

	err = labeled_extract(context + 1, suite, none, "psk_id_hash", none, none);
	if (!err)
		err = labeled_extract(context + 1 + MLS_HASH, suite, none, "info_hash", info, more);
	if (!err)
		err = labeled_extract(secret, suite, hash_slice(shared), "secret", none, none);
	if (!err)
		err = labeled_expand(out->key, sizeof out->key, suite, secret, "key",
				     mls_slice(context, sizeof context));
	if (!err)
		err = labeled_expand(out->nonce, sizeof out->nonce, suite, secret, "base_nonce",
				     mls_slice(context, sizeof context));
	mls_wipe(secret, sizeof secret);
	return err;
}

/* ---- single shot; info comes in two parts ---- */

static int encrypt_once(uint8_t enc[MLS_POINT], uint8_t *out, struct slice pub,
			const struct slice info[2], struct slice aad, struct slice plain,
			struct mls_rng *rng)
{
	uint8_t receiver[MLS_POINT], shared[MLS_HASH];
	struct p256_pair ephemeral;
	struct keys k;
	int err;

	err = p256_point(receiver, pub, P256_ANY);
	if (err)
		return err;
	err = p256_generate(&ephemeral, rng);
	if (err)
		return err;
	err = shared_secret(shared, ephemeral.priv, mls_slice(receiver, sizeof receiver),
			    ephemeral.pub, receiver);
	if (!err)
		err = derive_keys(&k, shared, info[0], info[1]);
	if (!err)
		err = mls_seal(out, k.key, k.nonce, aad, plain);
	if (!err)
		memcpy(enc, ephemeral.pub, MLS_POINT);
	p256_wipe(&ephemeral);
	mls_wipe(shared, sizeof shared);
	mls_wipe(&k, sizeof k);
	return err;
}

static int decrypt_once(uint8_t *out, const struct p256_pair *key, struct slice enc,
			struct slice info, struct slice more, struct slice aad, struct slice sealed)
{
	uint8_t shared[MLS_HASH];
	struct keys k;
	int err;

	if (enc.n != MLS_POINT)
		return EBADMSG;
	err = shared_secret(shared, key->priv, enc, enc.p, key->pub);
	if (!err)
		err = derive_keys(&k, shared, info, more);
	if (!err)
		err = mls_open(out, k.key, k.nonce, aad, sealed);
	mls_wipe(shared, sizeof shared);
	mls_wipe(&k, sizeof k);
	return err;
}

int hpke_seal(uint8_t enc[MLS_POINT], uint8_t *out, struct slice pub, struct slice info,
	      struct slice aad, struct slice plain, struct mls_rng *rng)
{
	const struct slice parts[2] = {info, {0}};

	return encrypt_once(enc, out, pub, parts, aad, plain, rng);
}

int hpke_open(uint8_t *out, const struct p256_pair *key, struct slice enc, struct slice info,
	      struct slice aad, struct slice sealed)
{
	return decrypt_once(out, key, enc, info, (struct slice){0}, aad, sealed);
}

int mls_encrypt_label(uint8_t enc[MLS_POINT], uint8_t *out, struct slice pub, const char *label,
		      struct slice context, struct slice plain, struct mls_rng *rng)
{
	uint8_t head[MLS_HEAD];
	size_t n;
	int err = mls_label_head(head, &n, label, context.n);
	struct slice parts[2];

	if (err)
		return err;
	parts[0] = mls_slice(head, n);
	parts[1] = context;
	return encrypt_once(enc, out, pub, parts, (struct slice){0}, plain, rng);
}

int mls_decrypt_label(uint8_t *out, const struct p256_pair *key, const char *label,
		      struct slice context, struct slice enc, struct slice sealed)
{
	uint8_t head[MLS_HEAD];
	size_t n;
	int err = mls_label_head(head, &n, label, context.n);

	return err ? err
		   : decrypt_once(out, key, enc, mls_slice(head, n), context, (struct slice){0},
				  sealed);
}
