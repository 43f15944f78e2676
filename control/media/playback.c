#include <errno.h>
#include <stdlib.h>

#include "control/media/call.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"

enum { BACKLOG_S = 120, FRAMES_PER_S = 25 };

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
	pb->start = pb->len = pb->cap = 0;
}

/* The last event. The handler may free pb. */
static void finish(struct media_playback *pb, enum media_playback_event ev, unsigned reason)
{
	pb->over = true;
	drop_backlog(pb);
	if (pb->h)
		pb->h(pb, ev, pb->left, reason, 0, pb->arg);
}

/* False when the audio lane is full: try again soon. */
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
			return err != ENOBUFS;
		pb->seq++;
		pb->sent += n;
		pb->start += n;
		pb->len -= n;
	}
	if (pb->ended && !pb->len && !pb->end_sent) {
		struct media_msg msg = {.type = MEDIA_SAY_END};
		int err = send_about(pb, &msg);

		pb->end_sent = !err;
		return err != ENOBUFS;
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
	int16_t *bigger;

	if (pb->start && pb->start + pb->len + n > pb->cap) {
		memmove(pb->pcm, pb->pcm + pb->start, pb->len * sizeof *pb->pcm);
		pb->start = 0;
	}
	if (pb->start + pb->len + n <= pb->cap)
		return 0;
	while (cap < pb->len + n)
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
	for (struct media_playback **at = pb->call ? &pb->call->playbacks : NULL; at && *at;
	     at = &(*at)->next)
		if (*at == pb) {
			*at = pb->next;
			break;
		}
	free(pb->pcm);
	free(pb);
	return NULL;
}

static void left(struct media_playback *pb, uint64_t samples)
{
	if (samples > pb->left)
		pb->left = samples;
}

void media_playback_message(struct media_playback *pb, const struct media_msg *msg)
{
	switch (msg->type) {
	case MEDIA_SAY_CREDIT:
		if (msg->say_credit.samples > pb->credit)
			pb->credit = msg->say_credit.samples;
		pump_soon(pb);
		break;
	case MEDIA_SAY_STARTED:
		if (pb->h)
			pb->h(pb, MEDIA_PB_STARTED, pb->left, 0, msg->say_started.at, pb->arg);
		break;
	case MEDIA_SAY_PAUSED:
		left(pb, msg->say_paused.samples);
		if (pb->h)
			pb->h(pb, MEDIA_PB_PAUSED, pb->left, 0, 0, pb->arg);
		break;
	case MEDIA_SAY_DRAINED:
		left(pb, msg->say_drained.samples);
		finish(pb, MEDIA_PB_DRAINED, 0);
		break;
	case MEDIA_SAY_STOPPED:
		left(pb, msg->say_stopped.samples);
		finish(pb, MEDIA_PB_STOPPED, msg->say_stopped.reason);
		break;
	case MEDIA_SAY_STATE:
		left(pb, msg->say_state.samples);
		pb->reported = true;
		break;
	default:
		break;
	}
}

/* Handlers may free any playback: begin anew after each. */
static bool finish_one_lost(struct media_call *call, bool unreported, uint64_t now)
{
	for (struct media_playback *pb = call->playbacks; pb; pb = pb->next) {
		if (pb->over || !pb->lost_at)
			continue;
		if ((unreported && !pb->reported) ||
		    (!unreported && now >= pb->lost_at + MEDIA_ORPHAN_MS * NS_PER_MS)) {
			finish(pb, MEDIA_PB_STOPPED, MEDIA_REASON_CONNECTION_LOST);
			return true;
		}
	}
	return false;
}

void media_playbacks_synced(struct media_call *call)
{
	while (finish_one_lost(call, true, 0))
		;
	for (struct media_playback *pb = call->playbacks; pb; pb = pb->next) {
		struct media_msg msg = {.type = MEDIA_SAY_CLAIM};

		if (pb->over || !pb->lost_at)
			continue;
		pb->lost_at = 0;
		send_about(pb, &msg);
		/* What was wished while nobody could be told. */
		media_playback_gain(pb, pb->gain, 0);
		if (pb->paused)
			media_playback_pause(pb, 0);
		else
			media_playback_resume(pb, 0);
		if (pb->stopping)
			send_stop(pb);
	}
	media_wake(call->media, 0);
}

void media_playbacks_lost(struct media_call *call, uint64_t now)
{
	for (struct media_playback *pb = call->playbacks; pb; pb = pb->next) {
		if (!pb->opened || pb->over)
			continue;
		pb->lost_at = now;
		pb->reported = false;
	}
	if (call->playbacks)
		media_wake(call->media, MEDIA_ORPHAN_MS);
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
