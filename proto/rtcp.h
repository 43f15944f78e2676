/* RTCP as used in a voice call (RFC 3550 6): sender and receiver reports with their blocks. Other
 * packets of a compound packet (SDES, BYE, APP, feedback) are recognized by type and skipped.
 *
 * Everything is read from and written to buffers of the caller; slices point into them. Packets
 * here are decrypted; mediad/transport encrypts them. */
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
	RTCP_LOST_MAX =
		0x7fffff, /* the cumulative count is clamped to it, and to -RTCP_LOST_MAX - 1 */
};

/* A sender's report about its own stream. */
struct rtcp_sender {
	uint64_t ntp; /* seconds since 1900 and their fraction, 32 bits each */
	uint32_t rtp; /* the same instant in its RTP time */
	uint32_t packets, octets;
};

/* A receiver's report about one source. */
struct rtcp_block {
	uint32_t ssrc;	  /* the source */
	uint8_t fraction; /* lost since the report before, in 256ths */
	int32_t lost;	  /* in total; negative when packets were duplicated */
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

/* Reads the next packet of the compound packet in r. Returns false at the end, and also when it is
 * malformed, with r->ok false: not version 2, or a length or blocks that do not fit. */
bool rtcp_next(struct rd *r, struct rtcp_packet *out);
/* i < p->n_blocks. */
struct rtcp_block rtcp_block_of(const struct rtcp_packet *p, unsigned i);

/* Builds one compound packet: a sender report, or with sender NULL a receiver report, and an SDES
 * with an empty CNAME, as Discord's own clients send it. Returns EINVAL for too many blocks,
 * EMSGSIZE. */
int rtcp_build(uint32_t ssrc, const struct rtcp_sender *sender, const struct rtcp_block *blocks,
	       unsigned n, uint8_t *buf, size_t cap, size_t *len);

/* Converts ms since 1970 to NTP time (RFC 5905 6). */
uint64_t rtcp_ntp(uint64_t unix_ms);
/* The middle 32 bits of NTP time, the form of LSR. */
static inline uint32_t rtcp_middle(uint64_t ntp)
{
	return (uint32_t)(ntp >> 16);
}

#endif
