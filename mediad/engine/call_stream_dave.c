/* End-to-end encryption of a call stream: keys lent and returned, what may be sent, decryption
 * outages. */
#include <errno.h>
#include <string.h>

#include "ipc/env.h"
#include "mediad/dave/session.h"
#include "mediad/engine/call_stream_internal.h"
#include "proto/base/time.h"

/* ---- keys returned ---- */

static void return_key(struct dave_key *key, void *arg)
{
	struct call_stream *cs = arg;

	if (key)
		call_stream_emit(
			cs, &(struct ev){.type = EV_DAVE_KEY_GONE, .stream = cs, .dave_key = key});
}

/* Outside of a command the event ring may be full; a key that does not fit waits here. */
static void queue_spent_key(struct dave_key *key, void *arg)
{
	struct call_stream *cs = arg;

	cs->spent[cs->n_spent++] = key;
}

static void return_spent_keys(struct call_stream *cs)
{
	while (cs->n_spent) {
		struct ev ev = {.type = EV_DAVE_KEY_GONE,
				.stream = cs,
				.dave_key = cs->spent[cs->n_spent - 1]};

		if (!cs->emit(&ev, true, cs->arg))
			return;
		cs->n_spent--;
	}
}

/* Keys of an ended session decrypt nothing any more. They are returned one speaker at a time,
 * because an opener may hold more keys than the ring has room for. Returns false when s still holds
 * some. */
static bool clear_stale_keys(struct call_stream *cs, struct slot *s)
{
	if (s->stale && !cs->n_spent) {
		dave_opener_clear(s->opener, queue_spent_key, cs);
		s->stale = false;
		cs->n_stale--;
		return_spent_keys(cs);
	}
	return !s->stale;
}

/* ---- sending ---- */

static void update_gate(struct call_stream *cs)
{
	sender_set_gate(cs->sender, cs->clear || dave_sealer_ready(cs->sealer));
	call_stream_prepare_frame(cs);
}

/* Of a key that is lent again the pair may be one long past. */
static void ask_for_next_pair(struct call_stream *cs)
{
	struct ev ev = {.type = EV_DAVE_NEXT, .stream = cs};

	ev.dave.epoch = cs->epoch;
	ev.dave.generation = dave_sealer_counter(cs->sealer) >> 24;
	call_stream_emit(cs, &ev);
}

bool call_stream_encrypt(struct call_stream *cs, const struct sender_packet *pkt, uint8_t *buf,
			 size_t cap, struct slice *out)
{
	size_t n;
	int err;

	*out = (struct slice){pkt->opus, pkt->len};
	if (pkt->silence || cs->clear)
		return true;
	err = dave_seal(cs->sealer, DAVE_OPUS, pkt->opus, pkt->len, buf, cap, &n);
	if (dave_sealer_wants_next(cs->sealer))
		ask_for_next_pair(cs);
	if (err)
		return false;
	*out = (struct slice){buf, n};
	return true;
}

bool call_stream_encrypt_video(struct call_stream *cs, enum video_codec codec, struct slice frame,
			       uint8_t *buf, size_t cap, size_t *len)
{
	static const enum dave_codec codecs[] = {[VIDEO_NONE] = DAVE_UNKNOWN,
						 [VIDEO_AV1] = DAVE_AV1,
						 [VIDEO_H264] = DAVE_H264,
						 [VIDEO_VP8] = DAVE_VP8};
	int err;

	if (cs->clear) {
		if (frame.n > cap)
			return false;
		memcpy(buf, frame.p, frame.n);
		*len = frame.n;
		return true;
	}
	err = dave_seal(cs->sealer, codecs[codec], frame.p, frame.n, buf, cap, len);
	if (dave_sealer_wants_next(cs->sealer))
		ask_for_next_pair(cs);
	return !err;
}

static void set_sending_key(struct call_stream *cs, struct dave_key *key)
{
	if (!cs->linked) {
		return_key(key, cs);
		return;
	}
	if (key) {
		cs->epoch = dave_key_epoch(key);
		cs->generation = dave_key_generation(key);
		cs->dave_known = true;
	}
	return_key(dave_sealer_set(cs->sealer, key), cs);
	update_gate(cs);
}

/* ---- decryption outages ---- */

enum { SOUND_MS = 1000 }; /* sound of which nothing has come for so long is over */

static void report_outage(struct call_stream *cs, struct slot *s)
{
	struct ev ev = {.type = EV_DAVE_OUTAGE, .stream = cs};

	if (!s->outage.unreported)
		return;
	ev.dave.user = s->user;
	ev.dave.undecryptable = s->outage.active;
	ev.dave.unknown = !s->outage.active && s->outage.unknown;
	ev.dave.video = s->outage.sound_at < s->outage.since;
	ev.dave.at = s->outage.active ? s->outage.since : env_now(cs->env);
	s->outage.unreported = !cs->emit(&ev, true, cs->arg);
}

static void end_outage(struct call_stream *cs, struct slot *s, bool unknown)
{
	if (s->outage.active) {
		s->outage.unknown = unknown;
		s->outage.ns += env_now(cs->env) - s->outage.since;
		s->outage.unreported = true;
	}
	s->outage.active = false;
	s->outage.run = 0;
	s->outage.sound_at = 0;
}

void call_stream_end_outage(struct call_stream *cs, struct slot *s)
{
	end_outage(cs, s, true);
	report_outage(cs, s);
}

void call_stream_note_undecryptable_video(struct call_stream *cs, struct slot *s, uint64_t at)
{
	if (!s->outage.run++)
		s->outage.since = at;
	if (s->outage.run % DAVE_OUTAGE_PACKETS == 0) {
		s->outage.count += !s->outage.active;
		s->outage.active = s->outage.unreported = true;
	}
	report_outage(cs, s);
}

void call_stream_note_undecryptable(struct call_stream *cs, struct slot *s, uint64_t at)
{
	s->outage.sound_at = env_now(cs->env);
	call_stream_note_undecryptable_video(cs, s, at);
}

static void end_by_decryption(struct call_stream *cs, struct slot *s)
{
	if (s->outage.active) /* its end does not tell with which key */
		s->proved = s->proved_video = 0;
	end_outage(cs, s, false);
	report_outage(cs, s);
}

static void report_proof(struct call_stream *cs, struct slot *s, uint64_t epoch, bool video)
{
	struct ev ev = {.type = EV_DAVE_PROOF, .stream = cs};
	uint64_t *proved = video ? &s->proved_video : &s->proved;

	if (epoch && epoch == s->epoch && epoch != *proved) {
		ev.dave.user = s->user;
		ev.dave.epoch = epoch;
		ev.dave.video = video;
		if (cs->emit(&ev, true, cs->arg))
			*proved = epoch;
	}
	if (dave_opener_wants_next(s->opener)) {
		ev.type = EV_DAVE_NEXT;
		ev.dave.user = s->user;
		ev.dave.epoch = s->epoch;
		ev.dave.generation = s->generation + 1;
		call_stream_emit(cs, &ev);
	}
}

void call_stream_note_decrypted(struct call_stream *cs, struct slot *s, uint64_t epoch)
{
	end_by_decryption(cs, s);
	report_proof(cs, s, epoch, false);
}

void call_stream_note_decrypted_video(struct call_stream *cs, struct slot *s, uint64_t epoch)
{
	uint64_t sound_at = s->outage.sound_at;

	if (!sound_at || env_now(cs->env) - sound_at >= SOUND_MS * NS_PER_MS)
		end_by_decryption(cs, s);
	report_proof(cs, s, epoch, true);
}

void call_stream_outage_stats(struct call_stream *cs, const struct slot *s,
			      struct receiver_stats *out)
{
	out->in_outage = s->outage.active;
	out->outages = s->outage.count;
	out->outage_ns = s->outage.ns + (s->outage.active ? env_now(cs->env) - s->outage.since : 0);
}

/* ---- receiving ---- */

bool call_stream_may_decrypt(struct call_stream *cs, struct slot *s)
{
	return cs->dave_known && clear_stale_keys(cs, s);
}

static void add_receiving_key(struct call_stream *cs, struct slot *s, struct dave_key *key)
{
	if (!cs->linked) {
		return_key(key, cs);
		return;
	}
	if (!key) {
		dave_opener_expire(s->opener, env_now(cs->env));
		return;
	}
	if (s->stale) {
		dave_opener_clear(s->opener, return_key, cs);
		s->stale = false;
		cs->n_stale--;
	}
	/* A later pair of generations of an older epoch does not change which epoch is newest. */
	if (dave_key_epoch(key) >= s->epoch) {
		s->epoch = dave_key_epoch(key);
		s->generation = dave_key_generation(key);
	}
	cs->dave_known = true;
	dave_opener_add(s->opener, key, env_now(cs->env), return_key, cs);
	call_stream_retry_pending(cs, s);
}

static void set_clear(struct call_stream *cs, bool send, uint64_t until)
{
	if (!cs->linked)
		return;
	cs->dave_known = true;
	cs->clear = send;
	cs->clear_until = until;
	for (unsigned i = 0; i < cs->n_slots; i++)
		dave_opener_clear_until(cs->slots[i]->opener, until);
	update_gate(cs);
	call_stream_retry_every_slot(cs);
}

void call_stream_run_dave_command(struct call_stream *cs, struct cmd *c)
{
	switch (c->type) {
	case CMD_DAVE_CLEAR:
		set_clear(cs, c->dave.send, c->dave.until);
		break;
	case CMD_DAVE_SEND:
		set_sending_key(cs, c->dave.key);
		break;
	default:
		/* The slot may have been returned for want of room. */
		if (call_stream_has_slot(cs, c->dave.slot))
			add_receiving_key(cs, c->dave.slot, c->dave.key);
		else
			return_key(c->dave.key, cs);
		break;
	}
}

void call_stream_init_slot_dave(struct call_stream *cs, struct slot *s)
{
	dave_opener_clear_until(s->opener, cs->clear_until);
}

/* ---- end of the session ---- */

static void close_slot(struct call_stream *cs, struct slot *s)
{
	end_outage(cs, s, true);
	s->outage.unreported = false; /* the session that would be told has ended */
	dave_opener_clear_until(s->opener, 0);
	if (s->epoch && !s->stale) {
		s->stale = true;
		cs->n_stale++;
	}
	s->epoch = s->proved = s->proved_video = 0;
}

void call_stream_close_dave(struct call_stream *cs)
{
	return_key(dave_sealer_set(cs->sealer, NULL), cs);
	cs->dave_known = cs->clear = false;
	cs->clear_until = 0;
	for (unsigned i = 0; i < cs->n_slots; i++)
		close_slot(cs, cs->slots[i]);
	sender_set_gate(cs->sender, false);
	cs->sweep_at = env_now(cs->env);
}

/* ---- ticks ---- */

/* Speakers whose keys are looked at in one tick. */
enum { SWEEPS = CALL_STREAM_LAZY_MS / SENDER_TICK_MS };

void call_stream_tick_dave(struct call_stream *cs, uint64_t now)
{
	cs->sweep_at = now + SENDER_TICK_MS * NS_PER_MS;
	return_spent_keys(cs);
	for (unsigned i = 0; i < SWEEPS && i < cs->n_slots && !cs->n_spent; i++) {
		struct slot *s = cs->slots[cs->sweep_slot++ % cs->n_slots];

		report_outage(cs, s);
		if (s->stale)
			clear_stale_keys(cs, s);
		else
			dave_opener_sweep(s->opener, now, queue_spent_key, cs);
		return_spent_keys(cs);
	}
}

uint64_t call_stream_next_dave(const struct call_stream *cs)
{
	return cs->n_stale || cs->n_spent ? cs->sweep_at : UINT64_MAX;
}
