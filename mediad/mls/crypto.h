/* Hashes, key derivation and the labelled functions of RFC 9420 sections 5.1, 5.2 and 8; AEAD is
 * AES-128-GCM. HKDF-Expand here takes any key length (a DAVE ratchet starts with 16 bytes, which
 * mbedTLS refuses). */
#ifndef MEDIAD_MLS_CRYPTO_H
#define MEDIAD_MLS_CRYPTO_H

#include "mediad/mls/mls.h"
#include "mediad/mls/p256.h"

/* Over the concatenation of n parts. */
int mls_hash(uint8_t out[MLS_HASH], const struct slice *parts, size_t n);
int mls_hmac(uint8_t out[MLS_HASH], struct slice key, const struct slice *parts, size_t n);
/* In constant time. */
bool mls_same(const uint8_t *a, const uint8_t *b, size_t n);
void mls_wipe(void *p, size_t n);

int mls_extract(uint8_t out[MLS_HASH], struct slice salt, struct slice ikm);
/* n at most 255 * 32, else EOVERFLOW. */
int mls_expand(uint8_t *out, size_t n, struct slice prk, struct slice info);
int mls_expand_label(uint8_t *out, size_t n, struct slice secret, const char *label,
		     struct slice context);
int mls_derive_secret(uint8_t out[MLS_HASH], struct slice secret, const char *label);
/* DeriveTreeSecret (section 9). */
int mls_derive_tree_secret(uint8_t *out, size_t n, struct slice secret, const char *label,
			   uint32_t generation);
/* RefHash; label e.g. "MLS 1.0 KeyPackage Reference". */
int mls_ref_hash(uint8_t out[MLS_HASH], const char *label, struct slice value);

/* Writes V("MLS 1.0 " label) and the length of the V of `content` bytes that follows: the part
 * before the content in SignContent and EncryptContext, so that the content need not be copied.
 * Returns EOVERFLOW. */
enum { MLS_HEAD = 264 };
int mls_label_head(uint8_t head[MLS_HEAD], size_t *n, const char *label, size_t content);

/* SignWithLabel, VerifyWithLabel: label without the "MLS 1.0 " prefix. EACCES. */
int mls_sign(uint8_t sig[MLS_SIG_MAX], size_t *n, const uint8_t priv[MLS_SCALAR], const char *label,
	     struct slice content, struct mls_rng *rng);
int mls_verify(struct slice pub, const char *label, struct slice content, struct slice sig);

/* out: plain.n + MLS_TAG bytes. */
int mls_seal(uint8_t *out, const uint8_t key[MLS_KEY], const uint8_t nonce[MLS_NONCE],
	     struct slice aad, struct slice plain);
/* out: sealed.n - MLS_TAG bytes, zeros when it is not authentic. EACCES (also when sealed is
 * shorter than a tag). */
int mls_open(uint8_t *out, const uint8_t key[MLS_KEY], const uint8_t nonce[MLS_NONCE],
	     struct slice aad, struct slice sealed);

#endif
