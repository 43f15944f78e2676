#include <errno.h>
#include <stdlib.h>

#include "control/media/call.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"

/* Providers generate several times faster than an answer plays, and their longest answers last more
 * than 200 s. */
enum { BACKLOG_S = 300, FRAMES_PER_S = 25, INHERITED_FADE_MS = 60, INHERITED_RISE_MS = 400 };

struct media_playback *media_playback_find(struct media_call *call, uint32_t id)
{
	for (struct media_playback *pb = call->playbacks; pb; pb = pb->next)
		if (pb->opened && pb->id == id && !pb->over)
			return pb;
	return NULL;
}

/* A message about pb; the head is filled in here. */
static int send_about(struct media_playback *pb, struct media_msg *msg)
{
	if (!pb->call || !pb->call->open)
		return ENOTCONN;
	msg->say_end.playback = pb->id; /* every say message begins with the same head */
	return media_call_send(pb->call, msg);
}

static void drop_backlog(struct media_playback *pb)
{
	free(pb->pcm);
	pb->pcm = NULL;
	pb->start = pb->len = pb->kept = pb->cap = 0;
}

static void unlink_playback(struct media_call *call, struct media_playback *pb)
{
	for (struct media_playback **at = call ? &call->playbacks : NULL; at && *at;
	     at = &(*at)->next)
		if (*at == pb) {
			*at = pb->next;
			break;
		}
}

/* Nobody else holds an inherited one. The call's handler learns how it ended. */
static void finish_inherited(struct media_call *call, struct media_playback *pb,
			     enum media_playback_event ev, unsigned reason)
{
	struct media_msg msg = {.type = MEDIA_SAY_DRAINED,
				.say_drained = {.playback = pb->id, .samples = pb->left}};

	if (ev != MEDIA_PB_DRAINED)
		msg = (struct media_msg){.type = MEDIA_SAY_STOPPED,
					 .say_stopped = {.playback = pb->id,
							 .samples = pb->left,
							 .reason = (uint8_t)reason}};
	log_info("playback_inherited", "guild=%llu end=%s", (unsigned long long)call->want.guild,
		 ev == MEDIA_PB_DRAINED ? "drained" : media_reason_name(reason));
	unlink_playback(call, pb);
	free(pb);
	if (call->h)
		call->h(call, &msg, call->arg);
}

/* The last event. The handler may free pb. */
static void finish(struct media_call *call, struct media_playback *pb, enum media_playback_event ev,
		   unsigned reason)
{
	pb->over = true;
	drop_backlog(pb);
	if (pb->inherited) {
		finish_inherited(call, pb, ev, reason);
		return;
	}
	if (pb->h)
		pb->h(pb, ev, pb->left, reason, 0, pb->arg);
}

/* The audio lane is full, or there is no memory for it: a later try may succeed. */
static bool is_passing(int err)
{
	return err == ENOBUFS || err == ENOMEM;
}

/* False when the audio lane takes no more: try again soon. */
static bool pump(struct media_playback *pb)
{
	size_t most = pb->rate / FRAMES_PER_S;

	if (!pb->opened || pb->over || pb->stopping || pb->lost_at)
		return true;
	while (pb->len && pb->sent < pb->credit) {
		size_t n = pb->len < most ? pb->len : most;
		struct media_msg msg = {.type = MEDIA_SAY};
		int err;

		if (n > pb->credit - pb->sent)
			n = (size_t)(pb->credit - pb->sent);
		msg.say.seq = pb->seq;
		msg.say.pcm = (struct slice){(const uint8_t *)(pb->pcm + pb->start), n * 2};
		err = send_about(pb, &msg);
		if (err)
			return !is_passing(err);
		pb->seq++;
		pb->sent += n;
		pb->start += n;
		pb->len -= n;
		pb->kept += n;
	}
	if (pb->ended && !pb->len && !pb->end_sent) {
		struct media_msg msg = {.type = MEDIA_SAY_END};
		int err = send_about(pb, &msg);

		pb->end_sent = !err;
		return !is_passing(err);
	}
	return true;
}

static void pump_soon(struct media_playback *pb)
{
	if (!pump(pb))
		media_wake(pb->call->media, MEDIA_RETRY_MS);
}

int media_playback_prepare(struct media_playback **out, struct media_call *call, uint32_t rate,
			   media_playback_h *h, void *arg)
{
	struct media_playback *pb;

	if (!out || rate < 8000 || rate > 48000)
		return EINVAL;
	pb = calloc(1, sizeof *pb);
	if (!pb)
		return ENOMEM;
	pb->call = call;
	pb->rate = rate;
	pb->gain = 1000;
	pb->h = h;
	pb->arg = arg;
	if (call) {
		pb->next = call->playbacks;
		call->playbacks = pb;
	}
	*out = pb;
	return 0;
}

void media_call_stop_inherited(struct media_call *call)
{
	for (struct media_playback *pb = call->playbacks; pb; pb = pb->next)
		if (pb->inherited)
			media_playback_stop(pb, INHERITED_FADE_MS);
}

bool media_call_plays_inherited(const struct media_call *call)
{
	for (const struct media_playback *pb = call->playbacks; pb; pb = pb->next)
		if (pb->inherited && !pb->over && !pb->stopping)
			return true;
	return false;
}

int media_playback_start(struct media_playback *pb)
{
	struct media_msg msg = {.type = MEDIA_SAY_OPEN,
				.say_open = {.rate = pb->rate, .gain = pb->gain}};
	int err;

	if (!pb->call || !pb->call->open)
		return ENOTCONN;
	pb->id = pb->call->media->next_playback++;
	err = send_about(pb, &msg);
	if (err)
		return err;
	pb->opened = true;
	pb->call->has_spoken = true;
	/* The statements of this control replace those of the one before it. */
	media_call_stop_inherited(pb->call);
	pump_soon(pb);
	return 0;
}

int media_playback_open(struct media_playback **out, struct media_call *call, uint32_t rate,
			media_playback_h *h, void *arg)
{
	struct media_playback *pb;
	int err;

	if (!out || !call)
		return EINVAL;
	err = media_playback_prepare(&pb, call, rate, h, arg);
	if (err)
		return err;
	err = media_playback_start(pb);
	if (err) {
		media_playback_free(pb);
		return err;
	}
	*out = pb;
	return 0;
}

static int make_room(struct media_playback *pb, size_t n)
{
	size_t cap = pb->cap ? pb->cap : pb->rate;
	size_t first = pb->start - pb->kept;
	int16_t *bigger;

	if (first && pb->start + pb->len + n > pb->cap) {
		memmove(pb->pcm, pb->pcm + first, (pb->kept + pb->len) * sizeof *pb->pcm);
		pb->start = pb->kept;
	}
	if (pb->start + pb->len + n <= pb->cap)
		return 0;
	while (cap < pb->kept + pb->len + n)
		cap *= 2;
	bigger = realloc(pb->pcm, cap * sizeof *pb->pcm);
	if (!bigger)
		return ENOMEM;
	pb->pcm = bigger;
	pb->cap = cap;
	return 0;
}

int media_playback_write(struct media_playback *pb, const int16_t *pcm, size_t n)
{
	int err;

	if (pb->over || pb->stopping || pb->ended)
		return EPIPE;
	if (!n)
		return 0;
	if (n > (size_t)pb->rate * BACKLOG_S - pb->len)
		return ENOBUFS;
	err = make_room(pb, n);
	if (err)
		return err;
	memcpy(pb->pcm + pb->start + pb->len, pcm, n * sizeof *pcm);
	pb->len += n;
	pb->written += n;
	pump_soon(pb);
	return 0;
}

void media_playback_end(struct media_playback *pb)
{
	if (pb->over || pb->stopping || pb->ended)
		return;
	pb->ended = true;
	pump_soon(pb);
}

void media_playback_pause(struct media_playback *pb, uint16_t fade_ms)
{
	struct media_msg msg = {.type = MEDIA_SAY_PAUSE, .say_pause = {.fade_ms = fade_ms}};

	pb->paused = true;
	if (!pb->over && !pb->stopping)
		send_about(pb, &msg);
}

void media_playback_resume(struct media_playback *pb, uint16_t fade_ms)
{
	struct media_msg msg = {.type = MEDIA_SAY_RESUME, .say_resume = {.fade_ms = fade_ms}};

	pb->paused = false;
	if (!pb->over && !pb->stopping)
		send_about(pb, &msg);
}

void media_playback_gain(struct media_playback *pb, uint16_t gain, uint16_t fade_ms)
{
	struct media_msg msg = {.type = MEDIA_SAY_GAIN,
				.say_gain = {.target = gain, .fade_ms = fade_ms}};

	pb->gain = gain;
	if (!pb->over && !pb->stopping)
		send_about(pb, &msg);
}

static void send_stop(struct media_playback *pb)
{
	struct media_msg msg = {.type = MEDIA_SAY_STOP, .say_stop = {.fade_ms = pb->stop_fade_ms}};

	send_about(pb, &msg);
}

void media_playback_stop(struct media_playback *pb, uint16_t fade_ms)
{
	if (!pb->opened || pb->over || pb->stopping)
		return;
	pb->stopping = true;
	pb->stop_fade_ms = fade_ms;
	drop_backlog(pb);
	send_stop(pb);
}

uint64_t media_playback_written(const struct media_playback *pb)
{
	return pb->written;
}

struct media_playback *media_playback_free(struct media_playback *pb)
{
	if (!pb)
		return NULL;
	media_playback_stop(pb, 0);
	unlink_playback(pb->call, pb);
	free(pb->pcm);
	free(pb);
	return NULL;
}

/* samples: as the present mediad counts. */
static void left(struct media_playback *pb, uint64_t samples)
{
	if (pb->base + samples > pb->left)
		pb->left = pb->base + samples;
}

/* The first credit is a window; its rise since then is what was taken for sending to Discord. */
static void take_credit(struct media_playback *pb, uint64_t samples)
{
	uint64_t taken;

	if (!pb->window)
		pb->window = samples;
	taken = pb->base + samples - pb->window;
	if (pb->base + samples > pb->credit)
		pb->credit = pb->base + samples;
	if (taken < pb->sent && pb->sent - taken < pb->kept)
		pb->kept = (size_t)(pb->sent - taken);
	else if (taken >= pb->sent)
		pb->kept = 0;
	pump_soon(pb);
}

/* What waited in a connection that broke did not reach the mediad, although it had been sent. */
static void compare_state(struct media_playback *pb, const struct media_say_state *s)
{
	uint64_t has = s->written == UINT64_MAX ? pb->sent : pb->base + s->written;

	left(pb, s->samples);
	pb->reported = true;
	pb->unsent = has < pb->sent ? pb->sent - has : 0;
	pb->end_sent = pb->end_sent && s->ended;
}

void media_playback_message(struct media_playback *pb, const struct media_msg *msg)
{
	switch (msg->type) {
	case MEDIA_SAY_CREDIT:
		take_credit(pb, msg->say_credit.samples);
		break;
	case MEDIA_SAY_STARTED:
		if (pb->started)
			break; /* by the mediad before */
		pb->started = true;
		if (pb->h)
			pb->h(pb, MEDIA_PB_STARTED, pb->left, 0, msg->say_started.at, pb->arg);
		break;
	case MEDIA_SAY_PAUSED:
		left(pb, msg->say_paused.samples);
		if (pb->paused && pb->h) /* else it crossed SAY_RESUME */
			pb->h(pb, MEDIA_PB_PAUSED, pb->left, 0, 0, pb->arg);
		break;
	case MEDIA_SAY_DRAINED:
		left(pb, msg->say_drained.samples);
		finish(pb->call, pb, MEDIA_PB_DRAINED, 0);
		break;
	case MEDIA_SAY_STOPPED:
		left(pb, msg->say_stopped.samples);
		finish(pb->call, pb, MEDIA_PB_STOPPED, msg->say_stopped.reason);
		break;
	case MEDIA_SAY_STATE:
		compare_state(pb, &msg->say_state);
		break;
	default:
		break;
	}
}

void media_playback_inherit(struct media_call *call, const struct media_msg *msg)
{
	const struct media_say_state *s = &msg->say_state;
	struct media_playback *pb = NULL;

	/* A call that was left and joined again while mediad was away is another one here, and the
	 * same there: what this control said in it before is over. */
	if (call->has_spoken || s->playback - call->media->first_playback <
					call->media->next_playback - call->media->first_playback)
		return;
	if (msg->type == MEDIA_SAY_STATE) {
		pb = calloc(1, sizeof *pb);
		if (!pb)
			return; /* it stops unclaimed */
		*pb = (struct media_playback){.next = call->playbacks,
					      .call = call,
					      .id = s->playback,
					      .rate = s->rate,
					      .gain = 1000,
					      .left = s->samples,
					      .opened = true,
					      .inherited = true,
					      .reported = true,
					      .ended = true,
					      .end_sent = s->ended,
					      .lost_at = env_now(call->media->env)};
		call->playbacks = pb;
	} else if (msg->type != MEDIA_SAY_DRAINED && msg->type != MEDIA_SAY_STOPPED) {
		return;
	}
	if (call->h)
		call->h(call, msg, call->arg);
}

/* The mediad is synced, and nobody will end this playback: it was being stopped, or is none of ours
 * to open again, or the mediad kept the call without it. A mediad that never gave credit was never
 * told of it: the connection broke before. */
static bool is_gone(const struct media_playback *pb)
{
	return !pb->reported &&
	       (pb->stopping || pb->inherited || (pb->call->reported && pb->window));
}

/* One that was reported again waits for SYNCED, or for the loss of its mediad. */
static bool is_lost_too_long(const struct media_playback *pb, uint64_t now)
{
	return !pb->reported && now >= pb->lost_at + MEDIA_RESUME_MS * NS_PER_MS;
}

/* Handlers may free any playback: begin anew after each. */
static bool finish_one_lost(struct media_call *call, bool synced, uint64_t now)
{
	for (struct media_playback *pb = call->playbacks; pb; pb = pb->next) {
		if (pb->over || !pb->lost_at)
			continue;
		if (synced ? is_gone(pb) : is_lost_too_long(pb, now)) {
			finish(call, pb, MEDIA_PB_STOPPED, MEDIA_REASON_CONNECTION_LOST);
			return true;
		}
	}
	return false;
}

/* Moves the newest n of the samples that were sent back to those that wait. */
static void send_again(struct media_playback *pb, size_t n)
{
	pb->start -= n;
	pb->len += n;
	pb->sent -= n;
	pb->kept -= n;
}

/* A mediad that never had this playback continues it at the sample that was due. */
static void reopen(struct media_playback *pb)
{
	struct media_msg msg = {.type = MEDIA_SAY_OPEN,
				.say_open = {.rate = pb->rate, .gain = pb->gain}};

	send_again(pb, pb->kept);
	pb->base = pb->credit = pb->sent;
	if (pb->left < pb->base)
		pb->left = pb->base;
	pb->window = pb->seq = 0;
	pb->end_sent = false;
	pb->lost_at = 0;
	pb->id = pb->call->media->next_playback++;
	send_about(pb, &msg);
	if (pb->paused)
		media_playback_pause(pb, 0);
	log_info("playback_continued", "guild=%llu at_ms=%llu",
		 (unsigned long long)pb->call->want.guild,
		 (unsigned long long)(pb->base * 1000 / pb->rate));
}

static void claim(struct media_playback *pb)
{
	struct media_msg msg = {.type = MEDIA_SAY_CLAIM};
	uint16_t fade_ms;

	pb->lost_at = 0;
	send_again(pb, pb->unsent < pb->kept ? (size_t)pb->unsent : pb->kept);
	send_about(pb, &msg);
	/* Wishes from the time without a connection. A playback that the control before us had
	 * lowered or paused comes back slowly. */
	fade_ms = pb->inherited ? INHERITED_RISE_MS : 0;
	media_playback_gain(pb, pb->gain, fade_ms);
	if (pb->paused)
		media_playback_pause(pb, 0);
	else
		media_playback_resume(pb, fade_ms);
	if (pb->stopping)
		send_stop(pb);
}

void media_playbacks_synced(struct media_call *call)
{
	while (finish_one_lost(call, true, 0))
		;
	for (struct media_playback *pb = call->playbacks; pb; pb = pb->next) {
		if (pb->over || !pb->lost_at)
			continue;
		if (pb->reported)
			claim(pb);
		else
			reopen(pb);
	}
	media_wake(call->media, 0);
}

void media_playbacks_lost(struct media_call *call, uint64_t now)
{
	for (struct media_playback *pb = call->playbacks; pb; pb = pb->next) {
		if (!pb->opened || pb->over)
			continue;
		if (!pb->lost_at)
			pb->lost_at = now;
		pb->reported = false;
	}
	if (call->playbacks)
		media_wake(call->media, MEDIA_RESUME_MS);
}

bool media_has_unsent(const struct media *m)
{
	for (const struct media_call *c = m->calls; c; c = c->next)
		for (const struct media_playback *pb = c->playbacks; pb; pb = pb->next)
			if (pb->opened && !pb->over && !pb->stopping && !pb->end_sent)
				return true;
	return false;
}

void media_playbacks_detach(struct media_call *call)
{
	while (call->playbacks) {
		struct media_playback *pb = call->playbacks;

		call->playbacks = pb->next;
		pb->next = NULL;
		pb->call = NULL;
		pb->over = true;
		drop_backlog(pb);
		if (pb->inherited)
			free(pb);
	}
}

bool media_playbacks_tick(struct media_call *call, uint64_t now)
{
	bool again = false;

	while (finish_one_lost(call, false, now))
		;
	for (struct media_playback *pb = call->playbacks; pb; pb = pb->next) {
		if (pb->lost_at && !pb->over)
			again = true;
		else if (!pump(pb))
			again = true;
	}
	return again;
}
