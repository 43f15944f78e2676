#include "mediad/engine/call_stream_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/env.h"
#include "mediad/engine/ssrc_hash.h"
#include "mediad/engine/video_sender.h"
#include "proto/rtp.h"
#include "proto/base/time.h"
#include "proto/base/touch.h"

#define TICK (SENDER_TICK_MS * NS_PER_MS)

/* ---- loop thread: made and freed ---- */

int call_stream_alloc(struct call_stream **out, void *owner, uint32_t bitrate)
{
	struct call_stream *cs = calloc(1, sizeof *cs);
	int err;

	if (!cs)
		return ENOMEM;
	ssrc_hash_draw();
	touch_pages(cs, sizeof *cs);
	cs->owner = owner;
	cs->fd = -1;
	cs->speaker_tick_at = UINT64_MAX;
	cs->complexity = ENCODER_COMPLEXITY;
	cs->left = calloc(CALL_STREAM_LEFT, sizeof *cs->left);
	if (cs->left)
		touch_pages(cs->left, CALL_STREAM_LEFT * sizeof *cs->left);
	err = cs->left ? sender_alloc(&cs->sender, bitrate, call_stream_on_sender_event, cs)
		       : ENOMEM;
	if (!err)
		err = dave_sealer_alloc(&cs->sealer);
	if (err)
		call_stream_free(cs);
	else
		*out = cs;
	return err;
}

struct call_stream *call_stream_free(struct call_stream *cs)
{
	if (!cs)
		return NULL;
	for (unsigned i = 0; i < cs->n_slots; i++)
		slot_free(cs->slots[i]);
	sender_free(cs->sender);
	dave_sealer_free(cs->sealer);
	while (cs->n_spent)
		dave_key_free(cs->spent[--cs->n_spent]);
	rtpsize_free(cs->key);
	while (cs->n_owed)
		ev_dispose(&cs->owed[--cs->n_owed]);
	if (cs->fd >= 0)
		close(cs->fd);
	free(cs->left);
	free(cs->removal);
	free(cs);
	return NULL;
}

int slot_alloc(struct slot **out, struct call_stream *cs, uint64_t user, bool consent,
	       uint32_t first_capture)
{
	struct slot *s = calloc(1, sizeof *s);
	int err;

	if (!s)
		return ENOMEM;
	touch_pages(s, sizeof *s);
	s->stream = cs;
	s->user = user;
	s->consent = consent;
	err = audio_speaker_alloc(&s->speaker, first_capture, call_stream_on_speaker_event, s);
	if (!err)
		err = dave_opener_alloc(&s->opener);
	if (err) {
		slot_free(s);
		return err;
	}
	audio_speaker_limit_step(s->speaker, &cs->decode_left);
	audio_speaker_consent(s->speaker, consent);
	*out = s;
	return 0;
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

/* ---- events and datagrams ---- */

/* Returns the first deadline of the stream's grid after `at`. */
static uint64_t deadline_after(const struct call_stream *cs, uint64_t at)
{
	uint64_t deadline = at / TICK * TICK + cs->phase;

	return deadline > at ? deadline : deadline + TICK;
}

/* Returns false when some still wait. */
static bool emit_owed(struct call_stream *cs)
{
	unsigned n = 0;

	while (n < cs->n_owed && cs->emit(&cs->owed[n], false, cs->arg))
		n++;
	cs->n_owed -= n;
	memmove(cs->owed, cs->owed + n, cs->n_owed * sizeof cs->owed[0]);
	if (cs->n_owed)
		cs->owed_at = deadline_after(cs, env_now(cs->env));
	return !cs->n_owed;
}

/* The sender repeats its request for op 5 until it is granted; only the newest one counts. */
static bool is_owed_already(struct call_stream *cs, const struct ev *ev)
{
	unsigned i = 0;

	while (i < cs->n_owed && (ev->type != EV_WANT_SPEAKING || cs->owed[i].type != ev->type))
		i++;
	if (i < cs->n_owed)
		cs->owed[i] = *ev;
	return i < cs->n_owed;
}

void call_stream_emit(struct call_stream *cs, const struct ev *ev)
{
	if ((emit_owed(cs) && cs->emit(ev, false, cs->arg)) || is_owed_already(cs, ev))
		return;
	if (cs->n_owed == CALL_STREAM_OWED) {
		cs->stats.lost_events++;
		return;
	}
	cs->owed[cs->n_owed++] = *ev;
	cs->owed_at = deadline_after(cs, env_now(cs->env));
}

/* ---- deadlines ---- */

/* True if something waits for each tick. */
static bool needs_every_tick(const struct call_stream *cs)
{
	return !sender_is_idle(cs->sender) || cs->pending.n || cs->n_spent || cs->n_stale ||
	       cs->report.from;
}

/* Returns the deadline of the next tick of the speakers. A packet that comes in time moves theirs,
 * so that a steady speaker costs a tick only now and then. */
static uint64_t next_speaker_tick(const struct call_stream *cs, uint64_t now)
{
	uint64_t at = now + CALL_STREAM_LAZY_MS * NS_PER_MS;

	if (needs_every_tick(cs))
		return deadline_after(cs, now);
	at = cs->stats_at < at ? cs->stats_at : at;
	at = cs->key && !cs->report.off && cs->report.next < at ? cs->report.next : at;
	for (unsigned i = 0; i < cs->n_slots; i++) {
		uint64_t due = audio_speaker_due(cs->slots[i]->speaker);

		if (cs->slots[i]->outage.unreported)
			due = 0;
		at = due < at ? due : at;
	}
	return deadline_after(cs, at > now ? at - 1 : now);
}

void call_stream_hasten_tick(struct call_stream *cs, uint64_t due)
{
	uint64_t now = env_now(cs->env), next;

	if (!cs->linked || due >= cs->speaker_tick_at)
		return;
	next = deadline_after(cs, due > now ? due - 1 : now);
	if (next < cs->speaker_tick_at)
		cs->speaker_tick_at = next;
}

/* ---- the session ---- */

/* Returns the number of leading bytes that do not depend on a codec: of an encrypted packet, its
 * header. */
static size_t codec_independent_size(const uint8_t *p, size_t n)
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

/* An error of an earlier datagram, which anybody can cause by a forged ICMP message, is reported by
 * the next call and cleared by it; that call sends nothing. */
static bool send_whole(int fd, const uint8_t *p, size_t n)
{
	ssize_t sent = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent < 0 && errno != EAGAIN)
		sent = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	return sent == (ssize_t)n;
}

bool call_stream_send_datagram(struct call_stream *cs, const uint8_t *p, size_t n)
{
	bool took = false;

	/* Each call has its own connected socket: there is never more than one datagram for it, and
	 * the sandbox refuses addresses. */
	if (!env_replaying(cs->env))
		took = send_whole(cs->fd, p, n);
	/* The number of bytes is not recorded, because codec output differs between CPUs. */
	took = env_answer(cs->env, took);
	path_sent(&cs->path, env_now(cs->env), took);
	if (!took)
		return false;
	env_output_sound(cs->env, ENV_OUT_DATAGRAM, cs->index, p, n, codec_independent_size(p, n));
	return true;
}

static void return_key(struct call_stream *cs)
{
	if (!cs->key)
		return;
	cs->next_counter = rtpsize_next_counter(cs->key);
	call_stream_emit(cs, &(struct ev){.type = EV_KEY_GONE, .stream = cs, .key = cs->key});
	cs->key = NULL;
}

static void end_session(struct call_stream *cs, enum media_reason reason)
{
	if (!cs->linked)
		return;
	call_stream_halt_sender(cs);
	call_stream_end_captures(cs, reason);
	call_stream_drop_pending(cs, 0);
	call_stream_close_dave(cs);
	call_stream_unmap_all(cs);
	return_key(cs);
	call_stream_emit(cs, &(struct ev){.type = EV_LINK_GONE, .stream = cs, .fd = cs->fd});
	cs->fd = -1;
	cs->linked = cs->keyed = false;
	memset(cs->unmapped, 0, sizeof cs->unmapped);
	memset(cs->asked, 0, sizeof cs->asked);
	memset(&cs->discovery, 0, sizeof cs->discovery);
	memset(&cs->keepalive, 0, sizeof cs->keepalive);
	memset(&cs->path, 0, sizeof cs->path);
	memset(&cs->report, 0, sizeof cs->report);
	cs->speaker_tick_at = UINT64_MAX;
	cs->next_slot = 0;
	cs->has_more_to_decode = false;
}

static void begin_session(struct call_stream *cs, const struct cmd *c)
{
	uint64_t now = env_now(cs->env);

	end_session(cs, MEDIA_REASON_CONNECTION_LOST);
	cs->fd = c->link.fd;
	cs->overflow = 0;
	cs->link = c->link.link;
	cs->ssrc = c->link.ssrc;
	cs->seq = c->link.seq;
	cs->ping = c->link.ping;
	cs->ts = c->link.ts;
	cs->ts_at = 0;
	cs->linked = true;
	cs->udp_told = false;
	cs->speaker_tick_at = deadline_after(cs, now);
	cs->stats_at = now + CALL_STREAM_STATS_MS * NS_PER_MS;
	path_start(&cs->path, now);
	report_start(&cs->report, now);
	sender_forget_loss(cs->sender);
	discovery_start(&cs->discovery, cs->ssrc, now);
	call_stream_send(cs);
	call_stream_work(cs);
}

static void set_key(struct call_stream *cs, struct rtpsize *key, uint32_t number)
{
	return_key(cs);
	cs->key = key;
	cs->key_number = number;
	cs->key_used = false;
	rtpsize_set_counter(key, cs->next_counter);
	call_stream_forget_counters(cs); /* those of others restart under another key */
	call_stream_forget_arrivals(cs);
	if (!cs->linked) {
		return_key(cs);
		return;
	}
	cs->keyed = true;
	call_stream_start_sender(cs);
}

static void end_hearing(struct call_stream *cs)
{
	call_stream_end_captures(cs, MEDIA_REASON_ASKED);
	for (unsigned i = 0; i < cs->n_slots; i++)
		call_stream_end_outage(cs, cs->slots[i]);
}

void call_stream_set_degradation(struct call_stream *cs, unsigned degraded)
{
	cs->degraded = degraded;
	sender_set_complexity(cs->sender,
			      cs->complexity > degraded ? cs->complexity - degraded : 0);
	sender_forbid_fec(cs->sender, degraded > cs->complexity);
}

static void apply_settings(struct call_stream *cs, const struct cmd *c)
{
	sender_set_bitrate(cs->sender, c->set.bitrate);
	cs->complexity = c->set.complexity ? c->set.complexity : ENCODER_COMPLEXITY;
	call_stream_set_degradation(cs, cs->degraded);
	cs->keep_unmapped = c->set.keep_unmapped;
	if (!cs->keep_unmapped || (c->set.deaf && !cs->deaf))
		call_stream_drop_pending(cs, 0);
	if (c->set.deaf && !cs->deaf)
		end_hearing(cs);
	cs->deaf = c->set.deaf;
	cs->mute = c->set.mute;
	if (cs->mute && sender_next(cs->sender) != UINT64_MAX) {
		call_stream_halt_sender(cs);
		call_stream_emit(cs,
				 &(struct ev){.type = EV_WANT_SPEAKING, .stream = cs, .on = false});
	}
	call_stream_start_sender(cs); /* does nothing while muted */
}

static void report_stats(struct call_stream *cs, uint64_t now)
{
	struct ev ev = {.type = EV_CALL_STATS, .stream = cs};

	if (now < cs->stats_at)
		return;
	cs->stats_at = now + CALL_STREAM_STATS_MS * NS_PER_MS;
	sender_stats(cs->sender, &cs->stats.send);
	cs->stats.seen.reports = cs->report.reports;
	cs->stats.seen.lost = cs->report.lost;
	cs->stats.seen.fraction = cs->report.fraction;
	cs->stats.seen.rtt_us = cs->report.rtt_us;
	ev.call = cs->stats;
	cs->emit(&ev, true, cs->arg);
	for (unsigned i = 0; i < cs->n_slots; i++) {
		struct slot *s = cs->slots[i];

		ev = (struct ev){.type = EV_USER_STATS, .stream = cs};
		ev.user.user = s->user;
		ev.user.undecryptable = s->undecryptable;
		ev.user.not_sealed = s->not_sealed;
		call_stream_outage_stats(cs, s, &ev.user);
		audio_speaker_stats(s->speaker, &ev.user.audio);
		cs->emit(&ev, true, cs->arg);
	}
}

/* ---- steps ---- */

static bool may_ask(const struct call_stream *cs)
{
	return cs->keyed && !cs->path.asking && !cs->udp_told;
}

/* To be sure of an address from which nothing seems wrong. */
static void ask_address(struct call_stream *cs, uint64_t now)
{
	if (!may_ask(cs) || cs->discovery.state != DISCOVERY_DONE)
		return;
	path_doubt(&cs->path, now);
	discovery_repeat(&cs->discovery, now);
}

void call_stream_attach(struct call_stream *cs, struct env *env, unsigned index, uint64_t phase,
			call_stream_emit_h *emit, call_stream_room_h *room, void *arg)
{
	cs->env = env;
	cs->index = index;
	cs->phase = phase;
	cs->emit = emit;
	cs->room = room;
	cs->arg = arg;
}

void call_stream_begin_step(struct call_stream *cs)
{
	cs->decode_left = (int64_t)CALL_STREAM_STEP_MS * (RTP_CLOCK / 1000);
}

void call_stream_run_command(struct call_stream *cs, struct cmd *c)
{
	call_stream_begin_step(cs);
	call_stream_pass_deadlines(cs, env_now(cs->env));
	switch (c->type) {
	case CMD_LINK:
		begin_session(cs, c);
		break;
	case CMD_UNLINK:
		end_session(cs, MEDIA_REASON_CONNECTION_LOST);
		break;
	case CMD_KEY:
		set_key(cs, c->key, c->key_number);
		break;
	case CMD_ASK_ADDRESS:
		ask_address(cs, env_now(cs->env));
		break;
	case CMD_SPEAKING_SENT:
		sender_speaking_sent(cs->sender);
		call_stream_prepare_frame(cs);
		break;
	case CMD_SET:
		apply_settings(cs, c);
		break;
	case CMD_SLOT_ADD:
	case CMD_SLOT_MAP:
	case CMD_SLOT_REMOVE:
	case CMD_CONSENT:
	case CMD_LISTEN:
	case CMD_UNLISTEN:
		call_stream_run_slot_command(cs, c);
		break;
	case CMD_DAVE_CLEAR:
	case CMD_DAVE_SEND:
	case CMD_DAVE_OPEN:
		call_stream_run_dave_command(cs, c);
		break;
	case CMD_LANE_ADD:
	case CMD_LANE_PCM:
	case CMD_LANE_END:
	case CMD_LANE_CONTROL:
		call_stream_run_lane_command(cs, c);
		break;
	case CMD_MUSIC_LEND:
	case CMD_MUSIC_ADD:
	case CMD_MUSIC_CONTROL:
	case CMD_MUSIC_SET:
		call_stream_run_music_command(cs, c);
		break;
	default:
		break;
	}
	call_stream_hasten_tick(cs, 0);
}

void call_stream_stop(struct call_stream *cs)
{
	struct lane *lane;

	end_session(cs, MEDIA_REASON_CALL_ENDED);
	call_stream_end_captures(cs, MEDIA_REASON_CALL_ENDED);
	while ((lane = sender_take(cs->sender)))
		call_stream_return_lane(cs, lane);
	call_stream_return_music(cs);
}

void call_stream_report_udp(struct call_stream *cs, enum path_loss why)
{
	struct ev ev = {.type = EV_UDP_FAILED, .stream = cs};

	if (cs->udp_told)
		return;
	cs->udp_told = true;
	ev.found.link = cs->link;
	ev.found.why = why;
	call_stream_emit(cs, &ev);
}

/* A path that has fallen silent is tested by another IP discovery, which the server answers as long
 * as datagrams go both ways. */
static void examine_path(struct call_stream *cs, uint64_t now)
{
	bool heard = cs->n_slots && !cs->deaf;
	bool shows = cs->video && video_sender_state(cs->video).sending; /* viewers report it */

	if (may_ask(cs) && path_is_silent(&cs->path, now)) {
		path_ask(&cs->path);
		discovery_repeat(&cs->discovery, now);
	} else if ((heard || shows) && path_is_doubtful(&cs->path, now)) {
		ask_address(cs, now);
	}
}

/* No answer came. Servers need not answer a second discovery. */
static void on_no_discovery(struct call_stream *cs, uint64_t now)
{
	if (path_is_back(&cs->path, now))
		cs->discovery.state = DISCOVERY_DONE;
	else
		call_stream_report_udp(cs, PATH_SILENT);
}

/* Under another address (a router forgot us) the server would send what it has for us to the old
 * one, so a new session is needed. */
static void on_moved(struct call_stream *cs, uint64_t now)
{
	cs->discovery.state = DISCOVERY_DONE;
	if (path_is_moved(&cs->path, now))
		call_stream_report_udp(cs, PATH_MOVED);
}

void call_stream_send(struct call_stream *cs)
{
	uint64_t now = env_now(cs->env);
	uint8_t ask[DISCOVERY_SIZE], ping[KEEPALIVE_SIZE];

	emit_owed(cs);
	cs->work_due = true;
	if (!cs->linked)
		return;
	call_stream_pass_deadlines(cs, now);
	if (cs->key && now >= sender_next(cs->sender))
		call_stream_send_due(cs, now);
	if (discovery_tick(&cs->discovery, now, ask))
		call_stream_send_datagram(cs, ask, sizeof ask);
	if (cs->discovery.state == DISCOVERY_FAILED)
		on_no_discovery(cs, now);
	else if (cs->discovery.state == DISCOVERY_MOVED)
		on_moved(cs, now);
	if (keepalive_tick(&cs->keepalive, now, ping))
		call_stream_send_datagram(cs, ping, sizeof ping);
}

/* Serves the speakers in turn. Returns false when the step may decode no more before all had their
 * turn; then the next step goes on with the same speaker. */
static bool serve_speakers(struct call_stream *cs, uint64_t now)
{
	for (; cs->next_slot < cs->n_slots; cs->next_slot++) {
		const struct slot *s = cs->slots[cs->next_slot];

		/* Pending packets are delivered with the times of their arrival. Until all of them
		 * are, the newest one says nothing about a silence now. */
		if (s->draining && s->n_pending)
			continue;
		if (audio_speaker_due(s->speaker) <= now)
			audio_speaker_tick(s->speaker, now);
		if (cs->decode_left <= 0)
			return false;
	}
	cs->next_slot = 0;
	return true;
}

/* While the loop thread is behind the speakers' tick waits, because it ends speech and captures. */
static void tick_speakers(struct call_stream *cs, uint64_t now)
{
	cs->has_more_to_decode = false;
	if (!cs->room(cs->arg)) {
		cs->speaker_tick_at = deadline_after(cs, now);
		return;
	}
	cs->has_more_to_decode = !serve_speakers(cs, now);
	call_stream_retry_all_pending(cs);
	call_stream_expire_pending(cs, now);
	call_stream_tick_dave(cs, now);
	call_stream_send_report(cs, now);
	call_stream_report_progress(cs, now);
	call_stream_report_music(cs, now);
	report_stats(cs, now);
	examine_path(cs, now);
	cs->speaker_tick_at =
		cs->has_more_to_decode ? deadline_after(cs, now) : next_speaker_tick(cs, now);
}

void call_stream_stalled(struct call_stream *cs)
{
	for (unsigned i = 0; i < cs->n_slots; i++)
		audio_speaker_stalled(cs->slots[i]->speaker, env_now(cs->env));
}

bool call_stream_work(struct call_stream *cs)
{
	uint64_t now = env_now(cs->env);

	call_stream_begin_step(cs);
	cs->work_due = false;
	if (!cs->linked) {
		call_stream_tick_dave(cs, now);
		return false;
	}
	call_stream_prepare_frame(cs);
	/* When the thread wakes for the sender a little before the speakers are due, one wake
	 * serves both. */
	if (cs->has_more_to_decode || now + NS_PER_MS >= cs->speaker_tick_at)
		tick_speakers(cs, now);
	return cs->has_more_to_decode;
}

uint64_t call_stream_next(const struct call_stream *cs)
{
	uint64_t next = cs->n_owed ? cs->owed_at : UINT64_MAX, at[4];

	if (!cs->linked && !cs->work_due && call_stream_next_dave(cs) < next)
		return call_stream_next_dave(cs);
	if (!cs->linked)
		return next;
	at[0] = cs->key && !sender_is_idle(cs->sender) ? sender_next(cs->sender) : UINT64_MAX;
	at[1] = discovery_next(&cs->discovery);
	at[2] = keepalive_next(&cs->keepalive);
	at[3] = cs->work_due ? UINT64_MAX : cs->speaker_tick_at;
	for (unsigned i = 0; i < 4; i++)
		if (at[i] < next)
			next = at[i];
	return next;
}
