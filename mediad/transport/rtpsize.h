/* Packet encryption of a voice call: the `*_rtpsize` modes of Discord's voice gateway, and behind
 * the same functions the modes it retired.
 *
 * A context holds one key in one mode, and the counter that makes the nonces of what we send. It is
 * made by the loop thread (this allocates and expands the key) and lent to an audio thread, which
 * alone uses it; sealing and opening allocate nothing. rtpsize_free wipes it.
 *
 * On the wire: clear part | ciphertext(extension body, payload, padding) | tag 16 | counter 4. The
 * clear part (RTP: fixed header, CSRCs, extension preamble; RTCP: 8 bytes) is the additional data.
 * The nonce is the four counter bytes, then zeros; ours are big-endian, those of others are copied
 * as they come, because both orders are seen. */
#ifndef MEDIAD_TRANSPORT_RTPSIZE_H
#define MEDIAD_TRANSPORT_RTPSIZE_H

#include "proto/rtp.h"

/* M(NAME, number, wire name), the one we like best first. */
#define RTPSIZE_MODES(M)                                                                           \
	M(AES256_GCM, 1, "aead_aes256_gcm_rtpsize")                                                \
	M(XCHACHA20_POLY1305, 2, "aead_xchacha20_poly1305_rtpsize")

/* No server of Discord's offers these any more (retired.h has their layouts): only for those that
 * kept them, and only when asked for. */
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

/* AES-GCM has two makers: libsodium where the processor can, mbedTLS elsewhere. */
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
/* RTPSIZE_NONE when the name (n bytes) is not one of ours. */
enum rtpsize_mode rtpsize_by_name(const char *name, size_t n);

struct rtpsize;

/* The key is copied. EINVAL unknown mode, ENOTSUP maker cannot do this mode here, ENOMEM. Caller
 * owns *out. */
int rtpsize_alloc(struct rtpsize **out, enum rtpsize_mode mode, const uint8_t key[RTPSIZE_KEY]);
int rtpsize_alloc_by(struct rtpsize **out, enum rtpsize_mode mode, const uint8_t key[RTPSIZE_KEY],
		     enum rtpsize_maker maker);
struct rtpsize *rtpsize_free(struct rtpsize *x);
enum rtpsize_mode rtpsize_mode_of(const struct rtpsize *x);

/* The counter of the next packet sealed; starts at 0. A key that was used before goes on where it
 * was. */
void rtpsize_set_counter(struct rtpsize *x, uint32_t counter);

/* Seals one RTP packet: writes header h (cc and extension must be 0) and the payload sealed. `out`
 * must not overlap payload. *len = 12 + n + 20 (retired modes: their overhead). EMSGSIZE cap too
 * small, EINVAL, EOVERFLOW when the counter has run out: the key is spent and only a new session
 * helps. */
int rtpsize_seal(struct rtpsize *x, const struct rtp_header *h, const uint8_t *payload, size_t n,
		 uint8_t *out, size_t cap, size_t *len);
/* Seals one compound RTCP packet (at least 8 bytes) with the same counter. *len = n + 20. Errors as
 * above; ENOTSUP in xsalsa20_poly1305, whose nonces would repeat. */
int rtpsize_seal_rtcp(struct rtpsize *x, const uint8_t *packet, size_t n, uint8_t *out, size_t cap,
		      size_t *len);

struct rtpsize_rtp {
	struct rtp_header h;
	struct slice ext;     /* body of the header extension, ext_words * 4 bytes */
	struct slice payload; /* extension and padding removed, never empty */
};

/* Opens one RTP packet. The plaintext goes to `buf` (cap bytes), where the slices of *out point;
 * with buf NULL it is opened in place. What fails to open leaves `buf` (in place: the packet)
 * undefined. EBADMSG malformed (also an extension or a padding that does not fit), EACCES not
 * authentic, ENODATA nothing but padding, to be dropped without a word; EMSGSIZE cap. */
int rtpsize_open(struct rtpsize *x, uint8_t *packet, size_t n, uint8_t *buf, size_t cap,
		 struct rtpsize_rtp *out);
/* Opens one RTCP packet into buf: the whole compound packet in the clear, *len = n - 20 (retired
 * modes: their overhead). Errors as above. */
int rtpsize_open_rtcp(struct rtpsize *x, const uint8_t *packet, size_t n, uint8_t *buf, size_t cap,
		      size_t *len);
/* The counter of a packet that opened, RTPSIZE_COUNTER bytes in it, in the sender's byte order;
 * NULL in the two retired modes whose nonces are no counters. */
const uint8_t *rtpsize_counter_of(const struct rtpsize *x, const uint8_t *packet, size_t n);

#endif
