/* The line's RTCP: a sender report while we send, with it what we hear of others; and what they
 * tell of us. */
#include <errno.h>
#include <string.h>

#include "ipc/env.h"
#include "mediad/engine/line_inside.h"
#include "proto/base/time.h"

/* RTP time stands still for nobody: ts is that of the deadline ts_at. */
static uint32_t rtp_now(const struct line *l, uint64_t now)
{
	return l->ts +
	       (uint32_t)((int64_t)(now - l->ts_at) * (RTP_CLOCK / 1000) / (int64_t)NS_PER_MS);
}

/* As many of the sources as one report holds. The rest is told with the next tick. */
static unsigned gather(struct line *l, uint64_t now, struct rtcp_block blocks[RTCP_BLOCKS])
{
	unsigned n = 0, i = l->report.from;

	for (; i < l->n_slots && n < RTCP_BLOCKS; i++) {
		struct slot *s = l->slots[i];

		n += s->ssrc && report_take(&s->source, s->ssrc, now, &blocks[n]);
	}
	l->report.from = i < l->n_slots ? i : 0;
	return n;
}

void line_report(struct line *l, uint64_t now)
{
	struct rtcp_block blocks[RTCP_BLOCKS];
	struct report *r = &l->report;
	uint8_t plain[RTCP_REPORT_MAX], out[UDP_MAX_PACKET];
	struct rtcp_sender sender;
	bool mine = false;
	size_t len;
	unsigned n;
	int err;

	if (!l->key || r->off || now < r->next)
		return;
	/* The wall is asked only when there is something to say. */
	if (!r->from && report_has_news(r))
		mine = report_sender(r, env_wall_ms(l->env), rtp_now(l, now), now, &sender);
	n = gather(l, now, blocks);
	if (!r->from)
		r->next = now + REPORT_EVERY_MS * NS_PER_MS;
	if (!mine && !n)
		return;
	if (rtcp_build(l->ssrc, mine ? &sender : NULL, blocks, n, plain, sizeof plain, &len))
		return;
	err = rtpsize_seal_rtcp(l->key, plain, len, out, sizeof out, &len);
	r->off = err == ENOTSUP;
	if (!err)
		line_send(l, out, len);
}

/* Where a sender's counters are kept. Of those without a slot the one that was silent longest gives
 * way. */
static struct nonces *seen_of(struct line *l, uint32_t ssrc)
{
	const unsigned n = sizeof l->reporters / sizeof l->reporters[0];
	struct slot *s = line_slot(l, ssrc);
	struct line_reporter *r = &l->reporters[0];

	if (s)
		return &s->reports;
	for (unsigned i = 0; i < n; i++) {
		if (l->reporters[i].at && l->reporters[i].ssrc == ssrc) {
			r = &l->reporters[i];
			break;
		}
		if (l->reporters[i].at < r->at)
			r = &l->reporters[i];
	}
	if (!r->at || r->ssrc != ssrc)
		*r = (struct line_reporter){.ssrc = ssrc};
	r->at = env_now(l->env);
	return &r->seen;
}

bool line_report_fresh(struct line *l, uint32_t ssrc, const uint8_t *counter)
{
	return !counter || nonces_take(seen_of(l, ssrc), counter);
}

void line_forget_reports(struct line *l)
{
	memset(l->reporters, 0, sizeof l->reporters);
	for (unsigned i = 0; i < l->n_slots; i++)
		memset(&l->slots[i]->reports, 0, sizeof l->slots[i]->reports);
}

void line_reporter_named(struct line *l, struct slot *s)
{
	for (unsigned i = 0; i < sizeof l->reporters / sizeof l->reporters[0]; i++) {
		struct line_reporter *r = &l->reporters[i];

		if (!r->at || r->ssrc != s->ssrc)
			continue;
		s->reports = r->seen;
		*r = (struct line_reporter){0};
	}
}

static void on_report(struct line *l, const struct rtcp_packet *p, uint64_t now)
{
	struct slot *s = p->type == RTCP_SR ? line_slot(l, p->ssrc) : NULL;

	if (s) {
		s->source.lsr = rtcp_middle(p->sender.ntp);
		s->source.lsr_at = now;
	}
	for (unsigned i = 0; i < p->n_blocks; i++) {
		struct rtcp_block b = rtcp_block_of(p, i);

		if (b.ssrc != l->ssrc)
			continue;
		report_heard(&l->report, &b, now);
		sender_lost(l->sender, b.fraction);
	}
}

void line_reported(struct line *l, const uint8_t *p, size_t n)
{
	struct rd r = rd_of(p, n);
	struct rtcp_packet got;

	while (rtcp_next(&r, &got))
		if (got.type == RTCP_SR || got.type == RTCP_RR)
			on_report(l, &got, env_now(l->env));
	if (!r.ok)
		l->stats.malformed++;
}
