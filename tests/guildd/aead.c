#include "tests/guildd/aead.h"

#include "proto/base/cursor.h"

#include <errno.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct gd_aead {
	enum gd_mode mode;
	uint8_t key[GD_KEY];
	EVP_CIPHER_CTX *evp; /* AES only */
};

const char *gd_mode_name(enum gd_mode mode)
{
	switch (mode) {
	case GD_MODE_AES:
		return "aead_aes256_gcm_rtpsize";
	case GD_MODE_XCHACHA:
		return "aead_xchacha20_poly1305_rtpsize";
	case GD_MODE_NONE:
		break;
	}
	return "";
}

enum gd_mode gd_mode_parse(const char *name)
{
	for (enum gd_mode m = GD_MODE_AES; m <= GD_MODE_XCHACHA; m++) {
		if (strcmp(name, gd_mode_name(m)) == 0)
			return m;
	}
	return GD_MODE_NONE;
}

int gd_aead_alloc(struct gd_aead **out, enum gd_mode mode, const uint8_t key[GD_KEY])
{
	struct gd_aead *a;
	int err = ENOMEM;

	if (mode != GD_MODE_AES && mode != GD_MODE_XCHACHA)
		return EINVAL;
	a = calloc(1, sizeof(*a));
	if (!a)
		return ENOMEM;
	a->mode = mode;
	memcpy(a->key, key, GD_KEY);
	if (mode == GD_MODE_AES) {
		a->evp = EVP_CIPHER_CTX_new();
		if (!a->evp)
			goto out;
	}
	*out = a;
	a = NULL;
	err = 0;
out:
	gd_aead_free(a);
	return err;
}

struct gd_aead *gd_aead_free(struct gd_aead *a)
{
	if (!a)
		return NULL;
	EVP_CIPHER_CTX_free(a->evp);
	sodium_memzero(a->key, sizeof(a->key));
	free(a);
	return NULL;
}

static int aes_open(struct gd_aead *a, const uint8_t nonce[12], const uint8_t *aad, size_t aad_len,
		    const uint8_t *ct, size_t ct_len, const uint8_t *tag, uint8_t *out)
{
	uint8_t t[GD_TAG];
	int n, last;

	memcpy(t, tag, sizeof(t));
	if (EVP_DecryptInit_ex(a->evp, EVP_aes_256_gcm(), NULL, a->key, nonce) != 1 ||
	    EVP_DecryptUpdate(a->evp, NULL, &n, aad, (int)aad_len) != 1 ||
	    EVP_DecryptUpdate(a->evp, out, &n, ct, (int)ct_len) != 1 ||
	    EVP_CIPHER_CTX_ctrl(a->evp, EVP_CTRL_GCM_SET_TAG, GD_TAG, t) != 1 ||
	    EVP_DecryptFinal_ex(a->evp, out + n, &last) != 1)
		return EBADMSG;
	return 0;
}

int gd_aead_open(struct gd_aead *a, const uint8_t *pkt, size_t len, size_t head, uint8_t *out,
		 size_t *out_len)
{
	uint8_t nonce[24] = {0};
	size_t ct_len;
	int err;

	if (len > 65535 || len < head || len - head < GD_AEAD_EXTRA)
		return EBADMSG;
	ct_len = len - head - GD_AEAD_EXTRA;
	memcpy(nonce, pkt + len - GD_NONCE, GD_NONCE);
	if (a->mode == GD_MODE_AES) {
		err = aes_open(a, nonce, pkt, head, pkt + head, ct_len, pkt + head + ct_len, out);
	} else {
		err = crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, pkt + head,
								 ct_len + GD_TAG, pkt, head, nonce,
								 a->key)
			      ? EBADMSG
			      : 0;
	}
	if (!err)
		*out_len = ct_len;
	return err;
}

static int aes_seal(struct gd_aead *a, const uint8_t nonce[12], const uint8_t *aad, size_t aad_len,
		    const uint8_t *body, size_t len, uint8_t *out)
{
	int n, last;

	if (EVP_EncryptInit_ex(a->evp, EVP_aes_256_gcm(), NULL, a->key, nonce) != 1 ||
	    EVP_EncryptUpdate(a->evp, NULL, &n, aad, (int)aad_len) != 1 ||
	    EVP_EncryptUpdate(a->evp, out, &n, body, (int)len) != 1 ||
	    EVP_EncryptFinal_ex(a->evp, out + n, &last) != 1 ||
	    EVP_CIPHER_CTX_ctrl(a->evp, EVP_CTRL_GCM_GET_TAG, GD_TAG, out + len) != 1)
		return EIO;
	return 0;
}

int gd_aead_seal(struct gd_aead *a, uint32_t counter, const uint8_t *head, size_t head_len,
		 const uint8_t *body, size_t body_len, uint8_t *out, size_t cap, size_t *out_len)
{
	struct wr w = wr_of(out, cap);
	uint8_t nonce[24] = {(uint8_t)(counter >> 24), (uint8_t)(counter >> 16),
			     (uint8_t)(counter >> 8), (uint8_t)counter};
	uint8_t *ct;
	int err = 0;

	if (body_len > 65535)
		return ENOBUFS;
	wr_bytes(&w, head, head_len);
	ct = wr_room(&w, body_len + GD_TAG);
	wr_bytes(&w, nonce, GD_NONCE);
	if (!w.ok)
		return ENOBUFS;
	if (a->mode == GD_MODE_AES)
		err = aes_seal(a, nonce, head, head_len, body, body_len, ct);
	else
		crypto_aead_xchacha20poly1305_ietf_encrypt(ct, NULL, body, body_len, head, head_len,
							   NULL, nonce, a->key);
	if (!err)
		*out_len = w.pos;
	return err;
}
