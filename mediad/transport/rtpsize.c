#include "mediad/transport/rtpsize.h"

#include <errno.h>
#include <stdlib.h>

#include <mbedtls/gcm.h>
#include <sodium.h>

#include "mediad/transport/retired.h"

struct rtpsize {
	union {
		crypto_aead_aes256gcm_state
			aes; /* needs an alignment of 16 bytes, which malloc gives */
		mbedtls_gcm_context gcm;
		uint8_t bytes[RTPSIZE_KEY]; /* XChaCha20 and the retired modes */
	};
	enum rtpsize_mode mode;
	enum rtpsize_maker maker;
	uint32_t counter;
	bool spent;
};

/* ---- modes ---- */

const char *rtpsize_name(enum rtpsize_mode mode)
{
	switch (mode) {
#define X(NAME, num, wire)                                                                         \
	case RTPSIZE_##NAME:                                                                       \
		return wire;
		RTPSIZE_MODES(X)
		RTPSIZE_RETIRED_MODES(X)
#undef X
	case RTPSIZE_NONE:
		break;
	}
	return "";
}

enum rtpsize_mode rtpsize_by_name(const char *name, size_t n)
{
#define X(NAME, num, wire)                                                                         \
	if (n == sizeof wire - 1 && memcmp(name, wire, n) == 0)                                    \
		return RTPSIZE_##NAME;
	RTPSIZE_MODES(X)
	RTPSIZE_RETIRED_MODES(X)
#undef X
	return RTPSIZE_NONE;
}

/* ---- contexts ---- */

int rtpsize_alloc(struct rtpsize **out, enum rtpsize_mode mode, const uint8_t key[RTPSIZE_KEY])
{
	return rtpsize_alloc_by(out, mode, key, RTPSIZE_ANY);
}

static int key_aes(struct rtpsize *x, const uint8_t *key, enum rtpsize_maker maker)
{
	int err;

	if (maker != RTPSIZE_MBEDTLS && crypto_aead_aes256gcm_is_available()) {
		x->maker = RTPSIZE_SODIUM;
		return crypto_aead_aes256gcm_beforenm(&x->aes, key) ? EINVAL : 0;
	}
	if (maker == RTPSIZE_SODIUM)
		return ENOTSUP;
	x->maker = RTPSIZE_MBEDTLS;
	mbedtls_gcm_init(&x->gcm);
	err = mbedtls_gcm_setkey(&x->gcm, MBEDTLS_CIPHER_ID_AES, key, RTPSIZE_KEY * 8);
	if (err == MBEDTLS_ERR_CIPHER_ALLOC_FAILED)
		return ENOMEM;
	return err ? EINVAL : 0;
}

int rtpsize_alloc_by(struct rtpsize **out, enum rtpsize_mode mode, const uint8_t key[RTPSIZE_KEY],
		     enum rtpsize_maker maker)
{
	struct rtpsize *x;
	int err;

	if (mode != RTPSIZE_AES256_GCM && mode != RTPSIZE_XCHACHA20_POLY1305 && !retired_mode(mode))
		return EINVAL;
	if (mode != RTPSIZE_AES256_GCM && maker == RTPSIZE_MBEDTLS)
		return ENOTSUP;
	if (sodium_init() < 0) /* detects CPU features; harmless when repeated */
		return ENOTSUP;
	x = calloc(1, sizeof *x);
	if (!x)
		return ENOMEM;
	x->mode = mode;
	if (mode == RTPSIZE_AES256_GCM) {
		err = key_aes(x, key, maker);
		if (err)
			goto out;
	} else {
		x->maker = RTPSIZE_SODIUM;
		memcpy(x->bytes, key, RTPSIZE_KEY);
	}
	*out = x;
	x = NULL;
	err = 0;
out:
	rtpsize_free(x);
	return err;
}

struct rtpsize *rtpsize_free(struct rtpsize *x)
{
	if (!x)
		return NULL;
	if (x->maker == RTPSIZE_MBEDTLS)
		mbedtls_gcm_free(&x->gcm);
	sodium_memzero(x, sizeof *x);
	free(x);
	return NULL;
}

enum rtpsize_mode rtpsize_mode_of(const struct rtpsize *x)
{
	return x->mode;
}

void rtpsize_set_counter(struct rtpsize *x, uint32_t counter)
{
	x->counter = counter;
	x->spent = false;
}

uint32_t rtpsize_next_counter(const struct rtpsize *x)
{
	return x->counter;
}

/* ---- ciphers ---- */

enum { NONCE_AES = 12, NONCE_XCHACHA = 24 };

/* Writes n bytes and the tag to out. */
static int encrypt_bytes(struct rtpsize *x, const uint8_t counter[RTPSIZE_COUNTER],
			 const uint8_t *aad, size_t aad_len, const uint8_t *in, size_t n,
			 uint8_t *out)
{
	uint8_t nonce[NONCE_XCHACHA] = {0};

	memcpy(nonce, counter, RTPSIZE_COUNTER);
	if (x->mode == RTPSIZE_XCHACHA20_POLY1305)
		return crypto_aead_xchacha20poly1305_ietf_encrypt(out, NULL, in, n, aad, aad_len,
								  NULL, nonce, x->bytes);
	if (x->maker == RTPSIZE_SODIUM)
		return crypto_aead_aes256gcm_encrypt_afternm(out, NULL, in, n, aad, aad_len, NULL,
							     nonce, &x->aes);
	return mbedtls_gcm_crypt_and_tag(&x->gcm, MBEDTLS_GCM_ENCRYPT, n, nonce, NONCE_AES, aad,
					 aad_len, in, out, RTPSIZE_TAG, out + n);
}

/* in: n bytes and the tag; writes n bytes to out, which may be in. */
static int decrypt_bytes(struct rtpsize *x, const uint8_t counter[RTPSIZE_COUNTER],
			 const uint8_t *aad, size_t aad_len, const uint8_t *in, size_t n,
			 uint8_t *out)
{
	uint8_t nonce[NONCE_XCHACHA] = {0};

	memcpy(nonce, counter, RTPSIZE_COUNTER);
	if (x->mode == RTPSIZE_XCHACHA20_POLY1305)
		return crypto_aead_xchacha20poly1305_ietf_decrypt(
			out, NULL, NULL, in, n + RTPSIZE_TAG, aad, aad_len, nonce, x->bytes);
	if (x->maker == RTPSIZE_SODIUM)
		return crypto_aead_aes256gcm_decrypt_afternm(out, NULL, NULL, in, n + RTPSIZE_TAG,
							     aad, aad_len, nonce, &x->aes);
	return mbedtls_gcm_auth_decrypt(&x->gcm, n, nonce, NONCE_AES, aad, aad_len, in + n,
					RTPSIZE_TAG, in, out);
}

/* ---- encryption ---- */

static size_t packet_overhead(const struct rtpsize *x)
{
	return retired_mode(x->mode) ? RTPSIZE_TAG + retired_appended(x->mode) : RTPSIZE_OVERHEAD;
}

/* out holds `clear` bytes already; appends the encrypted rest and the counter. */
static int seal_packet(struct rtpsize *x, size_t clear, const uint8_t *rest, size_t n, uint8_t *out,
		       size_t *len)
{
	uint8_t counter[RTPSIZE_COUNTER];
	struct wr w = wr_of(counter, sizeof counter);

	if (x->spent)
		return EOVERFLOW;
	if (retired_mode(x->mode)) {
		if (retired_seal(x->mode, x->bytes, x->counter, clear, (struct slice){rest, n}, out,
				 len))
			return EINVAL;
		x->counter++;
		x->spent = x->counter == 0;
		return 0;
	}
	wr_be(&w, x->counter, RTPSIZE_COUNTER);
	if (encrypt_bytes(x, counter, out, clear, rest, n, out + clear))
		return EINVAL;
	x->counter++;
	x->spent = x->counter == 0;
	memcpy(out + clear + n + RTPSIZE_TAG, counter, sizeof counter);
	*len = clear + n + RTPSIZE_OVERHEAD;
	return 0;
}

int rtpsize_seal(struct rtpsize *x, const struct rtp_header *h, const uint8_t *payload, size_t n,
		 uint8_t *out, size_t cap, size_t *len)
{
	size_t clear;
	int err;

	if (h->extension || h->padding || n == 0)
		return EINVAL;
	if (n > UDP_MAX_PACKET || cap < RTP_HEADER + n + packet_overhead(x))
		return EMSGSIZE;
	err = rtp_build(h, out, cap, &clear);
	return err ? err : seal_packet(x, clear, payload, n, out, len);
}

int rtpsize_seal_rtcp(struct rtpsize *x, const uint8_t *packet, size_t n, uint8_t *out, size_t cap,
		      size_t *len)
{
	if (n < RTCP_CLEAR)
		return EINVAL;
	if (x->mode == RTPSIZE_XSALSA20)
		return ENOTSUP;
	if (n > UDP_MAX_PACKET || cap < n + packet_overhead(x))
		return EMSGSIZE;
	memcpy(out, packet, RTCP_CLEAR);
	return seal_packet(x, RTCP_CLEAR, packet + RTCP_CLEAR, n - RTCP_CLEAR, out, len);
}

/* ---- decryption ---- */

/* Removes extension and padding from the plaintext. The padding count is the last byte of the
 * plaintext (RFC 3550 5.1, which includes that byte); in an encrypted packet the last byte belongs
 * to the counter. */
static int strip_padding(struct rtpsize_rtp *got, const uint8_t *plain, size_t n)
{
	size_t ext = got->h.extension ? 4u * got->h.ext_words : 0;

	if (ext > n)
		return EBADMSG;
	got->ext = (struct slice){.p = plain, .n = ext};
	plain += ext;
	n -= ext;
	if (got->h.padding) {
		size_t pad = n ? plain[n - 1] : 0;

		if (pad == 0 || pad > n)
			return EBADMSG;
		n -= pad;
	}
	if (n == 0)
		return ENODATA;
	got->payload = (struct slice){.p = plain, .n = n};
	return 0;
}

/* For layouts that encrypt the header extension whole: its preamble is read after decryption. */
static int open_whole(struct rtpsize *x, uint8_t *packet, size_t n, uint8_t *buf, size_t cap,
		      struct rtpsize_rtp *out)
{
	struct rtpsize_rtp got = {0};
	uint8_t first, *to;
	size_t plain;
	struct rd r;
	int err;

	if (n < RTP_HEADER)
		return EBADMSG;
	first = packet[0];
	packet[0] = first & (uint8_t)~0x10;
	err = rtp_parse(&got.h, packet, n);
	packet[0] = first;
	if (err || n < got.h.size + packet_overhead(x) + 1)
		return EBADMSG;
	to = buf ? buf : packet + got.h.size;
	if (buf && cap < n - got.h.size - packet_overhead(x))
		return EMSGSIZE;
	if (retired_open(x->mode, x->bytes, packet, n, got.h.size, to, &plain))
		return EACCES;
	r = rd_of(to, plain);
	got.h.extension = first & 0x10;
	if (got.h.extension) {
		got.h.ext_profile = (uint16_t)rd_be(&r, 2);
		got.h.ext_words = (uint16_t)rd_be(&r, 2);
	}
	if (!r.ok)
		return EBADMSG;
	err = strip_padding(&got, to + r.pos, plain - r.pos);
	if (!err)
		*out = got;
	return err;
}

int rtpsize_open(struct rtpsize *x, uint8_t *packet, size_t n, uint8_t *buf, size_t cap,
		 struct rtpsize_rtp *out)
{
	struct rtpsize_rtp got = {0};
	size_t sealed;
	uint8_t *to;
	int err;

	if (retired_mode(x->mode) && x->mode != RTPSIZE_XSALSA20_LITE_RTPSIZE)
		return open_whole(x, packet, n, buf, cap, out);
	if (rtp_parse(&got.h, packet, n) || n < got.h.size + packet_overhead(x) + 1)
		return EBADMSG;
	sealed = n - got.h.size - packet_overhead(x);
	to = buf ? buf : packet + got.h.size;
	if (buf && cap < sealed)
		return EMSGSIZE;
	if (x->mode == RTPSIZE_XSALSA20_LITE_RTPSIZE) {
		if (retired_open(x->mode, x->bytes, packet, n, got.h.size, to, &sealed))
			return EACCES;
	} else if (decrypt_bytes(x, packet + n - RTPSIZE_COUNTER, packet, got.h.size,
				 packet + got.h.size, sealed, to))
		return EACCES;
	err = strip_padding(&got, to, sealed);
	if (!err)
		*out = got;
	return err;
}

int rtpsize_open_rtcp(struct rtpsize *x, const uint8_t *packet, size_t n, uint8_t *buf, size_t cap,
		      size_t *len)
{
	size_t sealed;

	if (n < RTCP_CLEAR + packet_overhead(x) || packet[0] >> 6 != 2)
		return EBADMSG;
	sealed = n - RTCP_CLEAR - packet_overhead(x);
	if (cap < RTCP_CLEAR + sealed)
		return EMSGSIZE;
	if (retired_mode(x->mode)) {
		if (retired_open(x->mode, x->bytes, packet, n, RTCP_CLEAR, buf + RTCP_CLEAR,
				 &sealed))
			return EACCES;
	} else if (decrypt_bytes(x, packet + n - RTPSIZE_COUNTER, packet, RTCP_CLEAR,
				 packet + RTCP_CLEAR, sealed, buf + RTCP_CLEAR))
		return EACCES;
	memcpy(buf, packet, RTCP_CLEAR);
	*len = RTCP_CLEAR + sealed;
	return 0;
}

const uint8_t *rtpsize_counter_of(const struct rtpsize *x, const uint8_t *packet, size_t n)
{
	if (retired_mode(x->mode) && retired_appended(x->mode) != RTPSIZE_COUNTER)
		return NULL;
	return packet + n - RTPSIZE_COUNTER;
}
