#include "mediad/audio/send.h"

#include <errno.h>
#include <stdlib.h>

#include "mediad/audio/send_internal.h"
#include "proto/base/time.h"
#include "proto/rtp.h"

#define TICK (SENDER_TICK_MS * NS_PER_MS)

/* ---- alloc, free, settings ---- */

/* The encoder of music, or NULL. */
static struct encoder *stereo_of(const struct sender *s)
{
	return s->music ? music_mixer_encoder(s->music) : NULL;
}

void sender_set_bitrate(struct sender *s, uint32_t bitrate)
{
	encoder_set_bitrate(s->mono, bitrate);
	if (!s->music)
		return;
	encoder_set_bitrate(stereo_of(s), bitrate);
	encoder_set_music_bitrate(stereo_of(s), bitrate);
}

void sender_set_complexity(struct sender *s, unsigned complexity)
{
	encoder_set_complexity(s->mono, complexity);
	if (s->music)
		encoder_set_complexity(stereo_of(s), complexity);
}

void sender_forbid_fec(struct sender *s, bool forbidden)
{
	encoder_forbid_fec(s->mono, forbidden);
	if (s->music)
		encoder_forbid_fec(stereo_of(s), forbidden);
}

void sender_report_loss(struct sender *s, uint8_t fraction)
{
	encoder_report_loss(s->mono, fraction);
	if (s->music)
		encoder_report_loss(stereo_of(s), fraction);
}

void sender_forget_loss(struct sender *s)
{
	encoder_forget_loss(s->mono);
	if (s->music)
		encoder_forget_loss(stereo_of(s));
}

int sender_alloc(struct sender **out, uint32_t bitrate, sender_event_h *h, void *arg)
{
	struct sender *s = calloc(1, sizeof *s);
	int err;

	if (!s)
		return ENOMEM;
	err = encoder_alloc(&s->mono, bitrate);
	if (err) {
		sender_free(s);
		return err;
	}
	s->enc = s->mono;
	limiter_init(&s->limiter);
	s->h = h;
	s->arg = arg;
	*out = s;
	return 0;
}

struct sender *sender_free(struct sender *s)
{
	if (!s)
		return NULL;
	for (unsigned i = 0; i < s->n_lanes; i++)
		lane_free(s->lanes[i].lane);
	encoder_free(s->mono);
	music_mixer_free(s->music);
	free(s);
	return NULL;
}

void sender_stats(const struct sender *s, struct sender_stats *out)
{
	*out = s->stats;
	out->loss = encoder_loss(s->enc);
	out->fec = encoder_fec(s->enc);
	out->complexity = encoder_complexity(s->enc);
}

/* ---- events ---- */

static void emit_speaking(struct sender *s, bool on, uint64_t now)
{
	struct sender_event ev = {.type = SENDER_SPEAKING, .on = on, .at = now};

	s->h(&ev, s->arg);
}

static void emit_lane_event(struct sender *s, const struct lent_lane *g,
			    enum sender_event_type type, uint64_t at)
{
	struct sender_event ev = {.type = type,
				  .playback = lane_id(g->lane),
				  .samples = lane_sent(g->lane),
				  .at = at,
				  .reason = g->why,
				  .lane = g->lane};

	s->h(&ev, s->arg);
}

static struct lent_lane remove_lane(struct sender *s, unsigned i)
{
	struct lent_lane gone = s->lanes[i];

	s->n_lanes--;
	for (; i < s->n_lanes; i++)
		s->lanes[i] = s->lanes[i + 1];
	return gone;
}

/* Emits the events of lane i. Returns true when the lane left. */
static bool emit_lane_events(struct sender *s, unsigned i, uint64_t now)
{
	struct lent_lane g = s->lanes[i];

	for (;;) {
		switch (lane_next_event(g.lane)) {
		case LANE_NONE:
			return false;
		case LANE_STARTED:
			emit_lane_event(s, &g, SENDER_STARTED, lane_started_at(g.lane));
			break;
		case LANE_PAUSED:
			emit_lane_event(s, &g, SENDER_PAUSED, now);
			break;
		case LANE_DRAINED:
			remove_lane(s, i);
			emit_lane_event(s, &g, SENDER_DRAINED, now);
			return true;
		case LANE_STOPPED:
			remove_lane(s, i);
			emit_lane_event(s, &g, SENDER_STOPPED, now);
			return true;
		}
	}
}

static void emit_music_events(struct sender *s, uint64_t now)
{
	static const enum sender_event_type types[] = {[LANE_STARTED] = SENDER_STARTED,
						       [LANE_PAUSED] = SENDER_PAUSED,
						       [LANE_DRAINED] = SENDER_DRAINED,
						       [LANE_STOPPED] = SENDER_STOPPED};
	struct music_lane *lane;
	enum lane_event what;

	while (s->music && (what = music_mixer_next_event(s->music, &lane)) != LANE_NONE) {
		const struct playout *p = music_lane_playout(lane);
		struct sender_event ev = {.type = types[what],
					  .playback = music_lane_id(lane),
					  .samples = p->confirmed,
					  .at = what == LANE_STARTED ? p->started_at : now,
					  .reason = music_lane_is_broken(lane)
							    ? MEDIA_REASON_SOURCE_FAILED
							    : MEDIA_REASON_NONE,
					  .music = lane};

		s->h(&ev, s->arg);
	}
}

static void emit_all_events(struct sender *s, uint64_t now)
{
	for (unsigned i = 0; i < s->n_lanes;)
		if (!emit_lane_events(s, i, now))
			i++;
	emit_music_events(s, now);
}

/* ---- session ---- */

void sender_start(struct sender *s, uint64_t first, uint16_t seq, uint32_t ts)
{
	s->fresh = true;
	s->running = true;
	s->next = first;
	s->seq = seq;
	s->ts = ts;
	s->known = false;
	s->flush = false;
	s->leading_silence = SENDER_SILENCE_FRAMES;
	s->idle_since = 0;
	s->silence = 0;
	s->speaking = REQUESTED;
	s->requested_at = first;
	emit_speaking(s, true, first);
}

/* Confirms the samples of the prepared frame as sent or lost. */
static void settle_frame(struct sender *s, bool sent, uint64_t now)
{
	struct prepared_frame *frame = &s->frame;

	for (unsigned i = 0; i < frame->n_shares; i++)
		lane_confirm(frame->shares[i].lane, frame->shares[i].samples, sent, now);
	if (frame->music)
		music_mixer_confirm(s->music, sent, now);
	frame->n_shares = 0;
	frame->full = frame->handed_out = frame->music = false;
}

/* No lane waits for the gate: it opened, or there is no session. */
static void clear_gate_waits(struct sender *s)
{
	for (unsigned i = 0; i < s->n_lanes; i++)
		s->lanes[i].waits_since = 0;
}

void sender_halt(struct sender *s, uint64_t now)
{
	s->running = false;
	s->speaking = IDLE;
	settle_frame(s, false, now);
	for (unsigned i = 0; i < s->n_lanes; i++)
		lane_finish_fade(s->lanes[i].lane);
	if (s->music)
		music_mixer_finish_fades(s->music);
	clear_gate_waits(s);
	emit_all_events(s, now);
}

void sender_set_gate(struct sender *s, bool open)
{
	s->open = open;
	if (open)
		clear_gate_waits(s);
	/* A fade needs frames that are sent. */
	for (unsigned i = 0; i < s->n_lanes && !open; i++)
		lane_finish_fade(s->lanes[i].lane);
	if (s->music && !open)
		music_mixer_finish_fades(s->music);
}

void sender_speaking_sent(struct sender *s)
{
	if (s->speaking != REQUESTED)
		return;
	s->known = true;
	s->speaking = SPEAKING;
}

/* ---- the deadline ---- */

uint64_t sender_next(const struct sender *s)
{
	return s->running ? s->next : UINT64_MAX;
}

bool sender_is_idle(const struct sender *s)
{
	return !s->running ||
	       (s->speaking == IDLE && !s->n_lanes && !s->frame.full && !s->leading_silence &&
		!(s->music && music_mixer_is_active(s->music)));
}

uint32_t sender_pass(struct sender *s, uint64_t now)
{
	uint32_t passed;

	if (!s->running || !sender_is_idle(s) || now < s->next)
		return 0;
	passed = (uint32_t)((now - s->next) / TICK) + 1;
	s->next += passed * TICK;
	s->ts += passed * RTP_FRAME;
	return passed;
}

/* Withdraws the prepared frame: its samples return to their lanes, and the utterance ends before
 * them. */
static void withdraw_frame(struct sender *s)
{
	struct prepared_frame *frame = &s->frame;

	for (unsigned i = 0; i < frame->n_shares; i++)
		lane_unpull(frame->shares[i].lane, frame->shares[i].samples);
	if (frame->music)
		music_mixer_unpull(s->music);
	frame->n_shares = 0;
	frame->full = frame->music = false;
	s->flush = false;
	s->fresh = true;
	if (s->silence) {
		sender_prepare_silence(s);
		s->silence--;
	}
}

/* Withdraws the prepared frame when it holds only lane l, so that a stop takes effect with the next
 * packet; where other lanes sound with it, with the one after. */
static void withdraw_lane(struct sender *s, const struct lane *l)
{
	const struct prepared_frame *frame = &s->frame;

	if (frame->full && !frame->handed_out && !frame->music && frame->n_shares == 1 &&
	    frame->shares[0].lane == l)
		withdraw_frame(s);
}

/* The same of music. */
static void withdraw_music(struct sender *s)
{
	const struct prepared_frame *frame = &s->frame;

	if (frame->full && !frame->handed_out && frame->music && !frame->n_shares)
		withdraw_frame(s);
}

bool sender_due(struct sender *s, uint64_t now, struct sender_packet *pkt)
{
	uint64_t late;

	if (!s->running || now < s->next)
		return false;
	late = now - s->next;
	if (late > SENDER_LATE_MS * NS_PER_MS)
		s->stats.late++;
	if (late > SENDER_REBASE_MS * NS_PER_MS) {
		uint64_t passed = late / TICK;

		s->next += passed * TICK;
		s->ts += (uint32_t)(passed * RTP_FRAME);
		s->stats.skipped += passed;
	}
	pkt->ts = s->ts;
	s->next += TICK;
	s->ts += RTP_FRAME;
	/* The gate closed after this frame was prepared. */
	if (s->frame.full && !s->frame.silence && !s->open) {
		withdraw_frame(s);
		emit_all_events(s, now);
	}
	if (!s->frame.full)
		return false;
	s->frame.handed_out = true;
	pkt->seq = s->seq;
	pkt->opus = s->frame.opus;
	pkt->len = s->frame.len;
	pkt->silence = s->frame.silence;
	pkt->dtx = s->frame.dtx;
	return true;
}

void sender_done(struct sender *s, enum sender_outcome outcome, uint64_t now)
{
	if (!s->frame.handed_out)
		return;
	s->stats.sent += outcome == SENDER_SENT;
	s->stats.failed += outcome == SENDER_FAILED;
	s->stats.dtx += outcome == SENDER_DTX;
	if (outcome != SENDER_DTX)
		s->seq++;
	settle_frame(s, outcome != SENDER_FAILED, now);
	emit_all_events(s, now);
}

/* ---- the next frame ---- */

/* There is nothing to send. */
static void end_utterance(struct sender *s, uint64_t now)
{
	if (!s->idle_since)
		s->idle_since = now;
	if (now - s->idle_since < SENDER_SPEAKING_HOLD_MS * NS_PER_MS)
		return;
	s->speaking = IDLE;
	s->idle_since = 0;
	emit_speaking(s, false, now);
}

static void prepare_frame(struct sender *s, bool wanted, uint64_t now)
{
	if (s->leading_silence) {
		s->leading_silence--;
		sender_prepare_silence(s);
		return;
	}
	if (!s->open)
		s->flush = false;
	if (s->open && sender_mix_frame(s, now)) {
		s->silence = SENDER_SILENCE_FRAMES;
	} else if (s->flush) {
		sender_flush_frame(s);
		s->flush = false;
	} else if (s->silence) {
		sender_prepare_silence(s);
		s->silence--;
	} else if (!wanted) {
		end_utterance(s, now);
		return;
	}
	s->idle_since = 0;
}

static void request_speaking(struct sender *s, uint64_t now)
{
	s->speaking = REQUESTED;
	s->requested_at = now;
	emit_speaking(s, true, now);
}

/* Notes since when each lane waits for the gate, and stops lanes that have waited too long. */
static void expire_gate_waits(struct sender *s, uint64_t now)
{
	for (unsigned i = 0; i < s->n_lanes; i++) {
		struct lent_lane *g = &s->lanes[i];

		if (!lane_has_audio(g->lane)) {
			g->waits_since = 0;
		} else if (!g->waits_since) {
			g->waits_since = now;
		} else if (now - g->waits_since >= SENDER_KEY_WAIT_MS * NS_PER_MS) {
			g->why = MEDIA_REASON_NO_KEY;
			lane_stop(g->lane, 0);
		}
	}
}

void sender_prepare(struct sender *s, uint64_t now)
{
	bool wanted = s->leading_silence > 0;

	if (!s->running)
		return;
	if (!s->open)
		expire_gate_waits(s, now);
	if (s->frame.full && !s->frame.handed_out) {
		emit_all_events(s, now);
		return;
	}
	if (s->frame.handed_out)
		sender_done(s, SENDER_FAILED, now);
	if (s->open)
		wanted = wanted || sender_has_speech(s) ||
			 (s->music && music_mixer_has_audio(s->music));
	if (s->speaking == IDLE && wanted)
		request_speaking(s, now);
	else if (s->speaking == REQUESTED &&
		 now >= s->requested_at + SENDER_SPEAKING_WAIT_MS * NS_PER_MS) {
		if (s->known)
			s->speaking = SPEAKING;
		else
			request_speaking(s, now);
	}
	if (s->speaking == SPEAKING)
		prepare_frame(s, wanted, now);
	emit_all_events(s, now);
}

/* ---- lanes ---- */

static unsigned find_lane(const struct sender *s, uint32_t playback)
{
	unsigned i = 0;

	while (i < s->n_lanes && lane_id(s->lanes[i].lane) != playback)
		i++;
	return i;
}

int sender_add(struct sender *s, struct lane *l)
{
	if (find_lane(s, lane_id(l)) < s->n_lanes)
		return EEXIST;
	if (s->n_lanes == SENDER_LANES)
		return ENOSPC;
	s->lanes[s->n_lanes++] = (struct lent_lane){.lane = l};
	return 0;
}

struct lane *sender_lane(struct sender *s, uint32_t playback)
{
	unsigned i = find_lane(s, playback);

	return i < s->n_lanes ? s->lanes[i].lane : NULL;
}

bool sender_end(struct sender *s, uint32_t playback, uint64_t now)
{
	unsigned i = find_lane(s, playback);

	if (i == s->n_lanes)
		return false;
	lane_end(s->lanes[i].lane);
	emit_lane_events(s, i, now);
	return true;
}

bool sender_command(struct sender *s, uint32_t playback, enum sender_command cmd, uint16_t target,
		    uint16_t fade_ms, uint64_t now)
{
	unsigned i = find_lane(s, playback);

	if (i == s->n_lanes)
		return false;
	/* A fade needs frames that are sent. */
	if (s->speaking != SPEAKING || !s->open)
		fade_ms = 0;
	switch (cmd) {
	case SENDER_PAUSE:
		lane_pause(s->lanes[i].lane, fade_ms);
		break;
	case SENDER_RESUME:
		lane_resume(s->lanes[i].lane, fade_ms);
		break;
	case SENDER_STOP:
		lane_stop(s->lanes[i].lane, fade_ms);
		if (!fade_ms)
			withdraw_lane(s, s->lanes[i].lane);
		break;
	case SENDER_GAIN:
	case SENDER_GLIDE:
		lane_gain(s->lanes[i].lane, target, fade_ms);
		break;
	}
	emit_lane_events(s, i, now);
	return true;
}

/* ---- music ---- */

int sender_lend_music(struct sender *s, struct music_mixer *m)
{
	if (s->music)
		return EEXIST;
	s->music = m;
	encoder_copy_settings(stereo_of(s), s->mono);
	return 0;
}

struct music_mixer *sender_music(struct sender *s)
{
	return s->music;
}

bool sender_command_music(struct sender *s, uint32_t id, enum sender_command cmd, uint32_t target,
			  uint16_t fade_ms, uint64_t now)
{
	struct music_lane *l = s->music ? music_mixer_lane(s->music, id) : NULL;

	if (!l)
		return false;
	/* A fade needs frames that are sent. */
	if (s->speaking != SPEAKING || !s->open)
		fade_ms = 0;
	switch (cmd) {
	case SENDER_PAUSE:
		music_mixer_pause(s->music, id, fade_ms);
		break;
	case SENDER_RESUME:
		music_mixer_resume(s->music, id, fade_ms);
		break;
	case SENDER_STOP:
		playout_stop(music_lane_playout(l), fade_ms * (uint32_t)PLAYOUT_PER_MS);
		if (!fade_ms)
			withdraw_music(s);
		break;
	case SENDER_GAIN:
		playout_gain(music_lane_playout(l), target, fade_ms * (uint32_t)PLAYOUT_PER_MS);
		break;
	case SENDER_GLIDE:
		playout_glide(music_lane_playout(l), target, fade_ms);
		break;
	}
	emit_music_events(s, now);
	return true;
}

struct music_lane *sender_take_music(struct sender *s)
{
	if (!s->music)
		return NULL;
	s->frame.music = false;
	return music_mixer_take(s->music);
}

struct lane *sender_take(struct sender *s)
{
	struct lane *l;

	if (!s->n_lanes)
		return NULL;
	l = s->lanes[--s->n_lanes].lane;
	for (unsigned i = 0; i < s->frame.n_shares; i++)
		if (s->frame.shares[i].lane == l)
			s->frame.shares[i] = s->frame.shares[--s->frame.n_shares];
	return l;
}
