/* The line's speaking: lanes, the sender's events, the deadline. */
#include "ipc/env.h"
#include "mediad/engine/line_inside.h"
#include "proto/base/time.h"

#define TICK (SENDER_TICK_MS * NS_PER_MS)

static void lane_over(struct line *l, uint32_t playback)
{
	for (unsigned i = 0; i < SENDER_LANES; i++)
		if (l->progress[i].playback == playback)
			l->progress[i].playback = 0;
}

void line_sender_event(const struct sender_event *e, void *arg)
{
	struct line *l = arg;
	struct ev ev = {.type = EV_LANE, .line = l};

	if (e->type == SENDER_SPEAKING) {
		ev.type = EV_WANT_SPEAKING;
		ev.on = e->on;
		line_tell(l, &ev);
		return;
	}
	ev.lane.what = e->type;
	ev.lane.playback = e->playback;
	ev.lane.samples = e->samples;
	ev.lane.at = e->at;
	ev.lane.reason = e->reason;
	ev.lane.lane = e->lane;
	if (e->type == SENDER_DRAINED || e->type == SENDER_STOPPED)
		lane_over(l, e->playback);
	line_tell(l, &ev);
}

/* A sender that was halted goes on where it was: its numbers must not come twice, and its RTP time
 * went on with the clock. */
void line_speak(struct line *l)
{
	uint64_t now = env_now(l->env), first = now / TICK * TICK + l->phase;

	if (l->mute || !l->keyed || sender_next(l->sender) != UINT64_MAX)
		return;
	while (first <= now)
		first += TICK;
	if (l->ts_at && first > l->ts_at)
		l->ts += (uint32_t)((first - l->ts_at) / TICK * RTP_FRAME);
	l->ts_at = first;
	sender_start(l->sender, first, l->seq, l->ts);
}

void line_hush(struct line *l)
{
	if (sender_next(l->sender) == UINT64_MAX)
		return;
	sender_halt(l->sender, env_now(l->env));
}

void line_prepare(struct line *l)
{
	if (l->key && sender_next(l->sender) != UINT64_MAX)
		sender_prepare(l->sender, env_now(l->env));
}

/* ---- lanes ---- */

void line_lane_lost(struct line *l, struct lane *lane)
{
	struct ev ev = {.type = EV_LANE, .line = l};

	ev.lane.what = SENDER_STOPPED;
	ev.lane.playback = lane_id(lane);
	ev.lane.samples = lane_sent(lane);
	ev.lane.at = env_now(l->env);
	ev.lane.lane = lane;
	lane_over(l, lane_id(lane));
	line_tell(l, &ev);
}

static void lane_add(struct line *l, struct lane *lane)
{
	if (sender_add(l->sender, lane)) {
		line_lane_lost(l, lane);
		return;
	}
	for (unsigned i = 0; i < SENDER_LANES; i++) {
		if (l->progress[i].playback)
			continue;
		l->progress[i].playback = lane_id(lane);
		l->progress[i].pulled = 0;
		return;
	}
}

void line_lane_command(struct line *l, const struct cmd *c)
{
	uint64_t now = env_now(l->env);
	struct lane *lane;

	if (c->type == CMD_LANE_ADD) {
		lane_add(l, c->lane.lane);
		return;
	}
	if (c->type == CMD_LANE_DO) {
		sender_command(l->sender, c->lane.playback, c->lane.what, c->lane.target,
			       c->lane.fade_ms, now);
		return;
	}
	/* What comes after a stop is late, and dropped by its id. */
	lane = sender_lane(l->sender, c->lane.playback);
	if (!lane)
		return;
	/* Credit keeps the lane from overflowing; should it, the playback ends rather than tears.
	 */
	if (c->type == CMD_LANE_END)
		sender_end(l->sender, c->lane.playback, now);
	else if (lane_write(lane, c->lane.pcm, c->lane.n, now))
		sender_command(l->sender, c->lane.playback, SENDER_STOP, 0, 0, now);
	line_prepare(l);
}

void line_tell_progress(struct line *l, uint64_t now)
{
	if (now < l->progress_at)
		return;
	l->progress_at = now + LINE_PROGRESS_MS * NS_PER_MS;
	for (unsigned i = 0; i < SENDER_LANES; i++) {
		struct ev ev = {.type = EV_LANE_PROGRESS, .line = l};
		struct lane *lane;

		if (!l->progress[i].playback)
			continue;
		lane = sender_lane(l->sender, l->progress[i].playback);
		if (!lane || lane_pulled(lane) == l->progress[i].pulled)
			continue;
		l->progress[i].pulled = lane_pulled(lane);
		ev.lane.playback = l->progress[i].playback;
		ev.lane.pulled = lane_pulled(lane);
		ev.lane.samples = lane_sent(lane);
		line_tell(l, &ev);
	}
}

static enum sender_outcome send_packet(struct line *l, const struct sender_packet *pkt)
{
	struct rtp_header h = {.pt = RTP_PT_OPUS, .seq = pkt->seq, .ts = pkt->ts, .ssrc = l->ssrc};
	uint8_t sealed[SENDER_OPUS_MAX + DAVE_OPUS_OVERHEAD], out[UDP_MAX_PACKET];
	struct slice payload;
	size_t len;

	/* What the codec finds worth telling differs between CPUs: on replay it is what it was. */
	if (!pkt->silence && !env_answer(l->env, !pkt->nothing))
		return SENDER_UNTOLD;
	l->seq = (uint16_t)(pkt->seq + 1);
	if (!line_protect(l, pkt, sealed, sizeof sealed, &payload) ||
	    rtpsize_seal(l->key, &h, payload.p, payload.n, out, sizeof out, &len) ||
	    !line_send(l, out, len))
		return SENDER_FAILED;
	report_sent(&l->report, payload.n);
	return SENDER_SENT;
}

void line_send_due(struct line *l, uint64_t now)
{
	struct sender_packet pkt = {0};

	if (sender_due(l->sender, now, &pkt))
		sender_done(l->sender, send_packet(l, &pkt), now);
	/* Also when there was nothing to send: RTP time is wall time. */
	l->ts = pkt.ts + RTP_FRAME;
	l->ts_at = sender_next(l->sender);
	sender_prepare(l->sender, now);
}
