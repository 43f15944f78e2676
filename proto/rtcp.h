/* RTCP as far as a voice call has it (RFC 3550 6): sender and receiver reports with their blocks.
 * What else is in a compound packet (SDES, BYE, APP, feedback) is known by its type and passed
 * over.
 *
 * Everything is read from and written to buffers of the caller; slices point into them. Packets
 * here are in the clear: their encryption is transport's. */
#ifndef PROTO_RTCP_H
#define PROTO_RTCP_H

#include "proto/base/cursor.h"

enum {
	RTCP_SR = 200,
	RTCP_RR = 201,
	RTCP_SDES = 202,
	RTCP_BYE = 203,
	RTCP_APP = 204,
	RTCP_BLOCKS = 31, /* of one report */
	RTCP_REPORT_MAX = 28 + 24 * RTCP_BLOCKS + 12,
	RTCP_LOST_MAX = 0x7fffff, /* the cumulative count stays there, and at -RTCP_LOST_MAX - 1 */
};

/* What a sender says of itself. */
struct rtcp_sender {
	uint64_t ntp; /* seconds since 1900 and their fraction, 32 bits each */
	uint32_t rtp; /* the same instant in its RTP time */
	uint32_t packets, octets;
};

/* What a receiver says of a source. */
struct rtcp_block {
	uint32_t ssrc;	  /* the source */
	uint8_t fraction; /* lost since the report before, in 256ths */
	int32_t lost;	  /* in all; less than none when packets came twice */
	uint32_t highest; /* sequence number, extended */
	uint32_t jitter;  /* RTP time */
	uint32_t lsr;	  /* middle of the NTP time of the newest sender report, 0: none came */
	uint32_t dlsr;	  /* since then, in 65536ths of a second */
};

/* One packet of a compound packet. */
struct rtcp_packet {
	uint8_t type;		   /* any of 192..223 */
	uint32_t ssrc;		   /* who sends it: of SR and RR */
	struct rtcp_sender sender; /* of SR */
	unsigned n_blocks;	   /* of SR and RR */
	const uint8_t *blocks;
};

/* The next packet in r, which holds a compound packet. False at the end, and with r->ok false where
 * it is malformed: not version 2, a length that does not fit, blocks that do not fit their packet.
 */
bool rtcp_next(struct rd *r, struct rtcp_packet *out);
/* i < p->n_blocks. */
struct rtcp_block rtcp_block_of(const struct rtcp_packet *p, unsigned i);

/* One compound packet: a sender report, or with sender NULL a receiver report, and an SDES with an
 * empty CNAME, as Discord's own clients send it. EINVAL too many blocks, EMSGSIZE. */
int rtcp_build(uint32_t ssrc, const struct rtcp_sender *sender, const struct rtcp_block *blocks,
	       unsigned n, uint8_t *buf, size_t cap, size_t *len);

/* NTP's time (RFC 5905 6) of ms since 1970. */
uint64_t rtcp_ntp(uint64_t unix_ms);
/* Its middle 32 bits, as LSR has it. */
static inline uint32_t rtcp_middle(uint64_t ntp)
{
	return (uint32_t)(ntp >> 16);
}

#endif
