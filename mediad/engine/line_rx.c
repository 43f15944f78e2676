#include "mediad/engine/line.h"

#include <errno.h>
#include <string.h>

#include "ipc/env.h"

#define MS UINT64_C(1000000)

static void put(struct line *l, struct slot *s, const struct audio_packet *pkt, uint64_t at)
{
	if (!l->deaf)
		audio_speaker_put(s->speaker, pkt, at);
}

/* A replay window for an SSRC nobody has claimed; the oldest of a few gives way. */
static struct replay *unknown_window(struct line *l, uint32_t ssrc)
{
	const unsigned n = sizeof l->unknown / sizeof l->unknown[0];
	struct line_unknown *u;

	for (unsigned i = 0; i < n; i++)
		if (l->unknown[i].ssrc == ssrc)
			return &l->unknown[i].replay;
	u = &l->unknown[l->unknown_at++ % n];
	memset(u, 0, sizeof *u);
	u->ssrc = ssrc;
	return &u->replay;
}

static void hold(struct line *l, uint32_t ssrc, const struct audio_packet *pkt, uint64_t now)
{
	struct held *h;

	l->stats.unknown_ssrc++;
	if (!l->hold || l->deaf || pkt->n > AUDIO_OPUS_MAX)
		return;
	if (l->n_held == LINE_HELD) {
		l->held_at = (l->held_at + 1) % LINE_HELD;
		l->n_held--;
	}
	h = &l->held[(l->held_at + l->n_held++) % LINE_HELD];
	h->at = now;
	h->ssrc = ssrc;
	h->seq = pkt->seq;
	h->ts = pkt->ts;
	h->level = pkt->level;
	h->n = (uint16_t)pkt->n;
	memcpy(h->opus, pkt->p, pkt->n);
}

void line_unhold(struct line *l, struct slot *s)
{
	uint64_t now = env_now(l->env);
	unsigned n = sizeof l->unknown / sizeof l->unknown[0];

	for (unsigned i = 0; i < n; i++) {
		if (l->unknown[i].ssrc != s->ssrc)
			continue;
		s->replay = l->unknown[i].replay;
		memset(&l->unknown[i], 0, sizeof l->unknown[i]);
	}
	for (unsigned i = 0; i < l->n_held; i++) {
		struct held *h = &l->held[(l->held_at + i) % LINE_HELD];
		struct audio_packet pkt = {h->seq, h->ts, h->level, h->opus, h->n};

		if (h->ssrc != s->ssrc)
			continue;
		h->ssrc = 0;
		if (now - h->at <= LINE_HELD_MS * MS)
			put(l, s, &pkt, h->at);
	}
}

static void on_rtp(struct line *l, uint8_t *p, size_t n)
{
	uint64_t now = env_now(l->env);
	struct rtpsize_rtp rtp;
	struct audio_packet pkt;
	struct rtp_header h;
	struct replay *window;
	struct slot *s;
	int err;

	if (rtp_parse(&h, p, n) || !h.ssrc || h.pt != RTP_PT_OPUS) {
		l->stats.malformed++;
		return;
	}
	s = line_slot(l, h.ssrc);
	if (s && replay_look(&s->replay, h.seq) == REPLAY_SEEN) {
		l->stats.replayed++;
		return;
	}
	err = rtpsize_open(l->key, p, n, NULL, 0, &rtp);
	if (err && err != ENODATA) {
		l->stats.malformed++;
		if (s)
			s->undecryptable++;
		return;
	}
	window = s ? &s->replay : unknown_window(l, h.ssrc);
	if (replay_commit(window, h.seq) != REPLAY_FRESH) {
		l->stats.replayed++;
		return;
	}
	/* Nothing but padding: nothing to hear, but its number is not a lost one's. They come in
	 * bursts, so they are not held. */
	if (err == ENODATA) {
		pkt = (struct audio_packet){.seq = h.seq, .ts = h.ts, .level = RTP_LEVEL_NONE};
		if (s)
			put(l, s, &pkt, now);
		return;
	}
	pkt = (struct audio_packet){
		.seq = rtp.h.seq,
		.ts = rtp.h.ts,
		.level = rtp.h.extension ? rtp_audio_level(rtp.h.ext_profile, rtp.ext.p, rtp.ext.n)
					 : RTP_LEVEL_NONE,
		.p = rtp.payload.p,
		.n = rtp.payload.n,
	};
	if (s)
		put(l, s, &pkt, now);
	else
		hold(l, h.ssrc, &pkt, now);
}

static void on_discovery(struct line *l, const uint8_t *p, size_t n)
{
	struct ev ev = {.type = EV_DISCOVERED, .line = l};

	if (l->discovery.state != DISCOVERY_ASKING || !discovery_input(&l->discovery, p, n))
		return;
	ev.found.link = l->link;
	memcpy(ev.found.ip, l->discovery.ip, sizeof ev.found.ip);
	ev.found.port = l->discovery.port;
	keepalive_start(&l->keepalive, env_now(l->env));
	l->uph(&ev, false, l->arg);
}

void line_datagram(struct line *l, uint8_t *p, size_t n)
{
	uint8_t plain[UDP_MAX_PACKET];
	size_t len;

	if (!l->linked)
		return;
	l->stats.received++;
	switch (udp_classify(p, n)) {
	case UDP_RTP:
		/* Before the key nothing can be opened: not counted as broken. */
		if (l->key)
			on_rtp(l, p, n);
		break;
	case UDP_RTCP:
		if (l->key && rtpsize_open_rtcp(l->key, p, n, plain, sizeof plain, &len))
			l->stats.malformed++;
		break;
	case UDP_DISCOVERY:
		on_discovery(l, p, n);
		break;
	case UDP_KEEPALIVE:
		if (keepalive_input(&l->keepalive, p, n, env_now(l->env)))
			l->stats.rtt_us = l->keepalive.rtt_us;
		break;
	default:
		l->stats.malformed++;
		break;
	}
}
