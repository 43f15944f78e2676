#include "mediad/dave/aead.h"

#include "mediad/mls/crypto.h"

/* A multiple of the cipher's block, so that only the last piece is a broken one. */
enum { PIECE = 512 };

struct nonce {
	uint8_t b[MLS_NONCE];
};

/* The counter is little-endian and comes last. */
static struct nonce nonce_of(uint32_t counter)
{
	struct nonce nonce = {0};

	for (unsigned i = 0; i < 4; i++)
		nonce.b[8 + i] = (uint8_t)(counter >> (8 * i));
	return nonce;
}

bool aead_seal_whole(mbedtls_gcm_context *gcm, uint32_t counter, const uint8_t *in, size_t n, uint8_t *out,
		     uint8_t tag[DAVE_TAG])
{
	struct nonce nonce = nonce_of(counter);

	return mbedtls_gcm_crypt_and_tag(gcm, MBEDTLS_GCM_ENCRYPT, n, nonce.b, sizeof nonce.b, NULL, 0, in, out, DAVE_TAG,
					 tag) == 0;
}

bool aead_open_whole(mbedtls_gcm_context *gcm, uint32_t counter, const uint8_t *in, size_t n, const uint8_t tag[DAVE_TAG],
		     uint8_t *out)
{
	struct nonce nonce = nonce_of(counter);

	return mbedtls_gcm_auth_decrypt(gcm, n, nonce.b, sizeof nonce.b, NULL, 0, tag, DAVE_TAG, in, out) == 0;
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

/* A place in the text between the clear ranges. */
struct place {
	size_t at;
	uint32_t range; /* the next one */
};

/* The next stretch of text, at most max bytes; 0 at the frame's end. *at: where it begins. */
static size_t stretch(const struct aead_frame *f, struct place *w, size_t max, size_t *at)
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

static size_t gather(const struct aead_frame *f, struct place *w, const uint8_t *p, uint8_t *to, size_t max)
{
	size_t n, at, total = 0;

	for (; (n = stretch(f, w, max - total, &at)); total += n)
		memcpy(to + total, p + at, n);
	return total;
}

/* from and to may be one buffer when `from` is never behind. */
static void scatter(const struct aead_frame *f, struct place *w, const uint8_t *from, size_t total, uint8_t *to)
{
	size_t n, at;

	for (; total; total -= n, from += n) {
		n = stretch(f, w, total, &at);
		memmove(to + at, from, n);
	}
}

static bool start(mbedtls_gcm_context *gcm, int mode, uint32_t counter, const uint8_t *clear, size_t n)
{
	struct nonce nonce = nonce_of(counter);

	return mbedtls_gcm_starts(gcm, mode, nonce.b, sizeof nonce.b, clear, n) == 0;
}

bool aead_seal(mbedtls_gcm_context *gcm, uint32_t counter, const struct aead_frame *f, uint8_t *p, uint8_t *scratch,
	       uint8_t tag[DAVE_TAG])
{
	struct place from = {0}, to = {0};
	uint8_t piece[PIECE];
	size_t n;

	gather_clear(f, p, scratch);
	if (!start(gcm, MBEDTLS_GCM_ENCRYPT, counter, scratch, aead_clear(f)))
		return false;
	while ((n = gather(f, &from, p, piece, sizeof piece))) {
		if (mbedtls_gcm_update(gcm, n, piece, piece))
			return false;
		scatter(f, &to, piece, n, p);
	}
	return mbedtls_gcm_finish(gcm, tag, DAVE_TAG) == 0;
}

/* out while the cipher runs: the clear bytes in one piece, behind them the text. Each stretch of text then moves forward to
 * its place (never past what is not moved yet), and the clear bytes come from the frame. */
bool aead_open(mbedtls_gcm_context *gcm, uint32_t counter, const struct aead_frame *f, const uint8_t *p,
	       const uint8_t tag[DAVE_TAG], uint8_t *out)
{
	uint8_t piece[PIECE], ours[DAVE_TAG];
	uint8_t *text = out + aead_clear(f), *end = text;
	struct place from = {0}, to = {0};
	size_t n;

	gather_clear(f, p, out);
	if (!start(gcm, MBEDTLS_GCM_DECRYPT, counter, out, (size_t)(text - out)))
		return false;
	while ((n = gather(f, &from, p, piece, sizeof piece))) {
		if (mbedtls_gcm_update(gcm, n, piece, end))
			return false;
		end += n;
	}
	if (mbedtls_gcm_finish(gcm, ours, DAVE_TAG) || !mls_same(ours, tag, DAVE_TAG))
		return false;
	scatter(f, &to, text, (size_t)(end - text), out);
	for (uint32_t i = 0; i < f->n_ranges; i++)
		memcpy(out + f->range[i].at, p + f->range[i].at, f->range[i].n);
	return true;
}
