/* RTCP of a call stream: sends a sender report while we send, with receiver blocks about the
 * speakers, and reads the reports of others. */
#include <errno.h>
#include <string.h>

#include "ipc/env.h"
#include "mediad/engine/call_stream_internal.h"
#include "mediad/engine/video_sender.h"
#include "proto/base/time.h"

/* Returns the present RTP time; cs->ts is the RTP time of the deadline ts_at. */
static uint32_t current_rtp_time(const struct call_stream *cs, uint64_t now)
{
	return cs->ts +
	       (uint32_t)((int64_t)(now - cs->ts_at) * (RTP_CLOCK / 1000) / (int64_t)NS_PER_MS);
}

/* Fills the blocks of one report. Sources that do not fit follow with the next tick. */
static unsigned gather_blocks(struct call_stream *cs, uint64_t now,
			      struct rtcp_block blocks[RTCP_BLOCKS])
{
	unsigned n = 0, i = cs->report.from;

	for (; i < cs->n_slots && n < RTCP_BLOCKS; i++) {
		struct slot *s = cs->slots[i];

		n += s->ssrc && report_take(&s->source, s->ssrc, now, &blocks[n]);
	}
	cs->report.from = i < cs->n_slots ? i : 0;
	return n;
}

void call_stream_send_report(struct call_stream *cs, uint64_t now)
{
	struct rtcp_block blocks[RTCP_BLOCKS];
	struct report *r = &cs->report;
	uint8_t plain[RTCP_REPORT_MAX], out[UDP_MAX_PACKET];
	struct rtcp_sender sender;
	bool mine = false;
	size_t len;
	unsigned n;
	int err;

	if (!cs->key || r->off || now < r->next)
		return;
	/* Wall time is read only when there is something to report. */
	if (!r->from && report_has_news(r))
		mine = report_sender(r, env_wall_ms(cs->env), current_rtp_time(cs, now), now,
				     &sender);
	n = gather_blocks(cs, now, blocks);
	if (!r->from)
		r->next = now + REPORT_EVERY_MS * NS_PER_MS;
	if (!mine && !n)
		return;
	if (rtcp_build(cs->ssrc, mine ? &sender : NULL, blocks, n, plain, sizeof plain, &len))
		return;
	err = rtpsize_seal_rtcp(cs->key, plain, len, out, sizeof out, &len);
	r->off = err == ENOTSUP;
	if (!err)
		call_stream_send_datagram(cs, out, len);
}

/* Returns the entry of an RTCP sender without a slot; without one, the entry of the sender that was
 * silent longest. */
static struct rtcp_reporter *find_reporter(struct call_stream *cs, uint32_t ssrc)
{
	struct rtcp_reporter *r = &cs->reporters[0];

	for (unsigned i = 0; i < sizeof cs->reporters / sizeof cs->reporters[0]; i++) {
		if (cs->reporters[i].at && cs->reporters[i].ssrc == ssrc)
			return &cs->reporters[i];
		if (cs->reporters[i].at < r->at)
			r = &cs->reporters[i];
	}
	return r;
}

/* A refused report takes nobody's entry. */
static bool accept_reporter(struct call_stream *cs, uint32_t ssrc, const uint8_t *counter)
{
	struct rtcp_reporter *r = find_reporter(cs, ssrc);
	struct nonces seen = r->seen;
	bool known = r->at && r->ssrc == ssrc;

	if (!known)
		call_stream_begin_source(cs, ssrc, NULL, &seen);
	if (!nonces_take(&seen, counter))
		return false;
	if (r->at && !known)
		call_stream_leave_source(cs, r->ssrc, NULL, &r->seen);
	*r = (struct rtcp_reporter){.ssrc = ssrc, .at = env_now(cs->env), .seen = seen};
	return true;
}

bool call_stream_accept_counter(struct call_stream *cs, uint32_t ssrc, const uint8_t *counter)
{
	struct slot *s = call_stream_find_slot(cs, ssrc);

	if (!counter)
		return true;
	return s ? nonces_take(&s->reports, counter) : accept_reporter(cs, ssrc, counter);
}

void call_stream_forget_counters(struct call_stream *cs)
{
	memset(cs->reporters, 0, sizeof cs->reporters);
	for (unsigned i = 0; i < cs->n_slots; i++)
		memset(&cs->slots[i]->reports, 0, sizeof cs->slots[i]->reports);
}

void call_stream_adopt_reporter(struct call_stream *cs, struct slot *s)
{
	for (unsigned i = 0; i < sizeof cs->reporters / sizeof cs->reporters[0]; i++) {
		struct rtcp_reporter *r = &cs->reporters[i];

		if (!r->at || r->ssrc != s->ssrc)
			continue;
		s->reports = r->seen;
		*r = (struct rtcp_reporter){0};
	}
}

static void on_report(struct call_stream *cs, const struct rtcp_packet *p, bool proves,
		      uint64_t now)
{
	struct slot *s = p->type == RTCP_SR ? call_stream_find_slot(cs, p->ssrc) : NULL;

	if (s) {
		s->source.lsr = rtcp_middle(p->sender.ntp);
		s->source.lsr_at = now;
	}
	for (unsigned i = 0; i < p->n_blocks; i++) {
		struct rtcp_block b = rtcp_block_of(p, i);

		if (b.ssrc != cs->ssrc)
			continue;
		report_heard(&cs->report, &b, now);
		if (proves)
			path_report(&cs->path, now);
		sender_report_loss(cs->sender, b.fraction);
	}
}

void call_stream_read_reports(struct call_stream *cs, const uint8_t *p, size_t n, bool proves)
{
	struct rd r = rd_of(p, n);
	struct rtcp_packet got;

	while (rtcp_next(&r, &got))
		if (got.type == RTCP_SR || got.type == RTCP_RR)
			on_report(cs, &got, proves, env_now(cs->env));
		else if (cs->video)
			video_sender_feedback(cs->video, &got);
	if (!r.ok)
		cs->stats.malformed++;
}
