#include "mediad/engine/line_inside.h"

#include <errno.h>
#include <string.h>

#include "ipc/env.h"
#include "proto/base/time.h"

/* ---- packets that wait ---- */

static void drop_oldest_held(struct line *l)
{
	struct held *h = hold_at(&l->held, 0);
	struct slot *s = h->ssrc ? line_slot(l, h->ssrc) : NULL;

	if (s) {
		s->waiting--;
		s->undecryptable += h->counts;
	}
	hold_drop_oldest(&l->held);
}

void line_expire_held(struct line *l, uint64_t now)
{
	while (l->held.n && now - hold_at(&l->held, 0)->at > LINE_HELD_MS * NS_PER_MS)
		drop_oldest_held(l);
}

void line_drop_held(struct line *l, uint32_t ssrc)
{
	struct slot *s = ssrc ? line_slot(l, ssrc) : NULL;

	for (unsigned i = 0; ssrc && i < l->held.n; i++) {
		struct held *h = hold_at(&l->held, i);

		if (h->ssrc != ssrc)
			continue;
		if (s) {
			s->waiting--;
			s->undecryptable += h->counts;
		}
		h->ssrc = 0;
	}
	while (!ssrc && l->held.n)
		drop_oldest_held(l);
}

static void hold(struct line *l, struct slot *s, const struct held *h, const uint8_t *p)
{
	while (!hold_fits(&l->held, h->n))
		drop_oldest_held(l);
	hold_put(&l->held, h, p);
	if (s)
		s->waiting++;
}

/* A replay window for an SSRC nobody has claimed; the oldest of a few gives way. */
static struct line_unknown *unknown(struct line *l, uint32_t ssrc)
{
	const unsigned n = sizeof l->unknown / sizeof l->unknown[0];
	struct line_unknown *u;

	for (unsigned i = 0; i < n; i++)
		if (l->unknown[i].ssrc == ssrc)
			return &l->unknown[i];
	u = &l->unknown[l->unknown_at++ % n];
	memset(u, 0, sizeof *u);
	u->ssrc = ssrc;
	return u;
}

/* ---- hearing ---- */

/* One packet on its way to its speaker. */
struct coming {
	const struct audio_packet *pkt;
	uint64_t at;
	bool again;  /* it waited, and was tried before */
	bool behind; /* others of its speaker wait, which were before it */
};
enum verdict {
	OVER,	/* heard, or never to be */
	WAITS,	/* for its turn, or for what may be accepted to be known */
	REFUSED /* there is no key yet that opens it */
};

static void put(struct slot *s, const struct audio_packet *pkt, uint64_t at)
{
	/* One that waited comes after later ones that did not. */
	if (at > s->came)
		s->came = at;
	audio_speaker_put(s->speaker, pkt, s->came);
}

/* Without consent nothing is opened: how long it is tells whether it may be a voice. */
static void overhear(struct slot *s, struct audio_packet pkt, uint64_t at)
{
	struct dave_frame f;

	if (pkt.p && dave_frame_parse(&f, pkt.p, pkt.n))
		pkt.n = f.body.n > OPUS_SILENCE_SIZE ? f.body.n : 0;
	put(s, &pkt, at);
}

static enum verdict open_packet(struct line *l, struct slot *s, const struct coming *c)
{
	struct audio_packet plain = *c->pkt;
	uint8_t opus[UDP_MAX_PACKET];
	uint64_t epoch = 0;
	enum dave_opened what;

	if (!line_may_open(l, s))
		return WAITS;
	what = dave_open(s->opener, c->pkt->p, c->pkt->n, env_now(l->env), opus, sizeof opus,
			 &plain.n, &epoch);
	switch (what) {
	case DAVE_SEALED:
	case DAVE_CLEAR:
		line_opened(l, s, epoch);
		break;
	case DAVE_SILENCE:
		if (c->behind)
			return WAITS;
		break;
	case DAVE_REPLAYED:
		l->stats.replayed++;
		line_refused(l, s, c->at);
		return OVER;
	case DAVE_NOT_SEALED:
		s->not_sealed++;
		line_refused(l, s, c->at);
		return OVER;
	case DAVE_NO_KEY:
	case DAVE_FAILED:
		if (!c->again)
			line_refused(l, s, c->at);
		return REFUSED;
	}
	plain.p = opus;
	put(s, &plain, c->at);
	return OVER;
}

static enum verdict hear(struct line *l, struct slot *s, const struct coming *c)
{
	if (l->deaf)
		return OVER;
	if (!s->consent) {
		overhear(s, *c->pkt, c->at);
		return OVER;
	}
	if (c->pkt->p)
		return open_packet(l, s, c);
	/* Nothing but padding: nothing to hear, but its number is not a lost one's. */
	if (c->behind)
		return WAITS;
	put(s, c->pkt, c->at);
	return OVER;
}

/* A fresh packet: what does not open yet waits for the key, which may be under way. */
static void on_packet(struct line *l, struct slot *s, const struct audio_packet *pkt, uint64_t now)
{
	struct coming c = {.pkt = pkt, .at = now, .behind = s->waiting > 0};
	struct held h = {.at = now,
			 .ssrc = s->ssrc,
			 .seq = pkt->seq,
			 .ts = pkt->ts,
			 .level = pkt->level,
			 .padding = !pkt->p,
			 .n = (uint16_t)pkt->n};
	enum verdict v = s->more && s->waiting ? WAITS : hear(l, s, &c);

	if (v == OVER)
		return;
	h.tried = v == REFUSED;
	/* Before the first key it is not for us: those who joined before us speak with what we
	 * never had. */
	h.counts = h.tried && s->epoch;
	hold(l, s, &h, pkt->p);
}

/* Returns how many of at most `most` were heard. */
static unsigned retry(struct line *l, struct slot *s, unsigned most)
{
	bool behind = false;
	unsigned n = 0;

	for (unsigned i = 0; s->waiting && i < l->held.n && n < most; i++) {
		struct held *h = hold_at(&l->held, i);
		struct audio_packet pkt = {
			.seq = h->seq, .ts = h->ts, .level = h->level, .n = h->n};
		struct coming c = {.pkt = &pkt, .at = h->at, .again = h->tried, .behind = behind};
		enum verdict v;

		if (!h->ssrc || h->ssrc != s->ssrc)
			continue;
		if (!h->padding)
			pkt.p = hold_bytes(&l->held, h);
		v = hear(l, s, &c);
		if (v == OVER) {
			h->ssrc = 0;
			s->waiting--;
			n++;
			continue;
		}
		behind = true;
		h->tried = h->tried || v == REFUSED;
		h->counts = h->tried && s->epoch;
	}
	s->more = n == most;
	return n;
}

void line_retry(struct line *l, struct slot *s)
{
	retry(l, s, LINE_RETRY);
}

void line_catch_up(struct line *l)
{
	unsigned left = LINE_RETRY;

	for (unsigned i = 0; i < l->n_slots && left; i++)
		if (l->slots[i]->more)
			left -= retry(l, l->slots[i], left);
}

void line_unhold(struct line *l, struct slot *s)
{
	unsigned n = sizeof l->unknown / sizeof l->unknown[0];

	for (unsigned i = 0; i < n; i++) {
		if (l->unknown[i].ssrc != s->ssrc)
			continue;
		s->replay = l->unknown[i].replay;
		memset(&l->unknown[i], 0, sizeof l->unknown[i]);
	}
	line_expire_held(l, env_now(l->env));
	for (unsigned i = 0; i < l->held.n; i++)
		s->waiting += hold_at(&l->held, i)->ssrc == s->ssrc;
	line_retry(l, s);
}

/* At once, for somebody whose slot was needed elsewhere; when it is sure that it goes on; and now
 * and then. */
static void tell_unheard(struct line *l, struct line_unknown *u, uint64_t now)
{
	struct ev ev = {.type = EV_UNHEARD, .line = l};

	if (now - u->last > LINE_NOBODYS_MS * NS_PER_MS)
		u->since = u->tell = now;
	u->last = now;
	if (now < u->tell)
		return;
	ev.unheard.ssrc = u->ssrc;
	ev.unheard.goes_on = now - u->since >= LINE_NOBODYS_MS * NS_PER_MS;
	if (l->uph(&ev, true, l->arg))
		u->tell = ev.unheard.goes_on ? now + LINE_UNHEARD_MS * NS_PER_MS
					     : u->since + LINE_NOBODYS_MS * NS_PER_MS;
}

static void on_unknown(struct line *l, uint32_t ssrc, const struct audio_packet *pkt, uint64_t now)
{
	struct held h = {.at = now,
			 .ssrc = ssrc,
			 .seq = pkt->seq,
			 .ts = pkt->ts,
			 .level = pkt->level,
			 .n = (uint16_t)pkt->n};

	l->stats.unknown_ssrc++;
	if (!l->hold || l->deaf)
		return;
	hold(l, NULL, &h, pkt->p);
	tell_unheard(l, unknown(l, ssrc), now);
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
	window = s ? &s->replay : &unknown(l, h.ssrc)->replay;
	if (replay_commit(window, h.seq) != REPLAY_FRESH) {
		l->stats.replayed++;
		return;
	}
	if (s)
		report_packet(&s->source, h.seq, h.ts, now);
	/* Nothing but padding. It comes in bursts: nobody's is not held. */
	if (err == ENODATA) {
		pkt = (struct audio_packet){.seq = h.seq, .ts = h.ts, .level = RTP_LEVEL_NONE};
		if (s)
			on_packet(l, s, &pkt, now);
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
		on_packet(l, s, &pkt, now);
	else
		on_unknown(l, h.ssrc, &pkt, now);
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

static void on_rtcp(struct line *l, const uint8_t *p, size_t n)
{
	uint8_t plain[UDP_MAX_PACKET];
	struct rd r = rd_of(plain + 4, 4); /* the SSRC of who sends it, of any type */
	size_t len;

	if (!l->key)
		return;
	if (rtpsize_open_rtcp(l->key, p, n, plain, sizeof plain, &len))
		l->stats.malformed++;
	else if (!line_report_fresh(l, (uint32_t)rd_be(&r, 4), rtpsize_counter_of(l->key, p, n)))
		l->stats.replayed++;
	else
		line_reported(l, plain, len);
}

void line_datagram(struct line *l, uint8_t *p, size_t n)
{
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
		on_rtcp(l, p, n);
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
