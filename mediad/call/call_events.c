/* Events of the audio thread that concern the call as a whole: discovery, statistics, unmapped
 * SSRCs, the end of its stream. */
#include "ipc/env.h"
#include "ipc/log.h"
#include "mediad/call/call_internal.h"

/* Packets arrive of an SSRC that no op 5 mapped. A missed message may have named it, and if it was
 * the last message no gap in the numbers shows it. A resume brings it again, and the pending
 * packets are decoded then. */
static void on_unmapped_ssrc(struct call *c, uint32_t ssrc, bool persistent)
{
	uint64_t now = env_now(c->conf.env);

	if (hear_unmapped_ssrc(c, ssrc) || !persistent || vgw_phase(c->gw) != MEDIA_PHASE_UP ||
	    !unmapped_should_ask(&c->unmapped, ssrc, now))
		return;
	log_warn("speaker_unknown", "call=%u ssrc=%u missed=%d asks=%u", c->id, ssrc,
		 vgw_has_missed(c->gw), c->unmapped.asks);
	vgw_resume_now(c->gw, now, MEDIA_REASON_CONNECTION_LOST);
	call_finish_step(c);
}

static void send_call_stats(struct call *c, const struct call_stream_stats *s)
{
	struct media_msg msg = {.type = MEDIA_CALL_STATS};
	struct media_call_stats *m = &msg.call_stats;

	m->sent = s->send.sent;
	m->send_failed = s->send.failed;
	m->received = s->received;
	m->malformed = s->malformed;
	m->replayed = s->replayed;
	m->unknown_ssrc = s->unknown_ssrc;
	m->kernel_dropped = s->kernel_dropped;
	m->late_frames = s->send.late;
	m->heard_dropped = c->heard_dropped;
	m->gateway_rtt_us = c->gateway_rtt_us;
	m->udp_rtt_us = s->rtt_us;
	m->reports = s->seen.reports;
	m->reported_lost = s->seen.lost > 0 ? (uint32_t)s->seen.lost : 0;
	m->reported_loss = (uint16_t)(s->seen.fraction * 1000 / 256);
	m->report_rtt_us = s->seen.rtt_us;
	m->dtx_frames = s->send.dtx;
	m->expected_loss = (uint8_t)s->send.loss;
	m->complexity = (uint8_t)s->send.complexity;
	if (s->lost_events != c->lost_events)
		log_warn("events_lost", "call=%u count=%llu", c->id,
			 (unsigned long long)s->lost_events);
	c->lost_events = s->lost_events;
	if (s->kernel_dropped != c->kernel_dropped && call_may_log(c))
		log_warn("datagrams_dropped",
			 "call=%u count=%llu hint=\"they came faster than they were read; "
			 "net.core.rmem_max limits the buffer\"",
			 c->id, (unsigned long long)s->kernel_dropped);
	c->kernel_dropped = s->kernel_dropped;
	call_send(c, &msg, 0);
	say_check_starved(c);
	music_rest_paused(c);
	hear_replace_slots(c);
}

static void send_user_stats(struct call *c, const struct receiver_stats *s)
{
	struct media_msg msg = {.type = MEDIA_USER_STATS};
	struct media_user_stats *m = &msg.user_stats;

	m->user = s->user;
	m->packets = s->audio.packets;
	m->lost = s->audio.lost;
	m->late = s->audio.late;
	m->concealed_ms = s->audio.concealed_ms;
	m->undecryptable = s->undecryptable;
	m->jitter_us = s->audio.jitter_us;
	m->in_outage = s->in_outage;
	m->outage_ms = s->outage_ns / 1000000;
	m->outages = s->outages;
	m->not_sealed = s->not_sealed;
	m->excess = s->audio.excess;
	m->given_up = secure_gave_up(c, s->user);
	call_send(c, &msg, 0);
}

static void on_want_speaking(struct call *c, bool on)
{
	c->speaking_pending = on;
	vgw_speaking(c->gw, env_now(c->conf.env), on);
	call_finish_step(c);
}

/* With another address a router on the way has forgotten us: the server would go on to send what it
 * has for us to the old one. */
static void on_udp_failed(struct call *c, enum path_loss why)
{
	static const char *const words[] = {
		[PATH_SILENT] = "nothing comes back",
		[PATH_MOVED] = "our address is another one now",
		[PATH_SPENT] = "the transport key has no nonce left",
	};

	log_warn("udp_lost", "call=%u why=\"%s\"", c->id, words[why]);
	vgw_udp_failed(c->gw, env_now(c->conf.env));
}

static void on_stream_gone(struct call *c)
{
	c->stream = NULL;
	say_free(c);
	music_free(c);
	call_send_state(c);
	c->conf.goneh(c, c->conf.arg);
}

static void path_event(struct call *c, const struct ev *ev)
{
	bool ours = ev->found.link == c->link;

	if (ours && ev->type == EV_DISCOVERED)
		vgw_discovered(c->gw, env_now(c->conf.env), ev->found.ip, ev->found.port);
	else if (ours)
		on_udp_failed(c, ev->found.why);
	call_finish_step(c);
}

void call_engine_event(const struct ev *ev, void *owner)
{
	struct call *c = owner;

	call_send_owed(c);
	switch (ev->type) {
	case EV_STREAM_GONE:
		on_stream_gone(c);
		return;
	case EV_DISCOVERED:
	case EV_UDP_FAILED:
		path_event(c, ev);
		return;
	case EV_KEY_USED:
		call_note_key(c, ev->key_number);
		return;
	case EV_WANT_SPEAKING:
		on_want_speaking(c, ev->on);
		return;
	case EV_UNMAPPED_SSRC:
		on_unmapped_ssrc(c, ev->unmapped.ssrc, ev->unmapped.persistent);
		return;
	case EV_SPEAKING:
	case EV_HEARD:
	case EV_HEARD_END:
		hear_event(c, ev);
		return;
	case EV_SLOT_GONE:
		hear_event(c, ev);
		call_finish_step(c);
		return;
	case EV_LANE:
	case EV_LANE_PROGRESS:
		say_event(c, ev);
		return;
	case EV_MUSIC:
	case EV_MUSIC_PROGRESS:
		music_event(c, ev);
		return;
	case EV_DAVE_OUTAGE:
	case EV_DAVE_PROOF:
	case EV_DAVE_NEXT:
		secure_event(c, ev);
		call_finish_step(c);
		return;
	case EV_CALL_STATS:
		send_call_stats(c, &ev->call);
		return;
	case EV_USER_STATS:
		send_user_stats(c, &ev->user);
		return;
	default: /* returned objects, which the engine frees */
		return;
	}
}
