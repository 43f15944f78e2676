/* The slots of a call stream: one per speaker with an SSRC, their commands and their events. */
#include <string.h>

#include "ipc/env.h"
#include "mediad/engine/call_stream_internal.h"
#include "mediad/engine/ssrc_hash.h"

/* Returns the counter of dropped frames of a listen. There are as many counters as listens, and a
 * listen that ended frees its counter. */
static uint32_t *dropped_count(struct slot *s, uint32_t listen)
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

void call_stream_on_speaker_event(const struct audio_event *e, void *arg)
{
	struct slot *s = arg;
	struct call_stream *cs = s->stream;
	struct ev ev = {.stream = cs};
	uint32_t *unreported;

	ev.heard.user = s->user;
	ev.heard.at = e->at;
	ev.heard.listen = e->listen;
	ev.heard.capture = e->capture;
	switch (e->type) {
	case AUDIO_SPEAKING:
		ev.type = EV_SPEAKING;
		ev.heard.on = e->on;
		call_stream_emit(cs, &ev);
		return;
	case AUDIO_HEARD_END:
		ev.type = EV_HEARD_END;
		ev.heard.reason = e->reason;
		call_stream_emit(cs, &ev);
		return;
	default:
		break;
	}
	ev.type = EV_HEARD;
	ev.heard.seq = e->seq;
	ev.heard.rtp = e->rtp;
	ev.heard.flags = e->flags;
	ev.heard.level = e->level;
	unreported = dropped_count(s, e->listen);
	ev.heard.dropped = *unreported;
	ev.heard.n = (uint16_t)(e->samples < ENTRY_PCM ? e->samples : ENTRY_PCM);
	ev.heard.pcm = e->pcm;
	*unreported = cs->emit(&ev, true, cs->arg) ? 0 : *unreported + 1;
}

/* ---- SSRC table ---- */

static unsigned ssrc_bucket(uint32_t ssrc)
{
	return ssrc_hash(ssrc) & (CALL_STREAM_BUCKETS - 1);
}

struct slot *call_stream_find_slot(const struct call_stream *cs, uint32_t ssrc)
{
	for (unsigned b = ssrc_bucket(ssrc); cs->buckets[b];
	     b = (b + 1) & (CALL_STREAM_BUCKETS - 1))
		if (cs->slots[cs->buckets[b] - 1]->ssrc == ssrc)
			return cs->slots[cs->buckets[b] - 1];
	return NULL;
}

static void rebuild_buckets(struct call_stream *cs)
{
	memset(cs->buckets, 0, sizeof cs->buckets);
	for (unsigned i = 0; i < cs->n_slots; i++) {
		unsigned b = ssrc_bucket(cs->slots[i]->ssrc);

		if (!cs->slots[i]->ssrc)
			continue;
		while (cs->buckets[b])
			b = (b + 1) & (CALL_STREAM_BUCKETS - 1);
		cs->buckets[b] = (uint16_t)(i + 1);
	}
}

/* Drops the pending packets, because the previous owner of the SSRC encrypted them. */
static void unmap_ssrc(struct call_stream *cs, struct slot *s)
{
	if (!s->ssrc)
		return;
	call_stream_drop_pending(cs, s->ssrc);
	call_stream_end_outage(cs, s);
	call_stream_leave_source(cs, s->ssrc, &s->arrivals, &s->reports);
	s->ssrc = 0;
}

static void map_ssrc(struct call_stream *cs, struct slot *s, uint32_t ssrc)
{
	struct slot *old = ssrc ? call_stream_find_slot(cs, ssrc) : NULL;

	if (old == s)
		return;
	if (old)
		unmap_ssrc(cs, old);
	unmap_ssrc(cs, s);
	s->ssrc = ssrc;
	s->proved = 0; /* the loop thread holds no proof for the new SSRC */
	call_stream_begin_source(cs, ssrc, &s->arrivals, &s->reports);
	memset(&s->source, 0, sizeof s->source);
	rebuild_buckets(cs);
	if (!ssrc)
		return;
	call_stream_adopt_reporter(cs, s);
	audio_speaker_restart(s->speaker, env_now(cs->env));
	call_stream_release_pending(cs, s);
}

void call_stream_unmap_all(struct call_stream *cs)
{
	for (unsigned i = 0; i < cs->n_slots; i++)
		cs->slots[i]->ssrc = 0;
	rebuild_buckets(cs);
}

static void return_slot(struct call_stream *cs, struct slot *s)
{
	call_stream_emit(cs, &(struct ev){.type = EV_SLOT_GONE, .stream = cs, .slot = s});
}

static void add_slot(struct call_stream *cs, struct slot *s)
{
	if (cs->n_slots == CALL_STREAM_SLOTS) {
		return_slot(cs, s);
		return;
	}
	cs->slots[cs->n_slots++] = s;
	call_stream_init_slot_dave(cs, s);
}

static void remove_slot(struct call_stream *cs, struct slot *s, enum media_reason reason)
{
	for (unsigned i = 0; i < cs->n_slots; i++) {
		if (cs->slots[i] != s)
			continue;
		audio_speaker_end(s->speaker, reason);
		if (s->ssrc) {
			call_stream_drop_pending(cs, s->ssrc);
			call_stream_leave_source(cs, s->ssrc, &s->arrivals, &s->reports);
		}
		cs->n_stale -= s->stale;
		cs->slots[i] = cs->slots[--cs->n_slots];
		rebuild_buckets(cs);
		return_slot(cs, s);
		return;
	}
}

void call_stream_end_captures(struct call_stream *cs, enum media_reason reason)
{
	for (unsigned i = 0; i < cs->n_slots; i++)
		audio_speaker_end(cs->slots[i]->speaker, reason);
}

struct slot *call_stream_slot_of_user(const struct call_stream *cs, uint64_t user)
{
	for (unsigned i = 0; i < cs->n_slots; i++)
		if (cs->slots[i]->user == user)
			return cs->slots[i];
	return NULL;
}

bool call_stream_has_slot(const struct call_stream *cs, const struct slot *s)
{
	for (unsigned i = 0; i < cs->n_slots; i++)
		if (cs->slots[i] == s)
			return true;
	return false;
}

static void return_decoder(struct call_stream *cs, struct audio_decoder *d)
{
	if (d)
		call_stream_emit(cs,
				 &(struct ev){.type = EV_DECODER_GONE, .stream = cs, .decoder = d});
}

static void set_consent(struct call_stream *cs, struct slot *s, bool yes)
{
	audio_speaker_consent(s->speaker, yes);
	s->consent = yes;
	if (yes)
		return;
	if (s->ssrc)
		call_stream_drop_pending(cs, s->ssrc);
	call_stream_end_outage(cs, s);
}

void call_stream_run_slot_command(struct call_stream *cs, struct cmd *c)
{
	struct slot *s = c->slot.slot;
	struct audio_decoder *d = c->slot.decoder;

	/* A slot that found no room was returned. Commands that were under way for it have no
	 * effect. */
	if (c->type != CMD_SLOT_ADD && !call_stream_has_slot(cs, s)) {
		if (c->type == CMD_LISTEN)
			return_decoder(cs, d);
		return;
	}
	switch (c->type) {
	case CMD_SLOT_ADD:
		add_slot(cs, s);
		break;
	case CMD_SLOT_MAP:
		map_ssrc(cs, s, c->slot.ssrc);
		break;
	case CMD_SLOT_REMOVE:
		remove_slot(cs, s, c->slot.reason);
		break;
	case CMD_CONSENT:
		set_consent(cs, s, c->slot.yes);
		break;
	case CMD_LISTEN:
		audio_speaker_listen(s->speaker, c->slot.listen, c->slot.rate, c->slot.silence_ms,
				     &d, env_now(cs->env));
		return_decoder(cs, d);
		break;
	default:
		*dropped_count(s, c->slot.listen) = 0;
		return_decoder(cs,
			       audio_speaker_unlisten(s->speaker, c->slot.listen, c->slot.reason));
		break;
	}
}
