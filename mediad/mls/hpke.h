/* HPKE base mode, single shot (RFC 9180): DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-128-GCM; and
 * on it EncryptWithLabel / DecryptWithLabel of RFC 9420 section 5.1.3 (aad is empty there). */
#ifndef MEDIAD_MLS_HPKE_H
#define MEDIAD_MLS_HPKE_H

#include "mediad/mls/crypto.h"

/* DeriveKeyPair (RFC 9180 7.1.3). EBADMSG when no candidate fits (never in practice). */
int hpke_derive_pair(struct p256_pair *out, struct slice ikm);

/* enc: the KEM output. out: plain.n + MLS_TAG. EBADMSG: pub is no point. */
int hpke_seal(uint8_t enc[MLS_POINT], uint8_t *out, struct slice pub, struct slice info,
	      struct slice aad, struct slice plain, struct mls_rng *rng);
/* out: sealed.n - MLS_TAG. EBADMSG: enc is no point; EACCES. */
int hpke_open(uint8_t *out, const struct p256_pair *key, struct slice enc, struct slice info,
	      struct slice aad, struct slice sealed);

int mls_encrypt_label(uint8_t enc[MLS_POINT], uint8_t *out, struct slice pub, const char *label,
		      struct slice context, struct slice plain, struct mls_rng *rng);
int mls_decrypt_label(uint8_t *out, const struct p256_pair *key, const char *label,
		      struct slice context, struct slice enc, struct slice sealed);

#endif
