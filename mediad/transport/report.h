/* RTCP reports of one session as a machine (RFC 3550 6.4, A.3, A.8): what we tell of our own stream
 * and of those we hear, and what others tell of ours.
 *
 * A source is one SSRC that we hear; its owner keeps it beside the SSRC. Everything counts packets
 * that opened at the transport layer and were not seen before, also those that are nothing but
 * padding or that nobody listens to: this is about the network.
 *
 * Plain memory of its owner, all zero is new. No clock: times are ns of the caller's, wall time is
 * asked for by the caller once a report. */
#ifndef MEDIAD_TRANSPORT_REPORT_H
#define MEDIAD_TRANSPORT_REPORT_H

#include "proto/rtcp.h"

enum {
	REPORT_EVERY_MS = 5000,
	REPORT_JUMP = 1000, /* sequence numbers; a larger step is a new start of the sender */
	REPORT_SENT = 4,    /* our newest sender reports, for the round-trip time */
};

/* ---- what we hear ---- */
struct report_source {
	bool any, fresh; /* fresh: packets since the last report */
	uint16_t top;	 /* highest sequence number */
	uint32_t cycles; /* 65536 for each time it began anew */
	uint32_t base;	 /* the first one, extended */
	uint32_t received, expected_told, received_told;
	uint32_t ts;   /* of the newest packet */
	uint64_t at;   /* and its arrival */
	double jitter; /* RTP time */
	uint32_t lsr;
	uint64_t lsr_at;
};
void report_packet(struct report_source *s, uint16_t seq, uint32_t ts, uint64_t now);
/* The block of a source, to be told now; false when there is nothing new to tell. */
bool report_take(struct report_source *s, uint32_t ssrc, uint64_t now, struct rtcp_block *out);

/* ---- what we send, and what others say of it ---- */
struct report {
	uint32_t packets, octets; /* of payload */
	uint32_t packets_told;
	uint64_t next; /* when reports are due; 0: not begun */
	unsigned
		from; /* where the sources go on that did not fit into one; the owner's numbering */
	bool off;     /* it cannot be sealed in this mode */
	struct {
		uint32_t lsr; /* 0: none */
		uint64_t at;
	} sent[REPORT_SENT];
	unsigned sent_at;

	uint32_t reports; /* about us that came */
	uint8_t fraction;
	int32_t lost;
	uint32_t jitter; /* RTP time */
	uint32_t rtt_us; /* 0: not known */
};
/* Reports are due REPORT_EVERY_MS from now on. */
void report_start(struct report *r, uint64_t now);
/* One packet went out. */
void report_sent(struct report *r, size_t payload);
/* Packets went out since the last time. */
static inline bool report_has_news(const struct report *r)
{
	return r->packets != r->packets_told;
}
/* What we say of ourselves; false when there is no news. rtp: RTP time now. */
bool report_sender(struct report *r, uint64_t wall_ms, uint32_t rtp, uint64_t now,
		   struct rtcp_sender *out);
/* A block about our own stream came. */
void report_heard(struct report *r, const struct rtcp_block *b, uint64_t now);

#endif
