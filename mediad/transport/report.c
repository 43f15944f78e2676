#include "mediad/transport/report.h"

#include "proto/base/time.h"
#include "proto/rtp.h"

/* ---- receiving ---- */

static void begin_source(struct report_source *s, uint16_t seq)
{
	s->any = true;
	s->top = seq;
	s->cycles = 0;
	s->base = seq;
	s->received = s->expected_told = s->received_told = 0;
}

/* Measures interarrival jitter (A.8). A pause that the sender's RTP clock did not count is no
 * jitter. */
static void measure_jitter(struct report_source *s, uint32_t ts, uint64_t now)
{
	double d = (double)(now - s->at) * RTP_CLOCK / 1e9 - (double)(int32_t)(ts - s->ts);

	if (d < 0)
		d = -d;
	if (d < RTP_CLOCK)
		s->jitter += (d - s->jitter) / 16;
}

void report_packet(struct report_source *s, uint16_t seq, uint32_t ts, uint64_t now)
{
	int step = (int16_t)(uint16_t)(seq - s->top);

	if (!s->any || step > REPORT_JUMP || step < -REPORT_JUMP)
		begin_source(s, seq);
	else
		measure_jitter(s, ts, now);
	if (step > 0 && s->received) {
		s->cycles += seq < s->top ? 65536u : 0;
		s->top = seq;
	}
	s->received++;
	s->ts = ts;
	s->at = now;
	s->fresh = true;
}

bool report_take(struct report_source *s, uint32_t ssrc, uint64_t now, struct rtcp_block *out)
{
	uint32_t highest = s->cycles + s->top, expected = highest - s->base + 1;
	uint32_t since = expected - s->expected_told;
	int64_t lost = (int64_t)expected - s->received,
		gone = (int64_t)since - (s->received - s->received_told);

	if (!s->fresh)
		return false;
	s->fresh = false;
	s->expected_told = expected;
	s->received_told = s->received;
	*out = (struct rtcp_block){
		.ssrc = ssrc, .highest = highest, .jitter = (uint32_t)s->jitter, .lsr = s->lsr};
	if (since && gone > 0)
		out->fraction = (uint8_t)(gone * 256 / since > 255 ? 255 : gone * 256 / since);
	out->lost = (int32_t)(lost > RTCP_LOST_MAX	  ? RTCP_LOST_MAX
			      : lost < -RTCP_LOST_MAX - 1 ? -RTCP_LOST_MAX - 1
							  : lost);
	if (s->lsr)
		out->dlsr = (uint32_t)((now - s->lsr_at) / 1000 * 65536 / 1000000);
	return true;
}

/* ---- sending ---- */

void report_start(struct report *r, uint64_t now)
{
	*r = (struct report){.next = now + REPORT_EVERY_MS * NS_PER_MS};
}

void report_sent(struct report *r, size_t payload)
{
	r->packets++;
	r->octets += (uint32_t)payload;
}

bool report_sender(struct report *r, uint64_t wall_ms, uint32_t rtp, uint64_t now,
		   struct rtcp_sender *out)
{
	uint64_t ntp = rtcp_ntp(wall_ms);

	if (!report_has_news(r))
		return false;
	r->packets_told = r->packets;
	r->sent[r->sent_at].lsr = rtcp_middle(ntp);
	r->sent[r->sent_at].at = now;
	r->sent_at = (r->sent_at + 1) % REPORT_SENT;
	*out = (struct rtcp_sender){
		.ntp = ntp, .rtp = rtp, .packets = r->packets, .octets = r->octets};
	return true;
}

/* The round trip is measured by our own clock from the send time of the report that the block
 * names, because the wall clock may have been set since. */
static void measure_rtt(struct report *r, const struct rtcp_block *b, uint64_t now)
{
	uint64_t stayed = (uint64_t)b->dlsr * NS_PER_S / 65536;

	for (unsigned i = 0; i < REPORT_SENT; i++)
		if (b->lsr && r->sent[i].lsr == b->lsr && now - r->sent[i].at >= stayed)
			r->rtt_us = (uint32_t)((now - r->sent[i].at - stayed) / 1000);
}

void report_heard(struct report *r, const struct rtcp_block *b, uint64_t now)
{
	r->reports++;
	r->fraction = b->fraction;
	r->lost = b->lost;
	r->jitter = b->jitter;
	measure_rtt(r, b, now);
}
