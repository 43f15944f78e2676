#include "mediad/engine/line_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/rtp.h"

#define TICK (SENDER_TICK_MS * NS_PER_MS)

/* ---- made and freed by the loop thread ---- */

static void speaker_event(const struct audio_event *ev, void *arg);

int line_alloc(struct line **out, void *owner, uint32_t bitrate)
{
	struct line *l = calloc(1, sizeof *l);
	int err;

	if (!l)
		return ENOMEM;
	l->owner = owner;
	l->fd = -1;
	l->listen_tick = UINT64_MAX;
	l->complexity = ENCODER_COMPLEXITY;
	err = sender_alloc(&l->sender, bitrate, line_sender_event, l);
	if (!err)
		err = dave_sealer_alloc(&l->sealer);
	if (err)
		line_free(l);
	else
		*out = l;
	return err;
}

struct line *line_free(struct line *l)
{
	if (!l)
		return NULL;
	for (unsigned i = 0; i < l->n_slots; i++)
		slot_free(l->slots[i]);
	sender_free(l->sender);
	dave_sealer_free(l->sealer);
	while (l->n_spent)
		dave_key_free(l->spent[--l->n_spent]);
	rtpsize_free(l->key);
	if (l->fd >= 0)
		close(l->fd);
	free(l);
	return NULL;
}

int slot_alloc(struct slot **out, struct line *l, uint64_t user, uint32_t first_capture)
{
	struct slot *s = calloc(1, sizeof *s);
	int err;

	if (!s)
		return ENOMEM;
	s->line = l;
	s->user = user;
	s->consent = true;
	err = audio_speaker_alloc(&s->speaker, first_capture, speaker_event, s);
	if (!err)
		err = dave_opener_alloc(&s->opener);
	if (err)
		slot_free(s);
	else
		*out = s;
	return err;
}

struct slot *slot_free(struct slot *s)
{
	if (s) {
		audio_speaker_free(s->speaker);
		dave_opener_free(s->opener);
		free(s);
	}
	return NULL;
}

/* ---- what the cores tell ---- */

void line_tell(struct line *l, const struct ev *ev)
{
	l->uph(ev, false, l->arg);
}

/* The count of a listen. There are as many places as listens, and those that ended give theirs
 * back. */
static uint32_t *untold_of(struct slot *s, uint32_t listen)
{
	unsigned i = 0, spare = 0;

	for (; i < AUDIO_LISTENS && s->dropped[i].listen != listen; i++)
		if (!s->dropped[i].n)
			spare = i;
	if (i == AUDIO_LISTENS) {
		i = spare;
		s->dropped[i].listen = listen;
		s->dropped[i].n = 0;
	}
	return &s->dropped[i].n;
}

static void speaker_event(const struct audio_event *e, void *arg)
{
	struct slot *s = arg;
	struct line *l = s->line;
	struct ev ev = {.line = l};
	uint32_t *untold;

	ev.heard.user = s->user;
	ev.heard.at = e->at;
	ev.heard.listen = e->listen;
	ev.heard.capture = e->capture;
	switch (e->type) {
	case AUDIO_SPEAKING:
		ev.type = EV_SPEAKING;
		ev.heard.on = e->on;
		line_tell(l, &ev);
		return;
	case AUDIO_HEARD_END:
		ev.type = EV_HEARD_END;
		ev.heard.reason = e->reason;
		line_tell(l, &ev);
		return;
	default:
		break;
	}
	ev.type = EV_HEARD;
	ev.heard.seq = e->seq;
	ev.heard.rtp = e->rtp;
	ev.heard.flags = e->flags;
	ev.heard.level = e->level;
	untold = untold_of(s, e->listen);
	ev.heard.dropped = *untold;
	ev.heard.n = (uint16_t)(e->samples < ENTRY_PCM ? e->samples : ENTRY_PCM);
	memcpy(ev.heard.pcm, e->pcm, ev.heard.n * sizeof ev.heard.pcm[0]);
	*untold = l->uph(&ev, true, l->arg) ? 0 : *untold + 1;
}

/* ---- speakers ---- */

static unsigned bucket_of(uint32_t ssrc)
{
	return (ssrc * UINT32_C(2654435761)) >> 22 & (LINE_BUCKETS - 1);
}

struct slot *line_slot(const struct line *l, uint32_t ssrc)
{
	for (unsigned b = bucket_of(ssrc); l->buckets[b]; b = (b + 1) & (LINE_BUCKETS - 1))
		if (l->slots[l->buckets[b] - 1]->ssrc == ssrc)
			return l->slots[l->buckets[b] - 1];
	return NULL;
}

static void rehash(struct line *l)
{
	memset(l->buckets, 0, sizeof l->buckets);
	for (unsigned i = 0; i < l->n_slots; i++) {
		unsigned b = bucket_of(l->slots[i]->ssrc);

		if (!l->slots[i]->ssrc)
			continue;
		while (l->buckets[b])
			b = (b + 1) & (LINE_BUCKETS - 1);
		l->buckets[b] = (uint16_t)(i + 1);
	}
}

/* What waits was sealed by whoever had the SSRC. */
static void unmap(struct line *l, struct slot *s)
{
	if (!s->ssrc)
		return;
	line_drop_held(l, s->ssrc);
	line_heard_again(l, s);
	s->ssrc = 0;
}

static void map(struct line *l, struct slot *s, uint32_t ssrc)
{
	struct slot *old = ssrc ? line_slot(l, ssrc) : NULL;

	if (old == s)
		return;
	if (old)
		unmap(l, old);
	unmap(l, s);
	s->ssrc = ssrc;
	memset(&s->replay, 0, sizeof s->replay);
	memset(&s->source, 0, sizeof s->source);
	memset(&s->reports, 0, sizeof s->reports);
	rehash(l);
	if (!ssrc)
		return;
	line_reporter_named(l, s);
	line_unhold(l, s);
}

static void give_back_slot(struct line *l, struct slot *s)
{
	line_tell(l, &(struct ev){.type = EV_SLOT_GONE, .line = l, .slot = s});
}

static void slot_add(struct line *l, struct slot *s)
{
	if (l->n_slots == LINE_SLOTS) {
		give_back_slot(l, s);
		return;
	}
	l->slots[l->n_slots++] = s;
	line_dave_slot(l, s);
}

static void slot_remove(struct line *l, struct slot *s, enum media_reason reason)
{
	for (unsigned i = 0; i < l->n_slots; i++) {
		if (l->slots[i] != s)
			continue;
		audio_speaker_end(s->speaker, reason);
		if (s->ssrc)
			line_drop_held(l, s->ssrc);
		l->n_stale -= s->stale;
		l->slots[i] = l->slots[--l->n_slots];
		rehash(l);
		give_back_slot(l, s);
		return;
	}
}

static void end_captures(struct line *l, enum media_reason reason)
{
	for (unsigned i = 0; i < l->n_slots; i++)
		audio_speaker_end(l->slots[i]->speaker, reason);
}

bool line_has_slot(const struct line *l, const struct slot *s)
{
	for (unsigned i = 0; i < l->n_slots; i++)
		if (l->slots[i] == s)
			return true;
	return false;
}

static void give_back_decoder(struct line *l, struct audio_decoder *d)
{
	if (d)
		line_tell(l, &(struct ev){.type = EV_DECODER_GONE, .line = l, .decoder = d});
}

static void consent(struct line *l, struct slot *s, bool yes)
{
	audio_speaker_consent(s->speaker, yes);
	s->consent = yes;
	if (yes)
		return;
	if (s->ssrc)
		line_drop_held(l, s->ssrc);
	line_heard_again(l, s);
}

static void slot_command(struct line *l, struct cmd *c)
{
	struct slot *s = c->slot.slot;
	struct audio_decoder *d = c->slot.decoder;

	/* A slot that found no room went back; what was sent for it meanwhile goes nowhere. */
	if (c->type != CMD_SLOT_ADD && !line_has_slot(l, s)) {
		if (c->type == CMD_LISTEN)
			give_back_decoder(l, d);
		return;
	}
	switch (c->type) {
	case CMD_SLOT_ADD:
		slot_add(l, s);
		break;
	case CMD_SLOT_MAP:
		map(l, s, c->slot.ssrc);
		break;
	case CMD_SLOT_REMOVE:
		slot_remove(l, s, c->slot.reason);
		break;
	case CMD_CONSENT:
		consent(l, s, c->slot.yes);
		break;
	case CMD_LISTEN:
		audio_speaker_listen(s->speaker, c->slot.listen, c->slot.rate, c->slot.silence_ms,
				     &d, env_now(l->env));
		give_back_decoder(l, d);
		break;
	default:
		*untold_of(s, c->slot.listen) = 0;
		give_back_decoder(
			l, audio_speaker_unlisten(s->speaker, c->slot.listen, c->slot.reason));
		break;
	}
}

/* ---- the session ---- */

/* What of a datagram does not hang on a codec: sealed packets are so far as their headers. */
static size_t firm(const uint8_t *p, size_t n)
{
	switch (udp_classify(p, n)) {
	case UDP_RTP:
		return RTP_HEADER;
	case UDP_RTCP:
		return RTCP_CLEAR;
	default:
		return n;
	}
}

bool line_send(struct line *l, const uint8_t *p, size_t n)
{
	struct iovec iov = {(void *)p, n};
	struct mmsghdr msg = {.msg_hdr = {.msg_iov = &iov, .msg_iovlen = 1}};
	bool took = false;

	/* Each call has a socket of its own, so there is never more than one datagram for it. */
	if (!env_replaying(l->env))
		took = sendmmsg(l->fd, &msg, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 &&
		       msg.msg_len == n;
	/* Not how many bytes: that differs between CPUs. */
	if (!env_answer(l->env, took))
		return false;
	env_output_sound(l->env, ENV_OUT_DATAGRAM, l->index, p, n, firm(p, n));
	return true;
}

static void drop_key(struct line *l)
{
	if (l->key)
		line_tell(l, &(struct ev){.type = EV_KEY_GONE, .line = l, .key = l->key});
	l->key = NULL;
}

static void unlink_session(struct line *l, enum media_reason reason)
{
	if (!l->linked)
		return;
	line_hush(l);
	end_captures(l, reason);
	line_drop_held(l, 0);
	line_dave_close(l);
	for (unsigned i = 0; i < l->n_slots; i++)
		l->slots[i]->ssrc = 0;
	rehash(l);
	drop_key(l);
	line_tell(l, &(struct ev){.type = EV_LINK_GONE, .line = l, .fd = l->fd});
	l->fd = -1;
	l->linked = l->keyed = false;
	l->unknown_at = 0;
	memset(l->unknown, 0, sizeof l->unknown);
	memset(&l->discovery, 0, sizeof l->discovery);
	memset(&l->keepalive, 0, sizeof l->keepalive);
	memset(&l->report, 0, sizeof l->report);
	l->listen_tick = UINT64_MAX;
}

static void link_session(struct line *l, const struct cmd *c)
{
	uint64_t now = env_now(l->env);

	unlink_session(l, MEDIA_REASON_CONNECTION_LOST);
	l->fd = c->link.fd;
	l->link = c->link.link;
	l->ssrc = c->link.ssrc;
	l->seq = c->link.seq;
	l->ts = c->link.ts;
	l->ts_at = 0;
	l->linked = true;
	l->udp_told = false;
	l->listen_tick = now + TICK;
	l->stats_at = now + LINE_STATS_MS * NS_PER_MS;
	report_start(&l->report, now);
	sender_forget_loss(l->sender);
	discovery_start(&l->discovery, l->ssrc, now);
	line_tick(l);
}

static void set_key(struct line *l, struct rtpsize *key)
{
	drop_key(l);
	l->key = key;
	line_forget_reports(l); /* under another key counters begin anew */
	if (!l->linked) {
		drop_key(l);
		return;
	}
	l->keyed = true;
	line_speak(l);
}

static void deafen(struct line *l)
{
	end_captures(l, MEDIA_REASON_ASKED);
	for (unsigned i = 0; i < l->n_slots; i++)
		line_heard_again(l, l->slots[i]);
}

void line_ease(struct line *l, unsigned eased)
{
	l->eased = eased;
	sender_set_complexity(l->sender, l->complexity > eased ? l->complexity - eased : 0);
	sender_set_plain(l->sender, eased > l->complexity);
}

static void set(struct line *l, const struct cmd *c)
{
	sender_set_bitrate(l->sender, c->set.bitrate);
	l->complexity = c->set.complexity ? c->set.complexity : ENCODER_COMPLEXITY;
	line_ease(l, l->eased);
	l->hold = c->set.hold;
	if (!l->hold || (c->set.deaf && !l->deaf))
		line_drop_held(l, 0);
	if (c->set.deaf && !l->deaf)
		deafen(l);
	l->deaf = c->set.deaf;
	l->mute = c->set.mute;
	if (l->mute && sender_next(l->sender) != UINT64_MAX) {
		line_hush(l);
		line_tell(l, &(struct ev){.type = EV_WANT_SPEAKING, .line = l, .on = false});
	}
	line_speak(l); /* unless muted */
}

static void tell_stats(struct line *l, uint64_t now)
{
	struct ev ev = {.type = EV_CALL_STATS, .line = l};

	if (now < l->stats_at)
		return;
	l->stats_at = now + LINE_STATS_MS * NS_PER_MS;
	sender_stats(l->sender, &l->stats.send);
	l->stats.seen.reports = l->report.reports;
	l->stats.seen.lost = l->report.lost;
	l->stats.seen.fraction = l->report.fraction;
	l->stats.seen.rtt_us = l->report.rtt_us;
	ev.call = l->stats;
	line_tell(l, &ev);
	for (unsigned i = 0; i < l->n_slots; i++) {
		struct slot *s = l->slots[i];

		ev = (struct ev){.type = EV_USER_STATS, .line = l};
		ev.user.user = s->user;
		ev.user.undecryptable = s->undecryptable;
		ev.user.not_sealed = s->not_sealed;
		line_spell_stats(l, s, &ev.user);
		audio_speaker_stats(s->speaker, &ev.user.audio);
		l->uph(&ev, true, l->arg);
	}
}

/* ---- steps ---- */

void line_start(struct line *l, struct env *env, unsigned index, uint64_t phase, line_up_h *uph,
		void *arg)
{
	l->env = env;
	l->index = index;
	l->phase = phase;
	l->uph = uph;
	l->arg = arg;
}

void line_command(struct line *l, struct cmd *c)
{
	switch (c->type) {
	case CMD_LINK:
		link_session(l, c);
		break;
	case CMD_UNLINK:
		unlink_session(l, MEDIA_REASON_CONNECTION_LOST);
		break;
	case CMD_KEY:
		set_key(l, c->key);
		break;
	case CMD_SPEAKING_SENT:
		sender_speaking_sent(l->sender);
		line_prepare(l);
		break;
	case CMD_SET:
		set(l, c);
		break;
	case CMD_SLOT_ADD:
	case CMD_SLOT_MAP:
	case CMD_SLOT_REMOVE:
	case CMD_CONSENT:
	case CMD_LISTEN:
	case CMD_UNLISTEN:
		slot_command(l, c);
		break;
	case CMD_DAVE_CLEAR:
	case CMD_DAVE_SEND:
	case CMD_DAVE_OPEN:
		line_dave_command(l, c);
		break;
	case CMD_LANE_ADD:
	case CMD_LANE_PCM:
	case CMD_LANE_END:
	case CMD_LANE_DO:
		line_lane_command(l, c);
		break;
	default:
		break;
	}
}

void line_stop(struct line *l)
{
	struct lane *lane;

	unlink_session(l, MEDIA_REASON_CALL_ENDED);
	end_captures(l, MEDIA_REASON_CALL_ENDED);
	while ((lane = sender_take(l->sender)))
		line_lane_lost(l, lane);
}

void line_tick(struct line *l)
{
	uint64_t now = env_now(l->env);
	uint8_t ask[DISCOVERY_SIZE], ping[KEEPALIVE_SIZE];

	if (!l->linked) {
		line_dave_tick(l, now);
		return;
	}
	if (l->key && now >= sender_next(l->sender))
		line_send_due(l, now);
	if (discovery_tick(&l->discovery, now, ask))
		line_send(l, ask, sizeof ask);
	if (l->discovery.state == DISCOVERY_FAILED && !l->udp_told) {
		struct ev ev = {.type = EV_UDP_FAILED, .line = l};

		l->udp_told = true;
		ev.found.link = l->link;
		line_tell(l, &ev);
	}
	if (keepalive_tick(&l->keepalive, now, ping))
		line_send(l, ping, sizeof ping);
	/* Woken for the sender, a little early for the speakers: one wake does both. */
	if (now + NS_PER_MS >= l->listen_tick) {
		for (unsigned i = 0; i < l->n_slots; i++)
			if (audio_speaker_busy(l->slots[i]->speaker))
				audio_speaker_tick(l->slots[i]->speaker, now);
		l->listen_tick =
			sender_next(l->sender) != UINT64_MAX ? sender_next(l->sender) : now + TICK;
		line_catch_up(l);
		line_expire_held(l, now);
		line_dave_tick(l, now);
		line_report(l, now);
		line_tell_progress(l, now);
		tell_stats(l, now);
	}
}

uint64_t line_next(const struct line *l)
{
	uint64_t next = UINT64_MAX, at[4];

	if (!l->linked)
		return line_dave_next(l);
	at[0] = l->key ? sender_next(l->sender) : UINT64_MAX;
	at[1] = discovery_next(&l->discovery);
	at[2] = keepalive_next(&l->keepalive);
	at[3] = l->listen_tick;
	for (unsigned i = 0; i < 4; i++)
		if (at[i] < next)
			next = at[i];
	return next;
}
