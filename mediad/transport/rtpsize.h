/* Transport encryption of a voice call: the `*_rtpsize` modes of Discord's voice gateway, and
 * through the same functions the modes it retired.
 *
 * A context holds one key in one mode, and the counter for our nonces. The loop thread makes it
 * (which allocates and expands the key) and lends it to an audio thread, which alone uses it;
 * encrypting and decrypting allocate nothing. rtpsize_free wipes it.
 *
 * On the wire: clear part | ciphertext(extension body, payload, padding) | tag 16 | counter 4. The
 * clear part (RTP: fixed header, CSRCs, extension preamble; RTCP: 8 bytes) is the additional data.
 * The nonce is the four counter bytes, then zeros. Ours are big-endian; those of others are used as
 * received, because both byte orders occur. */
#ifndef MEDIAD_TRANSPORT_RTPSIZE_H
#define MEDIAD_TRANSPORT_RTPSIZE_H

#include "proto/rtp.h"

/* M(NAME, number, wire name), the preferred mode first. */
#define RTPSIZE_MODES(M)                                                                           \
	M(AES256_GCM, 1, "aead_aes256_gcm_rtpsize")                                                \
	M(XCHACHA20_POLY1305, 2, "aead_xchacha20_poly1305_rtpsize")

/* Discord's servers no longer offer these modes (retired.h has their layouts). They serve other
 * servers, and only when enabled. */
#define RTPSIZE_RETIRED_MODES(M)                                                                   \
	M(XSALSA20_LITE_RTPSIZE, 3, "xsalsa20_poly1305_lite_rtpsize")                              \
	M(XSALSA20_LITE, 4, "xsalsa20_poly1305_lite")                                              \
	M(XSALSA20_SUFFIX, 5, "xsalsa20_poly1305_suffix")                                          \
	M(XSALSA20, 6, "xsalsa20_poly1305")

enum rtpsize_mode {
	RTPSIZE_NONE = 0,
#define X(NAME, num, wire) RTPSIZE_##NAME = num,
	RTPSIZE_MODES(X) RTPSIZE_RETIRED_MODES(X)
#undef X
};

/* AES-GCM has two implementations: libsodium where the CPU supports it, mbedTLS elsewhere. */
enum rtpsize_maker { RTPSIZE_ANY, RTPSIZE_SODIUM, RTPSIZE_MBEDTLS };

enum {
	RTPSIZE_KEY = 32,
	RTPSIZE_TAG = 16,
	RTPSIZE_COUNTER = 4,
	RTPSIZE_OVERHEAD = 20,
	RTPSIZE_OVERHEAD_MAX = 40 /* of the retired modes */
};

/* "" for RTPSIZE_NONE. */
const char *rtpsize_name(enum rtpsize_mode mode);
/* Returns RTPSIZE_NONE when the name (n bytes) is unknown. */
enum rtpsize_mode rtpsize_by_name(const char *name, size_t n);

struct rtpsize;

/* Copies the key. Returns EINVAL for an unknown mode, ENOTSUP when the implementation cannot do
 * this mode here, or ENOMEM. The caller owns *out. */
int rtpsize_alloc(struct rtpsize **out, enum rtpsize_mode mode, const uint8_t key[RTPSIZE_KEY]);
int rtpsize_alloc_by(struct rtpsize **out, enum rtpsize_mode mode, const uint8_t key[RTPSIZE_KEY],
		     enum rtpsize_maker maker);
struct rtpsize *rtpsize_free(struct rtpsize *x);
enum rtpsize_mode rtpsize_mode_of(const struct rtpsize *x);

/* The counter of the next packet; it starts at 0. A key that was used before must continue where it
 * was. */
void rtpsize_set_counter(struct rtpsize *x, uint32_t counter);
uint32_t rtpsize_next_counter(const struct rtpsize *x);

/* Encrypts one RTP packet: writes header h (cc and extension must be 0) and the encrypted payload.
 * `out` must not overlap payload. *len = 12 + n + 20 (retired modes: their overhead). Returns
 * EMSGSIZE when cap is too small, EINVAL, or EOVERFLOW when the counter is used up and only a new
 * session helps. */
int rtpsize_seal(struct rtpsize *x, const struct rtp_header *h, const uint8_t *payload, size_t n,
		 uint8_t *out, size_t cap, size_t *len);
/* Encrypts one compound RTCP packet (at least 8 bytes) with the same counter. *len = n + 20. Errors
 * as above; ENOTSUP in xsalsa20_poly1305, whose nonces would repeat. */
int rtpsize_seal_rtcp(struct rtpsize *x, const uint8_t *packet, size_t n, uint8_t *out, size_t cap,
		      size_t *len);

struct rtpsize_rtp {
	struct rtp_header h;
	struct slice ext;     /* body of the header extension, ext_words * 4 bytes */
	struct slice payload; /* extension and padding removed, never empty */
};

/* Decrypts one RTP packet. The plaintext goes to `buf` (cap bytes), where the slices of *out point;
 * with buf NULL the packet is decrypted in place. On an error `buf` (or the packet) is undefined.
 * Returns EBADMSG when malformed (also when extension or padding do not fit), EACCES when not
 * authentic, ENODATA when it holds nothing but padding and is to be dropped silently, EMSGSIZE when
 * cap is too small. */
int rtpsize_open(struct rtpsize *x, uint8_t *packet, size_t n, uint8_t *buf, size_t cap,
		 struct rtpsize_rtp *out);
/* Decrypts one RTCP packet into buf: the whole compound packet, *len = n - 20 (retired modes: their
 * overhead). Errors as above. */
int rtpsize_open_rtcp(struct rtpsize *x, const uint8_t *packet, size_t n, uint8_t *buf, size_t cap,
		      size_t *len);
/* The counter of a decrypted packet: RTPSIZE_COUNTER bytes inside it, in the sender's byte order;
 * NULL in the two retired modes whose nonces are no counters. */
const uint8_t *rtpsize_counter_of(const struct rtpsize *x, const uint8_t *packet, size_t n);

#endif
