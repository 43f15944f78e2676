/* The datagrams of a voice call as far as they are not encrypted: RTP and RTCP headers (RFC
 * 3550 5.1, 6.4), one-byte header extensions (RFC 8285 4.2), Discord's IP discovery and keepalive.
 *
 * Everything is read from and written to buffers of the caller; slices point into them. */
#ifndef PROTO_RTP_H
#define PROTO_RTP_H

#include "proto/base/cursor.h"

enum {
	RTP_HEADER = 12,		 /* the fixed part */
	RTP_CLEAR_MAX = 12 + 4 * 15 + 4, /* with CSRCs and the preamble of an extension */
	RTP_PT_OPUS = 120,
	RTP_FRAME = 960,   /* RTP time of 20 ms: Opus counts at 48 kHz (RFC 7587 4.1) */
	RTP_CLOCK = 48000, /* per second */
	RTP_EXT_ONE_BYTE = 0xbede,
	RTP_EXT_AUDIO_LEVEL = 1, /* RFC 6464 */
	RTP_LEVEL_NONE = 127,	 /* -dBov: silence; also stands for an absent level */
	RTCP_CLEAR = 8,		 /* header and sender SSRC */
	UDP_MAX_PACKET = 1460,	 /* larger datagrams are not of this protocol */
	DISCOVERY_SIZE = 74,
	KEEPALIVE_SIZE = 8,
};

enum udp_kind { UDP_OTHER, UDP_RTP, UDP_RTCP, UDP_DISCOVERY, UDP_KEEPALIVE };

/* Classifies a datagram by its first bytes and length. UDP_RTP and UDP_RTCP: version 2 and room for
 * the fixed header; nothing more was checked. UDP_KEEPALIVE: any 8 bytes. */
enum udp_kind udp_classify(const uint8_t *p, size_t n);

struct rtp_header {
	bool padding, marker, extension;
	uint8_t pt; /* 0..127 */
	uint8_t cc; /* CSRCs, 0..15 */
	uint16_t seq;
	uint32_t ts;
	uint32_t ssrc;
	uint16_t ext_profile; /* when extension */
	uint16_t ext_words; /* length of the extension's body in 32-bit words; the body follows the
			       clear part */
	size_t size; /* bytes of fixed header, CSRCs and extension preamble: what rtpsize leaves
			clear */
};

/* EBADMSG when it is not RTP version 2 or the clear part does not fit. *h is written only on
 * success. */
int rtp_parse(struct rtp_header *h, const uint8_t *p, size_t n);
/* Writes h without CSRCs (cc must be 0); with the extension's preamble when h->extension. size is
 * not read. EMSGSIZE, EINVAL. */
int rtp_build(const struct rtp_header *h, uint8_t *buf, size_t cap, size_t *len);

/* Reads the next one-byte extension element in `r` (the body of a 0xBEDE extension): id 1..14 and
 * its 1..16 bytes. Returns false at the end, at id 15 and at a truncated body. */
bool rtp_ext_next(struct rd *r, uint8_t *id, struct slice *data);
/* Audio level in -dBov, 0 (loudest) to 127; RTP_LEVEL_NONE when there is none. body: ext_words * 4
 * bytes. */
uint8_t rtp_audio_level(uint16_t profile, const uint8_t *body, size_t n);

/* Builds an IP discovery request (Discord, Voice Connections) of 74 bytes for our ssrc. */
void discovery_build(uint8_t buf[DISCOVERY_SIZE], uint32_t ssrc);
/* Parses a discovery response for `ssrc`: our address as text (NUL-terminated, IPv4 or IPv6
 * characters only) and port. Returns EBADMSG for anything else. */
int discovery_parse(const uint8_t *p, size_t n, uint32_t ssrc, char ip[64], uint16_t *port);

/* Builds a keepalive as present clients send it: 0x1337CAFE and a number. Servers answer with
 * 0x1337F00D and the same number, echo it, or do not answer. */
void keepalive_build(uint8_t buf[KEEPALIVE_SIZE], uint32_t number);
/* Returns EBADMSG when it is neither a response nor an echo. */
int keepalive_parse(const uint8_t *p, size_t n, uint32_t *number);

/* The Opus frame that stands for silence and is never end-to-end encrypted. */
#define OPUS_SILENCE ((const uint8_t[]){0xf8, 0xff, 0xfe})
enum { OPUS_SILENCE_SIZE = 3 };
bool opus_is_silence(const uint8_t *p, size_t n);

#endif
