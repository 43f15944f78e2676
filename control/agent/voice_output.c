#include "control/agent/voice_output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "control/media/media.h"
#include "control/room/room.h"
#include "ipc/log.h"
#include "proto/media.h"

enum { CHUNK = 2048 };

struct voice_output {
	struct media_call *call;
	voice_output_h *h;
	void *arg;

	uint32_t turn;		   /* 0 = none */
	struct media_playback *pb; /* keeps the audio until the room opens it */
	bool open, ended, drained;
	bool lost; /* some of its audio was dropped */
};

static void clear(struct voice_output *s)
{
	media_playback_free(s->pb);
	s->pb = NULL;
	s->turn = 0;
	s->open = s->ended = s->drained = s->lost = false;
}

static void playback_event(struct media_playback *pb, enum media_playback_event ev,
			   uint64_t samples, unsigned reason, uint64_t at_ns, void *arg)
{
	struct voice_output *s = arg;
	struct room_event out = {.turn = s->turn, .samples = samples, .at = at_ns};

	(void)pb;
	switch (ev) {
	case MEDIA_PB_STARTED:
		out.type = ROOM_SAY_STARTED;
		break;
	case MEDIA_PB_DRAINED:
		s->drained = true;
		out.type = ROOM_SAY_DRAINED;
		break;
	case MEDIA_PB_STOPPED:
		if (reason != MEDIA_REASON_STOPPED)
			log_warn("playback_stopped", "turn=%u reason=%s", s->turn,
				 media_reason_name(reason));
		out.type = ROOM_SAY_STOPPED;
		out.yes = reason == MEDIA_REASON_NO_KEY;
		break;
	case MEDIA_PB_PAUSED:
		return;
	}
	s->h(&out, s->arg);
}

static int write_sound(struct voice_output *s, struct slice pcm)
{
	int16_t chunk[CHUNK];
	size_t n = pcm.n / 2;

	for (size_t at = 0; at < n;) {
		size_t take = n - at < CHUNK ? n - at : CHUNK;
		int err;

		for (size_t i = 0; i < take; i++)
			chunk[i] = (int16_t)(pcm.p[2 * (at + i)] | pcm.p[2 * (at + i) + 1] << 8);
		err = media_playback_write(s->pb, chunk, take);
		if (err)
			return err;
		at += take;
	}
	return 0;
}

/* The playback keeps audio that the room has not released yet; it has the only backlog. */
static int keep_sound(struct voice_output *s, struct slice pcm)
{
	int err = 0;

	if (!s->pb)
		err = media_playback_prepare(&s->pb, s->call, ROOM_RATE, playback_event, s);
	return err ? err : write_sound(s, pcm);
}

static void sound(struct voice_output *s, const struct room_effect *e)
{
	int err;

	if (s->turn != e->turn || s->drained) {
		clear(s);
		s->turn = e->turn;
	}
	if (s->lost)
		return;
	err = s->open ? write_sound(s, e->pcm) : keep_sound(s, e->pcm);
	if (!err)
		return;
	log_warn("speech_lost", "turn=%u error=\"%s\"", e->turn, strerror(err));
	if (s->open && err != ENOBUFS) {
		media_playback_stop(s->pb, 0);
		return;
	}
	s->lost = true;
	s->h(&(struct room_event){.type = ROOM_BRAIN_FAILED,
				  .turn = e->turn,
				  .text = slice_str(strerror(err))},
	     s->arg);
}

static void open_playback(struct voice_output *s, uint32_t turn)
{
	int err = s->turn == turn && s->pb ? media_playback_start(s->pb) : ENOENT;

	if (err) {
		log_warn("playback_failed", "turn=%u error=\"%s\"", turn, strerror(err));
		s->pb = media_playback_free(s->pb);
		s->h(&(struct room_event){.type = ROOM_SAY_STOPPED, .turn = turn}, s->arg);
		return;
	}
	s->open = true;
}

static void end(struct voice_output *s)
{
	if (s->ended)
		return;
	s->ended = true;
	media_playback_end(s->pb);
}

/* Of a playback that runs. */
static void adjust(struct voice_output *s, const struct room_effect *e)
{
	switch (e->type) {
	case ROOM_DO_SAY_END:
		end(s);
		break;
	case ROOM_DO_SAY_STOP:
		media_playback_stop(s->pb, (uint16_t)e->ms);
		break;
	case ROOM_DO_SAY_PAUSE:
		media_playback_pause(s->pb, (uint16_t)e->ms);
		break;
	case ROOM_DO_SAY_RESUME:
		media_playback_resume(s->pb, (uint16_t)e->ms);
		break;
	case ROOM_DO_SAY_GAIN:
		media_playback_gain(s->pb, (uint16_t)e->gain, (uint16_t)e->ms);
		break;
	default:
		break;
	}
}

void voice_output_do(struct voice_output *s, const struct room_effect *e)
{
	if (e->type == ROOM_DO_SAY_PCM)
		sound(s, e);
	else if (e->type == ROOM_DO_SAY_OPEN)
		open_playback(s, e->turn);
	else if (s->turn == e->turn && s->open)
		adjust(s, e);
	else if (s->turn == e->turn && e->type == ROOM_DO_SAY_STOP)
		clear(s);
}

void voice_output_over(struct voice_output *s, uint32_t turn)
{
	if (s->turn == turn)
		clear(s);
}

int voice_output_alloc(struct voice_output **out, struct media_call *call, voice_output_h *h,
		       void *arg)
{
	struct voice_output *s;

	if (!out || !h)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->call = call;
	s->h = h;
	s->arg = arg;
	*out = s;
	return 0;
}

struct voice_output *voice_output_free(struct voice_output *s)
{
	if (!s)
		return NULL;
	clear(s);
	free(s);
	return NULL;
}
