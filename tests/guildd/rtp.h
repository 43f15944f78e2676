/* The packet processing of a voice server, pure: strict validation of a client's packet, and the
 * packet that another client gets for it. Layouts: RFC 3550 sections 5.1 and 6.4, RFC 8285
 * section 4.2, Discord's "Voice Connections" (rtpsize modes: 12 + 4*CC clear bytes, 4 more with X,
 * the extension body encrypted first). */
#ifndef GUILDD_RTP_H
#define GUILDD_RTP_H

#include "proto/base/cursor.h"
#include "tests/guildd/aead.h"

enum {
	GD_RTP_FIXED = 12,
	GD_RTP_PT = 120,
	GD_PACKET_MAX = 1460,
	GD_PACKET_BUF = 1600,
	GD_FEEDBACK_MAX = 512
};

/* Why a packet was taken or refused; also the names of the counters. */
#define GD_VERDICTS(V)                                                                             \
	V(OK, ok, "sound, taken")                                                                  \
	V(SILENCE, silence, "the three bytes of silence, taken")                                   \
	V(PADDING_ONLY, padding_only, "nothing but padding, dropped")                              \
	V(RTCP, rtcp, "a report, taken")                                                           \
	V(BAD_RTCP, bad_rtcp, "a control packet that is no report with its SDES, or malformed")    \
	V(BAD_SIZE, bad_size, "too short or longer than 1460 bytes")                               \
	V(BAD_VERSION, bad_version, "not RTP version 2")                                           \
	V(BAD_TYPE, bad_type, "payload type is not 120")                                           \
	V(BAD_SSRC, bad_ssrc, "no client has this SSRC")                                           \
	V(BAD_SOURCE, bad_source, "comes from another address than the one that was told")         \
	V(NO_KEY, no_key, "before the session description")                                        \
	V(BAD_NONCE, bad_nonce, "the nonce does not rise")                                         \
	V(BAD_AUTH, bad_auth, "does not open")                                                     \
	V(BAD_EXT, bad_ext, "header extension longer than the packet")                             \
	V(BAD_PADDING, bad_padding, "padding count wrong")                                         \
	V(EMPTY, empty, "no payload")                                                              \
	V(NOT_SPEAKING, not_speaking, "sound before op 5")                                         \
	V(MUTED, muted, "the sender is muted or suppressed")                                       \
	V(PLAIN, plain, "not sealed where sound must be, dropped")

enum gd_verdict {
#define X(NAME, name, text) GD_RX_##NAME,
	GD_VERDICTS(X)
#undef X
		GD_RX_COUNT
};
const char *gd_verdict_name(enum gd_verdict v);

/* The nonce of a client is a counter of four bytes in an order of its choice: it must rise in one
 * of the two. */
struct gd_nonce {
	bool any, be, le;
	uint32_t last_be, last_le;
};
bool gd_nonce_rises(struct gd_nonce *n, const uint8_t nonce[GD_NONCE]);

struct gd_rtp {
	bool marker, padded;
	uint16_t seq;
	uint32_t ts, ssrc;
	unsigned csrc;
	uint16_t ext_profile;
	struct slice ext; /* body, whole words; n = 0 without */
	struct slice payload;
};

/* What can be known before opening: RTP or RTCP, and of whom. *rtcp and *ssrc are set on GD_RX_OK.
 */
enum gd_verdict gd_rtp_peek(const uint8_t *pkt, size_t len, bool *rtcp, uint32_t *ssrc);
/* Opens an RTP packet that passed gd_rtp_peek. plain: GD_PACKET_BUF bytes, into which *out points.
 * GD_RX_OK or GD_RX_SILENCE when *out is written. */
enum gd_verdict gd_rtp_open(struct gd_aead *a, struct gd_nonce *n, const uint8_t *pkt, size_t len,
			    uint8_t *plain, struct gd_rtp *out);
/* What a client told in a control packet. */
struct gd_told {
	bool sender;	 /* a sender report */
	uint32_t middle; /* of its NTP time */
	uint32_t rtp, packets, octets;
	unsigned blocks;
	size_t n_feedback; /* bytes of the feedback packets (RFC 4585) behind the report */
	uint8_t feedback[GD_FEEDBACK_MAX];
};
/* Opens an RTCP packet: 8 clear bytes, the rest sealed. GD_RX_RTCP when *out is written: a sender
 * or receiver report of whole blocks, then an SDES with a CNAME of the same SSRC (RFC 3550 section
 * 6.1), then nothing but feedback about video. */
enum gd_verdict gd_rtcp_open(struct gd_aead *a, struct gd_nonce *n, const uint8_t *pkt, size_t len,
			     struct gd_told *out);

/* Audio level of an extension (one-byte form, id 1), -dBov; 127 when there is none. */
uint8_t gd_rtp_level(const struct gd_rtp *in);

struct gd_tx {
	bool ext;      /* with the audio level and Discord's flags (ids 1 and 9) */
	unsigned pad;  /* bytes of padding, 0..255 */
	bool pad_only; /* padding instead of the payload */
	uint8_t pt;    /* of the packet; 0: of sound */
};
/* The packet a receiver gets: seq, timestamp, SSRC and marker kept, sealed with its own key and
 * counter. ENOBUFS when cap is too small. */
int gd_rtp_forward(struct gd_aead *a, uint32_t counter, const struct gd_rtp *in,
		   const struct gd_tx *tx, uint8_t *out, size_t cap, size_t *out_len);

struct gd_report {
	uint32_t ssrc; /* of the sender it is about */
	uint8_t fraction_lost;
	uint32_t lost, ext_seq, jitter;
	uint32_t lsr, dlsr; /* 0: no sender report was seen */
};
/* A receiver report (RFC 3550 section 6.4.2) from the server, SSRC 1. */
int gd_rtcp_report(struct gd_aead *a, uint32_t counter, const struct gd_report *r, uint8_t *out,
		   size_t cap, size_t *out_len);

/* An empty receiver report of `ssrc`, then feedback packets as they are. */
int gd_rtcp_feedback(struct gd_aead *a, uint32_t counter, uint32_t ssrc, struct slice feedback,
		     uint8_t *out, size_t cap, size_t *out_len);

#endif
