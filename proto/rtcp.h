/* RTCP as used in a call: sender and receiver reports with their blocks (RFC 3550 6), and of video
 * the feedback of receivers: missing packets and requests for key frames (RFC 4585 6, RFC
 * 5104 4.3.1). Other packets of a compound packet (SDES, BYE, APP) are recognized by type and
 * skipped.
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
	RTCP_RTPFB = 205, /* feedback of the transport: its format 1 is NACK */
	RTCP_PSFB = 206,  /* feedback of a payload: its formats 1 and 4 are PLI and FIR */
	RTCP_NACK = 1,
	RTCP_PLI = 1,
	RTCP_FIR = 4,
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
	uint32_t ssrc;		   /* who sends it: of SR, RR and feedback */
	struct rtcp_sender sender; /* of SR */
	unsigned n_blocks;	   /* of SR and RR */
	const uint8_t *blocks;
	uint8_t format;	   /* of feedback */
	uint32_t media;	   /* of feedback: the source that it is about; 0 in FIR */
	struct slice what; /* of feedback: what follows (FCI) */
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

/* ---- feedback about video ---- */
/* Reads the missing sequence numbers of a NACK about `media`, at most max. Returns their number; 0
 * when p is no such NACK. */
unsigned rtcp_read_nack(const struct rtcp_packet *p, uint32_t media, uint16_t *seqs, unsigned max);
/* True if p asks for a key frame of `media`: PLI, or FIR, whose sequence number is not looked at.
 */
bool rtcp_wants_key(const struct rtcp_packet *p, uint32_t media);
/* Append to a compound packet, behind its report. seqs: ascending, modulo 2^16. */
void rtcp_write_nack(struct wr *w, uint32_t ssrc, uint32_t media, const uint16_t *seqs, unsigned n);
void rtcp_write_pli(struct wr *w, uint32_t ssrc, uint32_t media);
/* seq: of this request; a repeated one has the same. */
void rtcp_write_fir(struct wr *w, uint32_t ssrc, uint32_t media, uint8_t seq);

/* Converts ms since 1970 to NTP time (RFC 5905 6). */
uint64_t rtcp_ntp(uint64_t unix_ms);
/* The middle 32 bits of NTP time, the form of LSR. */
static inline uint32_t rtcp_middle(uint64_t ntp)
{
	return (uint32_t)(ntp >> 16);
}

#endif
