#include "mediad/dave/aead.h"

#include <errno.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "mediad/mls/crypto.h"

/* A multiple of the cipher's block size, so that only the last chunk has a partial block. */
enum { CHUNK = 512 };

/* ---- the cipher ---- */

struct aead {
	EVP_CIPHER_CTX *ctx;
};

int aead_alloc(struct aead **out, const uint8_t key[AEAD_KEY])
{
	struct aead *a = calloc(1, sizeof *a);

	if (!a)
		return ENOMEM;
	a->ctx = EVP_CIPHER_CTX_new();
	if (!a->ctx || EVP_EncryptInit_ex(a->ctx, EVP_aes_128_gcm(), NULL, key, NULL) != 1) {
		aead_free(a);
		return ENOMEM;
	}
	*out = a;
	return 0;
}

struct aead *aead_free(struct aead *a)
{
	if (a)
		EVP_CIPHER_CTX_free(a->ctx);
	free(a);
	return NULL;
}

enum direction { OPEN, SEAL };

/* The counter is the last part of the nonce, little-endian. */
static bool start_cipher(struct aead *a, enum direction way, uint32_t counter, const uint8_t *clear,
			 size_t n)
{
	uint8_t nonce[MLS_NONCE] = {0};
	int len;

	for (unsigned i = 0; i < 4; i++)
		nonce[8 + i] = (uint8_t)(counter >> (8 * i));
	return EVP_CipherInit_ex(a->ctx, NULL, NULL, NULL, nonce, way == SEAL) == 1 &&
	       (n == 0 || EVP_CipherUpdate(a->ctx, NULL, &len, clear, (int)n) == 1);
}

static bool update_cipher(struct aead *a, const uint8_t *in, size_t n, uint8_t *out)
{
	int len;

	return n == 0 || EVP_CipherUpdate(a->ctx, out, &len, in, (int)n) == 1;
}

static bool finish_seal(struct aead *a, uint8_t tag[DAVE_TAG])
{
	uint8_t nothing[1];
	int len;

	return EVP_CipherFinal_ex(a->ctx, nothing, &len) == 1 &&
	       EVP_CIPHER_CTX_ctrl(a->ctx, EVP_CTRL_AEAD_GET_TAG, DAVE_TAG, tag) == 1;
}

static bool finish_open(struct aead *a, const uint8_t tag[DAVE_TAG])
{
	uint8_t copy[DAVE_TAG], nothing[1];
	int len;

	memcpy(copy, tag, sizeof copy);
	return EVP_CIPHER_CTX_ctrl(a->ctx, EVP_CTRL_AEAD_SET_TAG, DAVE_TAG, copy) == 1 &&
	       EVP_CipherFinal_ex(a->ctx, nothing, &len) == 1;
}

bool aead_seal_whole(struct aead *a, uint32_t counter, const uint8_t *in, size_t n, uint8_t *out,
		     uint8_t tag[DAVE_TAG])
{
	return start_cipher(a, SEAL, counter, NULL, 0) && update_cipher(a, in, n, out) &&
	       finish_seal(a, tag);
}

bool aead_open_whole(struct aead *a, uint32_t counter, const uint8_t *in, size_t n,
		     const uint8_t tag[DAVE_TAG], uint8_t *out)
{
	return start_cipher(a, OPEN, counter, NULL, 0) && update_cipher(a, in, n, out) &&
	       finish_open(a, tag);
}

/* ---- with clear ranges ---- */

size_t aead_clear(const struct aead_frame *f)
{
	size_t n = 0;

	for (uint32_t i = 0; i < f->n_ranges; i++)
		n += f->range[i].n;
	return n;
}

static void gather_clear(const struct aead_frame *f, const uint8_t *p, uint8_t *to)
{
	for (uint32_t i = 0; i < f->n_ranges; i++) {
		memcpy(to, p + f->range[i].at, f->range[i].n);
		to += f->range[i].n;
	}
}

/* A position in the text between the clear ranges. */
struct text_cursor {
	size_t at;
	uint32_t range; /* index of the next range */
};

/* Returns the length of the next run of text, at most max bytes, or 0 at the frame's end. *at:
 * where it begins. */
static size_t next_text(const struct aead_frame *f, struct text_cursor *w, size_t max, size_t *at)
{
	size_t end, n;

	while (w->range < f->n_ranges && f->range[w->range].at == w->at)
		w->at += f->range[w->range++].n;
	end = w->range < f->n_ranges ? f->range[w->range].at : f->n;
	n = end - w->at;
	if (n > max)
		n = max;
	*at = w->at;
	w->at += n;
	return n;
}

static size_t gather_text(const struct aead_frame *f, struct text_cursor *w, const uint8_t *p,
			  uint8_t *to, size_t max)
{
	size_t n, at, total = 0;

	for (; (n = next_text(f, w, max - total, &at)); total += n)
		memcpy(to + total, p + at, n);
	return total;
}

/* from and to may be one buffer if `from` is never behind. */
static void scatter_text(const struct aead_frame *f, struct text_cursor *w, const uint8_t *from,
			 size_t total, uint8_t *to)
{
	size_t n, at;

	for (; total; total -= n, from += n) {
		n = next_text(f, w, total, &at);
		memmove(to + at, from, n);
	}
}

/* True if the clear bytes are the first of the frame, as in most frames of VP8 and H.264: then text
 * and clear bytes need not be gathered. */
static bool is_prefix(const struct aead_frame *f)
{
	return f->n_ranges == 1 && f->range[0].at == 0;
}

bool aead_seal(struct aead *a, uint32_t counter, const struct aead_frame *f, uint8_t *p,
	       uint8_t *scratch, uint8_t tag[DAVE_TAG])
{
	struct text_cursor from = {0}, to = {0};
	uint8_t piece[CHUNK];
	size_t n;

	if (is_prefix(f)) {
		n = f->range[0].n;
		return start_cipher(a, SEAL, counter, p, n) &&
		       update_cipher(a, p + n, f->n - n, p + n) && finish_seal(a, tag);
	}
	gather_clear(f, p, scratch);
	if (!start_cipher(a, SEAL, counter, scratch, aead_clear(f)))
		return false;
	while ((n = gather_text(f, &from, p, piece, sizeof piece))) {
		if (!update_cipher(a, piece, n, piece))
			return false;
		scatter_text(f, &to, piece, n, p);
	}
	return finish_seal(a, tag);
}

/* While the cipher runs, out holds the clear bytes together, then the text. Each run of text then
 * moves forward to its place (never over text not moved yet), and the clear bytes are copied from
 * the frame. */
bool aead_open(struct aead *a, uint32_t counter, const struct aead_frame *f, const uint8_t *p,
	       const uint8_t tag[DAVE_TAG], uint8_t *out)
{
	uint8_t piece[CHUNK];
	uint8_t *text = out + aead_clear(f), *end = text;
	struct text_cursor from = {0}, to = {0};
	size_t n;

	if (is_prefix(f)) {
		n = f->range[0].n;
		memcpy(out, p, n);
		return start_cipher(a, OPEN, counter, p, n) &&
		       update_cipher(a, p + n, f->n - n, out + n) && finish_open(a, tag);
	}
	gather_clear(f, p, out);
	if (!start_cipher(a, OPEN, counter, out, (size_t)(text - out)))
		return false;
	while ((n = gather_text(f, &from, p, piece, sizeof piece))) {
		if (!update_cipher(a, piece, n, end))
			return false;
		end += n;
	}
	if (!finish_open(a, tag))
		return false;
	scatter_text(f, &to, text, (size_t)(end - text), out);
	for (uint32_t i = 0; i < f->n_ranges; i++)
		memcpy(out + f->range[i].at, p + f->range[i].at, f->range[i].n);
	return true;
}
