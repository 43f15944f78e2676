/* Sending of a call stream: lanes, the sender's events, the 20 ms deadline. */
#include <errno.h>

#include "ipc/env.h"
#include "mediad/engine/call_stream_internal.h"
#include "proto/base/not_cleared.h"
#include "proto/base/time.h"

#define TICK	 (SENDER_TICK_MS * NS_PER_MS)
#define PROGRESS (CALL_STREAM_PROGRESS_MS * NS_PER_MS)

static void forget_progress(struct call_stream *cs, uint32_t playback)
{
	for (unsigned i = 0; i < SENDER_LANES; i++)
		if (cs->progress[i].playback == playback)
			cs->progress[i].playback = 0;
}

void call_stream_on_sender_event(const struct sender_event *e, void *arg)
{
	struct call_stream *cs = arg;
	struct ev ev = {.type = e->music ? EV_MUSIC : EV_LANE, .stream = cs};

	if (e->type == SENDER_SPEAKING) {
		ev.type = EV_WANT_SPEAKING;
		ev.on = e->on;
		call_stream_emit(cs, &ev);
		return;
	}
	ev.lane.what = e->type;
	ev.lane.playback = e->playback;
	ev.lane.samples = e->samples;
	ev.lane.at = e->at;
	ev.lane.reason = e->reason;
	ev.lane.lane = e->lane;
	ev.lane.music = e->music;
	if (!e->music && (e->type == SENDER_DRAINED || e->type == SENDER_STOPPED))
		forget_progress(cs, e->playback);
	call_stream_emit(cs, &ev);
}

/* A halted sender continues where it was: a sequence number must not repeat, and RTP time advanced
 * with the clock. */
void call_stream_start_sender(struct call_stream *cs)
{
	uint64_t now = env_now(cs->env), first = now / TICK * TICK + cs->phase;

	if (cs->mute || !cs->keyed || sender_next(cs->sender) != UINT64_MAX)
		return;
	while (first <= now)
		first += TICK;
	if (cs->ts_at && first > cs->ts_at)
		cs->ts += (uint32_t)((first - cs->ts_at) / TICK * RTP_FRAME);
	cs->ts_at = first;
	sender_start(cs->sender, first, cs->seq, cs->ts);
}

void call_stream_halt_sender(struct call_stream *cs)
{
	if (sender_next(cs->sender) == UINT64_MAX)
		return;
	sender_halt(cs->sender, env_now(cs->env));
}

void call_stream_prepare_frame(struct call_stream *cs)
{
	if (cs->key && sender_next(cs->sender) != UINT64_MAX)
		sender_prepare(cs->sender, env_now(cs->env));
}

/* ---- lanes ---- */

void call_stream_return_lane(struct call_stream *cs, struct lane *lane)
{
	struct ev ev = {.type = EV_LANE, .stream = cs};

	ev.lane.what = SENDER_STOPPED;
	ev.lane.playback = lane_id(lane);
	ev.lane.samples = lane_sent(lane);
	ev.lane.at = env_now(cs->env);
	ev.lane.lane = lane;
	forget_progress(cs, lane_id(lane));
	call_stream_emit(cs, &ev);
}

static void add_lane(struct call_stream *cs, struct lane *lane)
{
	if (sender_add(cs->sender, lane)) {
		call_stream_return_lane(cs, lane);
		return;
	}
	for (unsigned i = 0; i < SENDER_LANES; i++) {
		if (cs->progress[i].playback)
			continue;
		cs->progress[i].playback = lane_id(lane);
		cs->progress[i].pulled = 0;
		return;
	}
}

void call_stream_run_lane_command(struct call_stream *cs, const struct cmd *c)
{
	uint64_t now = env_now(cs->env);
	struct lane *lane;

	if (c->type == CMD_LANE_ADD) {
		add_lane(cs, c->lane.lane);
		return;
	}
	if (c->type == CMD_LANE_CONTROL) {
		sender_command(cs->sender, c->lane.playback, c->lane.what, c->lane.target,
			       c->lane.fade_ms, now);
		return;
	}
	/* Audio that arrives after a stop is late and dropped by its id. */
	lane = sender_lane(cs->sender, c->lane.playback);
	if (!lane)
		return;
	/* Credit keeps the lane from overflowing. If it overflows all the same, the playback stops
	 * instead of playing with a hole. */
	if (c->type == CMD_LANE_END)
		sender_end(cs->sender, c->lane.playback, now);
	else if (lane_write(lane, c->lane.pcm, c->lane.n, now))
		sender_command(cs->sender, c->lane.playback, SENDER_STOP, 0, 0, now);
	call_stream_prepare_frame(cs);
}

void call_stream_report_progress(struct call_stream *cs, uint64_t now)
{
	if (now < cs->progress_at)
		return;
	/* At the same times in all streams, so that one wake of the loop thread and of control
	 * serves many. */
	cs->progress_at = (now / PROGRESS + 1) * PROGRESS;
	for (unsigned i = 0; i < SENDER_LANES; i++) {
		struct ev ev = {.type = EV_LANE_PROGRESS, .stream = cs};
		struct lane *lane;

		if (!cs->progress[i].playback)
			continue;
		lane = sender_lane(cs->sender, cs->progress[i].playback);
		if (!lane || lane_pulled(lane) == cs->progress[i].pulled)
			continue;
		ev.lane.playback = cs->progress[i].playback;
		ev.lane.pulled = lane_pulled(lane);
		ev.lane.samples = lane_sent(lane);
		if (cs->emit(&ev, true, cs->arg))
			cs->progress[i].pulled = ev.lane.pulled;
	}
}

static enum sender_outcome send_packet(struct call_stream *cs, const struct sender_packet *pkt)
{
	struct rtp_header h = {.pt = RTP_PT_OPUS, .seq = pkt->seq, .ts = pkt->ts, .ssrc = cs->ssrc};
	uint8_t sealed[SENDER_OPUS_MAX + DAVE_OPUS_OVERHEAD] NOT_CLEARED;
	uint8_t out[UDP_MAX_PACKET] NOT_CLEARED;
	struct slice payload;
	size_t len;
	int err;

	/* Which frames DTX leaves out differs between CPUs, so the decision is recorded. */
	if (!pkt->silence && !env_answer(cs->env, !pkt->dtx))
		return SENDER_DTX;
	cs->seq = (uint16_t)(pkt->seq + 1);
	if (!call_stream_encrypt(cs, pkt, sealed, sizeof sealed, &payload))
		return SENDER_FAILED;
	err = rtpsize_seal(cs->key, &h, payload.p, payload.n, out, sizeof out, &len);
	if (err == EOVERFLOW)
		call_stream_report_udp(cs, PATH_SPENT);
	if (err || !call_stream_send_datagram(cs, out, len))
		return SENDER_FAILED;
	report_sent(&cs->report, payload.n);
	path_spoke(&cs->path, SENDER_TICK_MS);
	return SENDER_SENT;
}

void call_stream_send_due(struct call_stream *cs, uint64_t now)
{
	struct sender_packet pkt = {0};

	if (sender_due(cs->sender, now, &pkt))
		sender_done(cs->sender, send_packet(cs, &pkt), now);
	/* Also when nothing was sent, because RTP time is wall time. */
	cs->ts = pkt.ts + RTP_FRAME;
	cs->ts_at = sender_next(cs->sender);
}

void call_stream_pass_deadlines(struct call_stream *cs, uint64_t now)
{
	uint32_t passed = sender_pass(cs->sender, now);

	if (!passed)
		return;
	cs->ts += passed * RTP_FRAME;
	cs->ts_at = sender_next(cs->sender);
}
