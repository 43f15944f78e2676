#include "mediad/engine/call_stream_internal.h"

#include <errno.h>
#include <string.h>

#include "ipc/env.h"
#include "proto/base/not_cleared.h"
#include "proto/base/time.h"

/* ---- pending packets ---- */

static void drop_oldest_pending(struct call_stream *cs)
{
	struct pending_packet *h = pending_queue_at(&cs->pending, 0);
	struct slot *s = h->ssrc ? call_stream_find_slot(cs, h->ssrc) : NULL;

	if (s) {
		s->n_pending--;
		s->undecryptable += h->counts;
	}
	pending_queue_drop_oldest(&cs->pending);
}

void call_stream_expire_pending(struct call_stream *cs, uint64_t now)
{
	while (cs->pending.n &&
	       now - pending_queue_at(&cs->pending, 0)->at > CALL_STREAM_PENDING_MS * NS_PER_MS)
		drop_oldest_pending(cs);
}

void call_stream_drop_pending(struct call_stream *cs, uint32_t ssrc)
{
	struct slot *s = ssrc ? call_stream_find_slot(cs, ssrc) : NULL;

	for (unsigned i = 0; ssrc && i < cs->pending.n; i++) {
		struct pending_packet *h = pending_queue_at(&cs->pending, i);

		if (h->ssrc != ssrc)
			continue;
		if (s) {
			s->n_pending--;
			s->undecryptable += h->counts;
		}
		h->ssrc = 0;
	}
	while (!ssrc && cs->pending.n)
		drop_oldest_pending(cs);
}

/* True if most of what is pending is of one SSRC, bytes and entries together. */
static bool fills_most(struct call_stream *cs, uint32_t ssrc)
{
	enum { ENTRY = PENDING_QUEUE_BYTES / PENDING_QUEUE_PACKETS };
	size_t all = 0, own = 0;

	for (unsigned i = 0; i < cs->pending.n; i++) {
		const struct pending_packet *h = pending_queue_at(&cs->pending, i);

		all += h->ssrc ? h->n + ENTRY : 0;
		own += h->ssrc == ssrc ? h->n + ENTRY : 0;
	}
	return 2 * own > all;
}

/* When there is no room, a speaker who has most of it loses the packet. */
static void keep_pending(struct call_stream *cs, struct slot *s, const struct pending_packet *h,
			 const uint8_t *p)
{
	if (!pending_queue_fits(&cs->pending, h->n) && fills_most(cs, h->ssrc)) {
		if (s)
			s->undecryptable += h->counts;
		return;
	}
	while (!pending_queue_fits(&cs->pending, h->n))
		drop_oldest_pending(cs);
	pending_queue_put(&cs->pending, h, p);
	if (s)
		s->n_pending++;
}

/* The entry of this SSRC, or else the idlest one. */
static struct unmapped_source *find_unmapped_source(struct call_stream *cs, uint32_t ssrc)
{
	struct unmapped_source *idlest = cs->unmapped;

	for (unsigned i = 0; i < sizeof cs->unmapped / sizeof cs->unmapped[0]; i++) {
		if (cs->unmapped[i].ssrc == ssrc)
			return &cs->unmapped[i];
		if (cs->unmapped[i].last < idlest->last)
			idlest = &cs->unmapped[i];
	}
	return idlest;
}

/* Likewise. */
static struct unmapped_asked *find_asked(struct call_stream *cs, uint32_t ssrc)
{
	struct unmapped_asked *idlest = cs->asked;

	for (unsigned i = 0; i < sizeof cs->asked / sizeof cs->asked[0]; i++) {
		if (cs->asked[i].ssrc == ssrc)
			return &cs->asked[i];
		if (cs->asked[i].last < idlest->last)
			idlest = &cs->asked[i];
	}
	return idlest;
}

/* Records an authentic packet of an unmapped SSRC. Returns false when it was received before. There
 * are only a few entries; a new packet of another SSRC replaces the idlest one. */
static bool accept_unmapped(struct call_stream *cs, uint32_t ssrc, const uint8_t *counter,
			    uint16_t seq)
{
	struct unmapped_source *u = find_unmapped_source(cs, ssrc);
	struct arrivals fresh;

	if (u->ssrc == ssrc) {
		u->last = env_now(cs->env);
		return call_stream_accept_packet(&u->arrivals, counter, seq, u->last);
	}
	call_stream_begin_source(cs, ssrc, &fresh, NULL);
	if (!call_stream_accept_packet(&fresh, counter, seq, env_now(cs->env)))
		return false;
	if (u->ssrc)
		call_stream_leave_source(cs, u->ssrc, &u->arrivals, NULL);
	*u = (struct unmapped_source){.ssrc = ssrc, .last = env_now(cs->env), .arrivals = fresh};
	return true;
}

/* ---- decryption ---- */

/* A packet on its way to its speaker's jitter buffer. */
struct arrival {
	const struct audio_packet *pkt;
	uint64_t at;
	bool again;  /* it was pending, and decrypting it failed before */
	bool behind; /* earlier packets of its speaker are still pending */
};
enum verdict {
	DONE,	   /* delivered, or dropped for good */
	MUST_WAIT, /* for earlier packets, or until it is known what may be accepted */
	NO_KEY_YET /* no key decrypts it yet */
};

static void put_packet(struct slot *s, const struct audio_packet *pkt, uint64_t at)
{
	/* A packet that was pending may follow later packets that were not. */
	if (at > s->last_arrival)
		s->last_arrival = at;
	audio_speaker_put(s->speaker, pkt, s->last_arrival);
}

/* Without consent no packet is decrypted. The payload's length alone tells whether it may be
 * speech, for SPEAKING. */
static void note_unconsented(struct slot *s, struct audio_packet pkt, uint64_t at)
{
	struct dave_frame f;

	if (pkt.p && dave_frame_parse(&f, pkt.p, pkt.n))
		pkt.n = f.body.n > OPUS_SILENCE_SIZE ? f.body.n : 0;
	put_packet(s, &pkt, at);
}

static enum verdict open_packet(struct call_stream *cs, struct slot *s, const struct arrival *c)
{
	struct audio_packet plain = *c->pkt;
	uint8_t opus[UDP_MAX_PACKET] NOT_CLEARED;
	uint64_t epoch = 0;
	enum dave_opened what;

	if (!call_stream_may_decrypt(cs, s))
		return MUST_WAIT;
	what = dave_open(s->opener, (struct slice){c->pkt->p, c->pkt->n}, env_now(cs->env), opus,
			 sizeof opus, &plain.n, &epoch);
	switch (what) {
	case DAVE_SEALED:
	case DAVE_CLEAR:
		call_stream_note_decrypted(cs, s, epoch);
		break;
	case DAVE_SILENCE:
		if (c->behind)
			return MUST_WAIT;
		break;
	case DAVE_REPLAYED:
		cs->stats.replayed++;
		call_stream_note_undecryptable(cs, s, c->at);
		return DONE;
	case DAVE_NOT_SEALED:
		s->not_sealed++;
		call_stream_note_undecryptable(cs, s, c->at);
		return DONE;
	case DAVE_NO_KEY:
	case DAVE_FAILED:
		if (!c->again)
			call_stream_note_undecryptable(cs, s, c->at);
		return NO_KEY_YET;
	}
	plain.p = opus;
	put_packet(s, &plain, c->at);
	return DONE;
}

static enum verdict hear_packet(struct call_stream *cs, struct slot *s, const struct arrival *c)
{
	if (cs->deaf)
		return DONE;
	if (!s->consent) {
		note_unconsented(s, *c->pkt, c->at);
		return DONE;
	}
	if (c->pkt->p)
		return open_packet(cs, s, c);
	/* A packet of nothing but padding holds no sound, but its sequence number must not count as
	 * lost. */
	if (c->behind)
		return MUST_WAIT;
	put_packet(s, c->pkt, c->at);
	return DONE;
}

/* Handles a new packet. One that cannot be decrypted yet becomes pending, because its key may be
 * under way. */
static void on_packet(struct call_stream *cs, struct slot *s, const struct audio_packet *pkt,
		      uint64_t now)
{
	struct arrival c = {.pkt = pkt, .at = now, .behind = s->n_pending > 0};
	struct pending_packet h = {.at = now,
				   .ssrc = s->ssrc,
				   .seq = pkt->seq,
				   .ts = pkt->ts,
				   .level = pkt->level,
				   .padding = !pkt->p,
				   .n = (uint16_t)pkt->n};
	enum verdict v = s->draining && s->n_pending ? MUST_WAIT : hear_packet(cs, s, &c);

	if (v == DONE) {
		call_stream_hasten_tick(cs, audio_speaker_due(s->speaker));
		return;
	}
	h.tried = h.failed = v == NO_KEY_YET;
	/* Before our first key such packets do not count: members who were here before us use keys
	 * we never had. */
	h.counts = h.tried && s->epoch;
	keep_pending(cs, s, &h, pkt->p);
	call_stream_hasten_tick(cs, 0);
}

/* Retries pending packets of s, each once for a new key, until so much was done. Returns what is
 * left of that. */
static unsigned retry_slot(struct call_stream *cs, struct slot *s, unsigned left)
{
	bool behind = false;
	unsigned i = 0;

	for (; s->n_pending && i < cs->pending.n && left && cs->decode_left > 0; i++) {
		struct pending_packet *h = pending_queue_at(&cs->pending, i);
		struct audio_packet pkt = {
			.seq = h->seq, .ts = h->ts, .level = h->level, .n = h->n};
		struct arrival c = {.pkt = &pkt, .at = h->at, .again = h->tried, .behind = behind};
		enum verdict v;

		if (!h->ssrc || h->ssrc != s->ssrc)
			continue;
		if (h->failed) {
			behind = true;
			continue;
		}
		if (!h->padding)
			pkt.p = pending_queue_bytes(&cs->pending, h);
		v = hear_packet(cs, s, &c);
		if (v == DONE) {
			h->ssrc = 0;
			s->n_pending--;
			left -= left < CALL_STREAM_DELIVERED ? left : CALL_STREAM_DELIVERED;
			continue;
		}
		behind = true;
		h->failed = v == NO_KEY_YET;
		left -= h->failed;
		h->tried = h->tried || h->failed;
		h->counts = h->tried && s->epoch;
	}
	s->draining = s->n_pending && i < cs->pending.n;
	return left;
}

/* Something new may decrypt the packets of this SSRC, or of all (0). */
static void forget_failures(struct call_stream *cs, uint32_t ssrc)
{
	for (unsigned i = 0; i < cs->pending.n; i++) {
		struct pending_packet *h = pending_queue_at(&cs->pending, i);

		if (!ssrc || h->ssrc == ssrc)
			h->failed = false;
	}
}

void call_stream_retry_pending(struct call_stream *cs, struct slot *s)
{
	forget_failures(cs, s->ssrc);
	retry_slot(cs, s, CALL_STREAM_RETRIES);
}

void call_stream_retry_every_slot(struct call_stream *cs)
{
	forget_failures(cs, 0);
	for (unsigned i = 0; i < cs->n_slots; i++)
		cs->slots[i]->draining = cs->slots[i]->n_pending > 0;
	call_stream_retry_all_pending(cs);
}

void call_stream_retry_all_pending(struct call_stream *cs)
{
	unsigned left = CALL_STREAM_RETRIES;

	for (unsigned i = 0; i < cs->n_slots && left; i++)
		if (cs->slots[i]->draining)
			left = retry_slot(cs, cs->slots[i], left);
}

void call_stream_release_pending(struct call_stream *cs, struct slot *s)
{
	struct unmapped_source *u = find_unmapped_source(cs, s->ssrc);
	struct unmapped_asked *a = find_asked(cs, s->ssrc);

	if (u->ssrc == s->ssrc) {
		s->arrivals = u->arrivals;
		memset(u, 0, sizeof *u);
	}
	if (a->ssrc == s->ssrc)
		memset(a, 0, sizeof *a);
	call_stream_expire_pending(cs, env_now(cs->env));
	for (unsigned i = 0; i < cs->pending.n; i++)
		s->n_pending += pending_queue_at(&cs->pending, i)->ssrc == s->ssrc;
	call_stream_retry_pending(cs, s);
}

/* Reports an unmapped SSRC: at once, for a user whose slot was reclaimed; again when it proves
 * persistent; then at intervals. */
static void report_unmapped(struct call_stream *cs, uint32_t ssrc, uint64_t now)
{
	struct ev ev = {.type = EV_UNMAPPED_SSRC, .stream = cs};
	struct unmapped_asked *a = find_asked(cs, ssrc);

	if (a->ssrc != ssrc || now - a->last > CALL_STREAM_UNMAPPED_MS * NS_PER_MS)
		*a = (struct unmapped_asked){.ssrc = ssrc, .since = now, .tell = now};
	a->last = now;
	if (now < a->tell)
		return;
	ev.unmapped.ssrc = ssrc;
	ev.unmapped.persistent = now - a->since >= CALL_STREAM_UNMAPPED_MS * NS_PER_MS;
	if (cs->emit(&ev, true, cs->arg))
		a->tell = ev.unmapped.persistent ? now + CALL_STREAM_UNMAPPED_REPEAT_MS * NS_PER_MS
						 : a->since + CALL_STREAM_UNMAPPED_MS * NS_PER_MS;
}

static void on_unmapped_packet(struct call_stream *cs, uint32_t ssrc,
			       const struct audio_packet *pkt, uint64_t now)
{
	struct pending_packet h = {.at = now,
				   .ssrc = ssrc,
				   .seq = pkt->seq,
				   .ts = pkt->ts,
				   .level = pkt->level,
				   .n = (uint16_t)pkt->n};

	cs->stats.unknown_ssrc++;
	if (!cs->keep_unmapped || cs->deaf)
		return;
	keep_pending(cs, NULL, &h, pkt->p);
	call_stream_hasten_tick(cs, 0);
	report_unmapped(cs, ssrc, now);
}

/* Both directions have one key, so our own packets are authentic when somebody sends them back. */
static bool may_be_new(const struct call_stream *cs, const struct slot *s, const uint8_t *counter,
		       const struct rtp_header *h)
{
	if (h->ssrc == cs->ssrc)
		return false;
	return !s || call_stream_may_be_new(&s->arrivals, counter, h->seq);
}

/* Before the events that the first of its packets makes. */
static void note_key_used(struct call_stream *cs)
{
	struct ev ev = {.type = EV_KEY_USED, .stream = cs, .key_number = cs->key_number};

	if (!cs->key_used)
		call_stream_emit(cs, &ev);
	cs->key_used = true;
}

/* Without a counter it may be a recording. */
static void note_reached(struct call_stream *cs, const uint8_t *counter)
{
	if (counter)
		path_reach(&cs->path, env_now(cs->env));
}

void call_stream_note_authentic(struct call_stream *cs, const uint8_t *counter)
{
	note_key_used(cs);
	note_reached(cs, counter);
}

static void on_rtp(struct call_stream *cs, uint8_t *p, size_t n)
{
	uint64_t now = env_now(cs->env);
	struct rtpsize_rtp rtp;
	struct audio_packet pkt;
	struct rtp_header h;
	const uint8_t *counter;
	struct slot *s;
	int err;

	if (rtp_parse(&h, p, n) || !h.ssrc || h.pt != RTP_PT_OPUS) {
		cs->stats.malformed++;
		return;
	}
	s = call_stream_find_slot(cs, h.ssrc);
	counter = rtpsize_counter_of(cs->key, p, n);
	if (!may_be_new(cs, s, counter, &h)) {
		cs->stats.replayed++;
		return;
	}
	err = rtpsize_open(cs->key, p, n, NULL, 0, &rtp);
	if (err && err != ENODATA) {
		cs->stats.malformed++;
		if (s)
			s->undecryptable++;
		return;
	}
	note_key_used(cs);
	if (s ? !call_stream_accept_packet(&s->arrivals, counter, h.seq, now)
	      : !accept_unmapped(cs, h.ssrc, counter, h.seq)) {
		cs->stats.replayed++;
		return;
	}
	note_reached(cs, counter);
	if (s)
		report_packet(&s->source, h.seq, h.ts, now);
	/* A packet of nothing but padding. These come in bursts; those of unmapped SSRCs are not
	 * kept. */
	if (err == ENODATA) {
		pkt = (struct audio_packet){.seq = h.seq, .ts = h.ts, .level = RTP_LEVEL_NONE};
		if (s)
			on_packet(cs, s, &pkt, now);
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
		on_packet(cs, s, &pkt, now);
	else
		on_unmapped_packet(cs, h.ssrc, &pkt, now);
}

static void note_echo(struct call_stream *cs)
{
	cs->stats.rtt_us = cs->keepalive.rtt_us;
	path_echo(&cs->path, env_now(cs->env));
}

static void on_discovery(struct call_stream *cs, const uint8_t *p, size_t n)
{
	struct ev ev = {.type = EV_DISCOVERED, .stream = cs};
	uint64_t now = env_now(cs->env);

	if (!discovery_input(&cs->discovery, p, n, now))
		return;
	if (cs->path.asking) {
		path_found(&cs->path, now);
		return;
	}
	ev.found.link = cs->link;
	memcpy(ev.found.ip, cs->discovery.ip, sizeof ev.found.ip);
	ev.found.port = cs->discovery.port;
	keepalive_start(&cs->keepalive, cs->ping, now);
	call_stream_emit(cs, &ev);
}

static void on_rtcp(struct call_stream *cs, const uint8_t *p, size_t n)
{
	uint8_t plain[UDP_MAX_PACKET];
	struct rd r = rd_of(plain + 4, 4); /* the sender's SSRC, in every packet type */
	const uint8_t *counter;
	uint32_t sender;
	size_t len;

	if (!cs->key)
		return;
	if (rtpsize_open_rtcp(cs->key, p, n, plain, sizeof plain, &len)) {
		cs->stats.malformed++;
		return;
	}
	note_key_used(cs);
	sender = (uint32_t)rd_be(&r, 4);
	counter = rtpsize_counter_of(cs->key, p, n);
	if (sender == cs->ssrc || !call_stream_accept_counter(cs, sender, counter)) {
		cs->stats.replayed++;
		return;
	}
	note_reached(cs, counter);
	call_stream_read_reports(cs, plain, len, counter != NULL);
}

void call_stream_note_overflow(struct call_stream *cs, const uint8_t *p, size_t n)
{
	struct rd r = rd_of(p, n);
	uint32_t count = (uint32_t)rd_be(&r, sizeof count);

	if (!r.ok || !cs->linked)
		return;
	cs->stats.kernel_dropped += count - cs->overflow;
	cs->overflow = count;
}

void call_stream_receive(struct call_stream *cs, uint8_t *p, size_t n)
{
	if (!cs->linked)
		return;
	call_stream_begin_step(cs);
	cs->stats.received++;
	switch (udp_classify(p, n)) {
	case UDP_RTP:
		/* Before the key arrives no packet can be decrypted; such packets do not count as
		 * malformed. */
		if (cs->key)
			on_rtp(cs, p, n);
		break;
	case UDP_RTCP:
		on_rtcp(cs, p, n);
		break;
	case UDP_DISCOVERY:
		on_discovery(cs, p, n);
		break;
	case UDP_KEEPALIVE:
		if (keepalive_input(&cs->keepalive, p, n, env_now(cs->env)))
			note_echo(cs);
		break;
	default:
		cs->stats.malformed++;
		break;
	}
}
