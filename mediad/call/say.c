#include "mediad/call/call_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "proto/base/not_cleared.h"
#include "proto/base/time.h"

enum {
	BLOCK = 960,	   /* input samples converted per call */
	WINDOW_MS = 60000, /* credit beyond the samples pulled for sending: an answer goes on to its
			      end without control, when control has received it */
	SHORT_WINDOW_MS = 1000, /* the same, while other backlogs may fill BACKLOG_ALL_MAX */
	LANE_AHEAD = 48000, /* samples in a lane that are not pulled yet; a lane holds twice that */
	STARVED_S = 30,	    /* an open playback without audio for so long is stopped */
};

static struct playback *find_by_id(struct call *c, uint32_t id)
{
	for (unsigned i = 0; id && i < SENDER_LANES; i++)
		if (c->playbacks[i] && c->playbacks[i]->id == id)
			return c->playbacks[i];
	return NULL;
}

static struct playback *find_by_lane(struct call *c, uint32_t lane)
{
	for (unsigned i = 0; i < SENDER_LANES; i++)
		if (c->playbacks[i] && c->playbacks[i]->lane == lane)
			return c->playbacks[i];
	return NULL;
}

static void choose_window(struct playback *p)
{
	uint64_t bytes = (uint64_t)p->rate * WINDOW_MS / 1000 * sizeof(int16_t);

	p->window_ms = backlog_reserve(&p->backlog, bytes) ? WINDOW_MS : SHORT_WINDOW_MS;
}

static struct playback *playback_free(struct playback *p)
{
	if (p) {
		resample_free(p->resample);
		backlog_clear(&p->backlog);
		backlog_release(&p->backlog);
	}
	free(p);
	return NULL;
}

static void remove_playback(struct call *c, struct playback *p)
{
	call_forget_owed_lane(c, p->lane);
	for (unsigned i = 0; i < SENDER_LANES; i++) {
		if (c->playbacks[i] != p)
			continue;
		c->playbacks[i] = playback_free(p);
		return;
	}
}

static void send_stopped(struct call *c, uint32_t id, uint64_t samples, enum media_reason why)
{
	struct media_msg msg = {.type = MEDIA_SAY_STOPPED};

	msg.say_stopped.playback = id;
	msg.say_stopped.samples = samples;
	msg.say_stopped.reason = (uint16_t)why;
	if (id)
		call_send(c, &msg, 0);
}

static void send_drained(struct call *c, uint32_t id, uint64_t samples)
{
	struct media_msg msg = {.type = MEDIA_SAY_DRAINED};

	msg.say_drained.playback = id;
	msg.say_drained.samples = samples;
	if (id)
		call_send(c, &msg, 0);
}

static void send_end(struct call *c, uint32_t id, uint64_t samples, enum media_reason why)
{
	if (why == MEDIA_REASON_NONE)
		send_drained(c, id, samples);
	else
		send_stopped(c, id, samples, why);
}

/* Repeats how a playback ended. Returns false when that is not known any more. */
static bool send_past_end(struct call *c, uint32_t id)
{
	for (unsigned i = 0; id && i < PLAYBACKS_OVER; i++) {
		if (c->over[i].id != id)
			continue;
		send_end(c, id, c->over[i].samples, c->over[i].why);
		return true;
	}
	return false;
}

/* Sends the credit: the samples pulled for sending plus a window. It goes on after the last sample
 * was written: it tells control where another mediad would continue. */
static void send_credit(struct call *c, struct playback *p, bool again)
{
	struct media_msg msg = {.type = MEDIA_SAY_CREDIT};
	uint64_t credit = resample_scale(p->pulled, p->rate, LANE_RATE) +
			  (uint64_t)p->rate * p->window_ms / 1000;

	if (!p->id || p->why != MEDIA_REASON_NONE || (credit <= p->credit && !again))
		return;
	p->credit = credit;
	msg.say_credit.playback = p->id;
	msg.say_credit.samples = credit;
	call_send(c, &msg, 0);
}

static uint64_t played_samples(const struct playback *p)
{
	return resample_input_of(p->resample, p->sent);
}

static void control_lane(struct call *c, struct playback *p, enum sender_command what,
			 uint16_t target, uint16_t fade_ms)
{
	struct cmd cmd = {.type = CMD_LANE_CONTROL};

	cmd.lane.playback = p->lane;
	cmd.lane.what = what;
	cmd.lane.target = target;
	cmd.lane.fade_ms = fade_ms;
	call_command(c, &cmd);
}

/* Stops a playback. SAY_STOPPED follows once the lane has returned. The first reason counts. */
static void stop_playback(struct call *c, struct playback *p, enum media_reason why,
			  uint16_t fade_ms)
{
	if (p->why == MEDIA_REASON_NONE)
		p->why = why;
	p->ended = true;
	backlog_clear(&p->backlog);
	control_lane(c, p, SENDER_STOP, 0, fade_ms);
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
	choose_window(p);
	err = resample_alloc(&p->resample, m->rate, LANE_RATE);
	if (!err)
		err = lane_alloc(&cmd.lane.lane, p->lane, m->gain);
	if (err) {
		playback_free(p);
		return err;
	}
	if (!call_command(c, &cmd)) {
		playback_free(p);
		return ENOMEM;
	}
	*out = p;
	return 0;
}

void call_say_open(struct call *c, const struct media_say_open *m)
{
	struct playback *old = find_by_id(c, m->playback);
	unsigned i = 0;

	/* The id belonged to another control, so the end of that playback is not reported. */
	if (old && !old->claimed) {
		old->id = 0;
		stop_playback(c, old, MEDIA_REASON_ORPHANED, 0);
		old = NULL;
	}
	if (old)
		return;
	while (i < SENDER_LANES && c->playbacks[i])
		i++;
	if (!m->playback || c->leaving || i == SENDER_LANES || m->rate < 8000 || m->rate > 48000 ||
	    playback_alloc(&c->playbacks[i], c, m)) {
		send_stopped(c, m->playback, 0, MEDIA_REASON_BAD_REQUEST);
		return;
	}
	send_credit(c, c->playbacks[i], false);
}

/* Returns ENOMEM when audio was lost. */
static int send_pcm(struct call *c, struct playback *p, const int16_t *pcm, size_t n)
{
	struct cmd cmd = {.type = CMD_LANE_PCM};

	cmd.lane.playback = p->lane;
	while (n) {
		cmd.lane.n = (uint16_t)(n < ENTRY_PCM ? n : ENTRY_PCM);
		cmd.lane.pcm = pcm;
		if (!call_command(c, &cmd))
			return ENOMEM;
		pcm += cmd.lane.n;
		n -= cmd.lane.n;
		p->laned += cmd.lane.n;
	}
	return 0;
}

/* Resamples and sends one block of at most BLOCK samples. A playback that loses audio stops instead
 * of going on with a hole. */
static int convert_block(struct call *c, struct playback *p, const int16_t *in, size_t n, bool end)
{
	int16_t out[BLOCK * 6 + 2048] NOT_CLEARED;
	size_t made;
	int err = resample_run(p->resample, in, n, end, out, sizeof out / sizeof *out, &made);

	return err ? err : send_pcm(c, p, out, made);
}

static enum media_reason failure_reason(int err)
{
	return err == ENOMEM ? MEDIA_REASON_OVERFLOW : MEDIA_REASON_BAD_REQUEST;
}

static void end_lane(struct call *c, struct playback *p)
{
	struct cmd cmd = {.type = CMD_LANE_END};
	int16_t none = 0;
	int err = convert_block(c, p, &none, 0, true);

	p->lane_ended = true;
	if (err) {
		stop_playback(c, p, failure_reason(err), 0);
		return;
	}
	cmd.lane.playback = p->lane;
	call_command(c, &cmd);
}

/* Moves audio from the backlog to the lane, as far as the lane has room. */
static void feed_lane(struct call *c, struct playback *p)
{
	int16_t block[BLOCK] NOT_CLEARED;
	size_t n;
	int err;

	while (p->why == MEDIA_REASON_NONE && p->laned < p->pulled + LANE_AHEAD &&
	       (n = backlog_take(&p->backlog, block, BLOCK)) > 0) {
		err = convert_block(c, p, block, n, false);
		if (err)
			stop_playback(c, p, failure_reason(err), 0);
	}
	if (p->why == MEDIA_REASON_NONE && p->ended && !p->lane_ended && !p->backlog.n)
		end_lane(c, p);
}

void call_say(struct call *c, const struct media_say *m)
{
	struct playback *p = find_by_id(c, m->playback);
	size_t n = m->pcm.n / 2;

	if (!p || p->why != MEDIA_REASON_NONE)
		return; /* the audio is late */
	if (m->pcm.n % 2 || p->ended) {
		stop_playback(c, p, MEDIA_REASON_BAD_REQUEST, 0);
		return;
	}
	if (p->written + n > p->credit || backlog_append(&p->backlog, m->pcm.p, n)) {
		stop_playback(c, p, MEDIA_REASON_OVERFLOW, 0);
		return;
	}
	p->written += n;
	p->written_at = env_now(c->conf.env);
	feed_lane(c, p);
}

void call_say_end(struct call *c, const struct media_say_end *m)
{
	struct playback *p = find_by_id(c, m->playback);

	if (!p || p->ended)
		return;
	p->ended = true;
	feed_lane(c, p);
}

void call_say_claim(struct call *c, const struct media_say_claim *m)
{
	struct playback *p = find_by_id(c, m->playback);

	if (!p) {
		if (!send_past_end(c, m->playback))
			send_stopped(c, m->playback, 0, MEDIA_REASON_BAD_REQUEST);
		return;
	}
	p->claimed = true;
	send_credit(c, p, true);
}

void call_say_control(struct call *c, uint32_t playback, enum sender_command what, uint16_t target,
		      uint16_t fade_ms)
{
	struct playback *p = find_by_id(c, playback);

	if (!p)
		return;
	if (what == SENDER_STOP) {
		stop_playback(c, p, MEDIA_REASON_STOPPED, fade_ms);
		return;
	}
	if (what == SENDER_PAUSE)
		p->pausing = true;
	if (what == SENDER_RESUME)
		p->pausing = p->paused = false;
	control_lane(c, p, what, target, fade_ms);
}

void say_unclaim_all(struct call *c)
{
	for (unsigned i = 0; i < SENDER_LANES; i++)
		if (c->playbacks[i])
			c->playbacks[i]->claimed = false;
}

void call_stop_unclaimed(struct call *c)
{
	for (unsigned i = 0; i < SENDER_LANES; i++)
		if (c->playbacks[i] && !c->playbacks[i]->claimed)
			stop_playback(c, c->playbacks[i], MEDIA_REASON_ORPHANED, 0);
	music_stop_unclaimed(c);
	call_video_stop_unclaimed(c);
}

/* ---- events of the audio thread ---- */

/* Returns the reason of an end. lane: why the sender stopped the lane by itself, or NONE. */
static enum media_reason end_reason(const struct call *c, const struct playback *p,
				    enum media_reason lane)
{
	if (c->leaving)
		return MEDIA_REASON_CALL_ENDED;
	if (p->why != MEDIA_REASON_NONE)
		return p->why;
	/* The lane was given more audio than it holds. */
	return lane != MEDIA_REASON_NONE ? lane : MEDIA_REASON_OVERFLOW;
}

static void finish_playback(struct call *c, struct playback *p, bool drained,
			    enum media_reason lane)
{
	enum media_reason why = drained ? MEDIA_REASON_NONE : end_reason(c, p, lane);
	unsigned place = c->n_over++ % PLAYBACKS_OVER;

	send_end(c, p->id, played_samples(p), why);
	c->over[place].id = p->id;
	c->over[place].samples = played_samples(p);
	c->over[place].why = why;
	remove_playback(c, p);
}

static void send_started(struct call *c, const struct playback *p, uint64_t at)
{
	struct media_msg msg = {.type = MEDIA_SAY_STARTED};

	msg.say_started.playback = p->id;
	msg.say_started.at = at;
	if (p->id)
		call_send(c, &msg, 0);
}

static void send_paused(struct call *c, struct playback *p)
{
	struct media_msg msg = {.type = MEDIA_SAY_PAUSED};

	if (!p->pausing)
		return; /* it crossed SAY_RESUME */
	p->paused = true;
	msg.say_paused.playback = p->id;
	msg.say_paused.samples = played_samples(p);
	if (p->id)
		call_send(c, &msg, 0);
}

void say_event(struct call *c, const struct ev *ev)
{
	struct playback *p = find_by_lane(c, ev->lane.playback);

	if (!p)
		return;
	p->sent = ev->lane.samples;
	if (ev->type == EV_LANE_PROGRESS) {
		p->pulled = ev->lane.pulled;
		feed_lane(c, p);
		send_credit(c, p, false);
		return;
	}
	switch (ev->lane.what) {
	case SENDER_STARTED:
		send_started(c, p, ev->lane.at);
		break;
	case SENDER_PAUSED:
		send_paused(c, p);
		break;
	case SENDER_DRAINED:
		finish_playback(c, p, true, MEDIA_REASON_NONE);
		break;
	case SENDER_STOPPED:
		finish_playback(c, p, false, ev->lane.reason);
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

		/* A resampler keeps the last samples for those that would follow, so the samples
		 * of the lane decide. */
		if (p && !p->ended && !p->paused && !p->backlog.n && p->pulled >= p->laned &&
		    now - p->written_at > STARVED_S * NS_PER_S)
			stop_playback(c, p, MEDIA_REASON_STARVED, 0);
	}
}

void say_send_all(struct call *c)
{
	for (unsigned i = 0; i < SENDER_LANES; i++) {
		struct media_msg msg = {.type = MEDIA_SAY_STATE};
		struct playback *p = c->playbacks[i];

		if (!p || !p->id || p->why != MEDIA_REASON_NONE)
			continue;
		msg.say_state.playback = p->id;
		msg.say_state.samples = played_samples(p);
		msg.say_state.rate = p->rate;
		msg.say_state.paused = p->paused;
		msg.say_state.ended = p->ended;
		msg.say_state.written = p->written;
		call_send(c, &msg, 0);
	}
	/* A new control learns how the answers ended that its predecessor began, the oldest first;
	 * one that was away learns how its own ended meanwhile. */
	for (unsigned i = 0; i < PLAYBACKS_OVER; i++) {
		unsigned k = (c->n_over + i) % PLAYBACKS_OVER;

		send_end(c, c->over[k].id, c->over[k].samples, c->over[k].why);
	}
}

void say_free(struct call *c)
{
	for (unsigned i = 0; i < SENDER_LANES; i++)
		c->playbacks[i] = playback_free(c->playbacks[i]);
}
