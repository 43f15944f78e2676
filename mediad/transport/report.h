/* RTCP reports of one session as a machine (RFC 3550 6.4, A.3, A.8): reports about our own stream
 * and about the sources we receive, and the reports of others about ours.
 *
 * A source is one SSRC that we receive; its owner keeps it beside the SSRC. Counts include every
 * packet that passed transport decryption and was not a replay, also padding and packets that
 * nobody listens to, because reports describe the network.
 *
 * Plain memory of its owner, all zero is new. Times are in ns of the caller's clock; the caller
 * reads wall time once per report. */
#ifndef MEDIAD_TRANSPORT_REPORT_H
#define MEDIAD_TRANSPORT_REPORT_H

#include "proto/rtcp.h"

enum {
	REPORT_EVERY_MS = 5000,
	REPORT_JUMP = 1000, /* a larger step of the sequence number is a restart of the sender */
	REPORT_SENT = 4,    /* our newest sender reports, kept to measure the round trip */
};

/* ---- sources we receive ---- */
struct report_source {
	bool any, fresh; /* fresh: packets arrived since the last report */
	uint16_t top;	 /* highest sequence number */
	uint32_t cycles; /* 65536 for each wrap */
	uint32_t base;	 /* the first number, extended */
	uint32_t received, expected_told, received_told;
	uint32_t ts;   /* of the newest packet */
	uint64_t at;   /* arrival of the newest packet */
	double jitter; /* RTP time */
	uint32_t lsr;
	uint64_t lsr_at;
};
void report_packet(struct report_source *s, uint16_t seq, uint32_t ts, uint64_t now);
/* Makes the report block of a source. Returns false when nothing is new. */
bool report_take(struct report_source *s, uint32_t ssrc, uint64_t now, struct rtcp_block *out);

/* ---- our stream, and the reports of others about it ---- */
struct report {
	uint32_t packets, octets; /* of payload */
	uint32_t packets_told;
	uint64_t next; /* when reports are due; 0: not begun */
	unsigned from; /* where the sources that did not fit into one report continue; an index of
			  the owner */
	bool off;      /* this mode cannot encrypt RTCP */
	struct {
		uint32_t lsr; /* 0: none */
		uint64_t at;
	} sent[REPORT_SENT];
	unsigned sent_at;

	uint32_t reports; /* received about our stream */
	uint8_t fraction;
	int32_t lost;
	uint32_t jitter; /* RTP time */
	uint32_t rtt_us; /* 0: not known */
};
/* Starts; the first report is due REPORT_EVERY_MS from now. */
void report_start(struct report *r, uint64_t now);
/* Counts one sent packet. */
void report_sent(struct report *r, size_t payload);
/* True if packets were sent since the last sender report. */
static inline bool report_has_news(const struct report *r)
{
	return r->packets != r->packets_told;
}
/* Makes our sender report. Returns false when nothing is new. rtp: RTP time now. */
bool report_sender(struct report *r, uint64_t wall_ms, uint32_t rtp, uint64_t now,
		   struct rtcp_sender *out);
/* Takes a report block about our stream. */
void report_heard(struct report *r, const struct rtcp_block *b, uint64_t now);

#endif
