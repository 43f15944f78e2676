#include "mediad/call/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "proto/base/time.h"

enum {
	BLOCK = 960,	  /* input samples converted at a time */
	WINDOW_MS = 1000, /* credit beyond what was taken for sending */
	STARVED_S = 30,	  /* an open playback without sound for so long is stopped */
};

static struct playback *by_id(struct call *c, uint32_t id)
{
	for (unsigned i = 0; id && i < SENDER_LANES; i++)
		if (c->playbacks[i] && c->playbacks[i]->id == id)
			return c->playbacks[i];
	return NULL;
}

static struct playback *by_lane(struct call *c, uint32_t lane)
{
	for (unsigned i = 0; i < SENDER_LANES; i++)
		if (c->playbacks[i] && c->playbacks[i]->lane == lane)
			return c->playbacks[i];
	return NULL;
}

static struct playback *playback_free(struct playback *p)
{
	if (p)
		resample_free(p->resample);
	free(p);
	return NULL;
}

static void forget(struct call *c, struct playback *p)
{
	for (unsigned i = 0; i < SENDER_LANES; i++) {
		if (c->playbacks[i] != p)
			continue;
		c->playbacks[i] = playback_free(p);
		return;
	}
}

static void tell_stopped(struct call *c, uint32_t id, uint64_t samples, enum media_reason why)
{
	struct media_msg msg = {.type = MEDIA_SAY_STOPPED};

	msg.say_stopped.playback = id;
	msg.say_stopped.samples = samples;
	msg.say_stopped.reason = (uint16_t)why;
	if (id)
		call_out(c, &msg, 0);
}

/* What was taken for sending, and a window on top: the lane holds twice that. */
static void tell_credit(struct call *c, struct playback *p, bool again)
{
	struct media_msg msg = {.type = MEDIA_SAY_CREDIT};
	uint64_t credit = resample_scale(p->pulled, p->rate, LANE_RATE) +
			  (uint64_t)p->rate * WINDOW_MS / 1000;

	if (!p->id || p->ended || (credit <= p->credit && !again))
		return;
	p->credit = credit;
	msg.say_credit.playback = p->id;
	msg.say_credit.samples = credit;
	call_out(c, &msg, 0);
}

static uint64_t heard_of(const struct playback *p)
{
	return resample_source(p->resample, p->sent);
}

static void lane_do(struct call *c, struct playback *p, enum sender_command what, uint16_t target,
		    uint16_t fade_ms)
{
	struct cmd cmd = {.type = CMD_LANE_DO};

	cmd.lane.playback = p->lane;
	cmd.lane.what = what;
	cmd.lane.target = target;
	cmd.lane.fade_ms = fade_ms;
	call_cmd(c, &cmd);
}

/* SAY_STOPPED follows once the lane is back. The first reason wins. */
static void stop(struct call *c, struct playback *p, enum media_reason why, uint16_t fade_ms)
{
	if (p->why == MEDIA_REASON_NONE)
		p->why = why;
	p->ended = true;
	lane_do(c, p, SENDER_STOP, 0, fade_ms);
}

static int playback_alloc(struct playback **out, struct call *c, const struct media_say_open *m)
{
	struct playback *p = calloc(1, sizeof *p);
	struct cmd cmd = {.type = CMD_LANE_ADD};
	int err;

	if (!p)
		return ENOMEM;
	p->id = m->playback;
	p->rate = m->rate;
	p->claimed = true;
	p->written_at = env_now(c->conf.env);
	p->lane = ++c->next_lane;
	err = resample_alloc(&p->resample, m->rate, LANE_RATE);
	if (!err)
		err = lane_alloc(&cmd.lane.lane, p->lane, m->gain);
	if (err) {
		playback_free(p);
		return err;
	}
	call_cmd(c, &cmd);
	*out = p;
	return 0;
}

void call_say_open(struct call *c, const struct media_say_open *m)
{
	struct playback *old = by_id(c, m->playback);
	unsigned i = 0;

	/* Another control had the same number: nobody is told how that one ended. */
	if (old && !old->claimed) {
		old->id = 0;
		stop(c, old, MEDIA_REASON_ORPHANED, 0);
		old = NULL;
	}
	if (old)
		return;
	while (i < SENDER_LANES && c->playbacks[i])
		i++;
	if (!m->playback || c->leaving || i == SENDER_LANES || m->rate < 8000 || m->rate > 48000 ||
	    playback_alloc(&c->playbacks[i], c, m)) {
		tell_stopped(c, m->playback, 0, MEDIA_REASON_BAD_REQUEST);
		return;
	}
	tell_credit(c, c->playbacks[i], false);
}

static void send_pcm(struct call *c, struct playback *p, const int16_t *pcm, size_t n)
{
	struct cmd cmd = {.type = CMD_LANE_PCM};

	cmd.lane.playback = p->lane;
	while (n) {
		cmd.lane.n = (uint16_t)(n < ENTRY_PCM ? n : ENTRY_PCM);
		memcpy(cmd.lane.pcm, pcm, cmd.lane.n * sizeof *pcm);
		call_cmd(c, &cmd);
		pcm += cmd.lane.n;
		n -= cmd.lane.n;
	}
}

/* Resamples one block of at most BLOCK samples on its way. */
static int convert(struct call *c, struct playback *p, const int16_t *in, size_t n, bool end)
{
	int16_t out[BLOCK * 6 + 2048];
	size_t made;
	int err = resample_run(p->resample, in, n, end, out, sizeof out / sizeof *out, &made);

	if (!err)
		send_pcm(c, p, out, made);
	return err;
}

void call_say(struct call *c, const struct media_say *m)
{
	struct playback *p = by_id(c, m->playback);
	size_t n = m->pcm.n / 2, k;
	int16_t block[BLOCK];
	int err = 0;

	if (!p || p->why != MEDIA_REASON_NONE)
		return; /* late */
	if (m->pcm.n % 2 || p->ended) {
		stop(c, p, MEDIA_REASON_BAD_REQUEST, 0);
		return;
	}
	if (p->written + n > p->credit) {
		stop(c, p, MEDIA_REASON_OVERFLOW, 0);
		return;
	}
	p->written += n;
	p->written_at = env_now(c->conf.env);
	for (size_t at = 0; at < n && !err; at += k) {
		k = n - at < BLOCK ? n - at : BLOCK;
		memcpy(block, m->pcm.p + at * 2, k * 2);
		err = convert(c, p, block, k, false);
	}
	if (err)
		stop(c, p, MEDIA_REASON_BAD_REQUEST, 0);
}

void call_say_end(struct call *c, const struct media_say_end *m)
{
	struct playback *p = by_id(c, m->playback);
	struct cmd cmd = {.type = CMD_LANE_END};
	int16_t none = 0;

	if (!p || p->ended)
		return;
	p->ended = true;
	if (convert(c, p, &none, 0, true)) {
		stop(c, p, MEDIA_REASON_BAD_REQUEST, 0);
		return;
	}
	cmd.lane.playback = p->lane;
	call_cmd(c, &cmd);
}

void call_say_claim(struct call *c, const struct media_say_claim *m)
{
	struct playback *p = by_id(c, m->playback);

	if (!p) {
		tell_stopped(c, m->playback, 0, MEDIA_REASON_BAD_REQUEST);
		return;
	}
	p->claimed = true;
	tell_credit(c, p, true);
}

void call_say_do(struct call *c, uint32_t playback, enum sender_command what, uint16_t target,
		 uint16_t fade_ms)
{
	struct playback *p = by_id(c, playback);

	if (!p)
		return;
	if (what == SENDER_STOP) {
		stop(c, p, MEDIA_REASON_STOPPED, fade_ms);
		return;
	}
	if (what == SENDER_RESUME)
		p->paused = false;
	lane_do(c, p, what, target, fade_ms);
}

void call_unclaim(struct call *c)
{
	for (unsigned i = 0; i < SENDER_LANES; i++)
		if (c->playbacks[i])
			c->playbacks[i]->claimed = false;
}

void call_stop_unclaimed(struct call *c)
{
	for (unsigned i = 0; i < SENDER_LANES; i++)
		if (c->playbacks[i] && !c->playbacks[i]->claimed)
			stop(c, c->playbacks[i], MEDIA_REASON_ORPHANED, 0);
}

/* ---- what the audio thread tells ---- */

/* lane: why the line stopped it by itself, NONE when it did not say. */
static enum media_reason why_over(const struct call *c, const struct playback *p,
				  enum media_reason lane)
{
	if (c->leaving)
		return MEDIA_REASON_CALL_ENDED;
	if (p->why != MEDIA_REASON_NONE)
		return p->why;
	/* It was given more than it holds. */
	return lane != MEDIA_REASON_NONE ? lane : MEDIA_REASON_OVERFLOW;
}

static void over(struct call *c, struct playback *p, bool drained, enum media_reason lane)
{
	struct media_msg msg = {.type = MEDIA_SAY_DRAINED};
	enum media_reason why = why_over(c, p, lane);

	if (drained && p->id) {
		msg.say_drained.playback = p->id;
		msg.say_drained.samples = heard_of(p);
		call_out(c, &msg, 0);
	} else if (!drained) {
		tell_stopped(c, p->id, heard_of(p), why);
	}
	forget(c, p);
}

static void started(struct call *c, const struct playback *p, uint64_t at)
{
	struct media_msg msg = {.type = MEDIA_SAY_STARTED};

	msg.say_started.playback = p->id;
	msg.say_started.at = at;
	if (p->id)
		call_out(c, &msg, 0);
}

static void paused(struct call *c, struct playback *p)
{
	struct media_msg msg = {.type = MEDIA_SAY_PAUSED};

	p->paused = true;
	msg.say_paused.playback = p->id;
	msg.say_paused.samples = heard_of(p);
	if (p->id)
		call_out(c, &msg, 0);
}

void say_event(struct call *c, const struct ev *ev)
{
	struct playback *p = by_lane(c, ev->lane.playback);

	if (!p)
		return;
	p->sent = ev->lane.samples;
	if (ev->type == EV_LANE_PROGRESS) {
		p->pulled = ev->lane.pulled;
		tell_credit(c, p, false);
		return;
	}
	switch (ev->lane.what) {
	case SENDER_STARTED:
		started(c, p, ev->lane.at);
		break;
	case SENDER_PAUSED:
		paused(c, p);
		break;
	case SENDER_DRAINED:
		over(c, p, true, MEDIA_REASON_NONE);
		break;
	case SENDER_STOPPED:
		over(c, p, false, ev->lane.reason);
		break;
	default:
		break;
	}
}

/* Called with the statistics, every few seconds. */
void say_check_starved(struct call *c)
{
	uint64_t now = env_now(c->conf.env);

	for (unsigned i = 0; i < SENDER_LANES; i++) {
		struct playback *p = c->playbacks[i];

		if (p && !p->ended && !p->paused && heard_of(p) >= p->written &&
		    now - p->written_at > STARVED_S * NS_PER_S)
			stop(c, p, MEDIA_REASON_STARVED, 0);
	}
}

void say_tell_all(struct call *c)
{
	for (unsigned i = 0; i < SENDER_LANES; i++) {
		struct media_msg msg = {.type = MEDIA_SAY_STATE};
		struct playback *p = c->playbacks[i];

		if (!p || !p->id || p->why != MEDIA_REASON_NONE)
			continue;
		msg.say_state.playback = p->id;
		msg.say_state.samples = heard_of(p);
		msg.say_state.rate = p->rate;
		msg.say_state.paused = p->paused;
		call_out(c, &msg, 0);
	}
}

void say_free(struct call *c)
{
	for (unsigned i = 0; i < SENDER_LANES; i++)
		c->playbacks[i] = playback_free(c->playbacks[i]);
}
