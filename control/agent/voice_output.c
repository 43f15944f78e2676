#include "control/agent/voice_output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "control/media/media.h"
#include "control/room/room.h"
#include "ipc/log.h"
#include "proto/media.h"

enum { CHUNK = 2048, HELD_MAX = 120 * 2 * ROOM_RATE };

struct voice_output {
	struct media_call *call;
	voice_output_h *h;
	void *arg;

	uint32_t turn; /* 0 = none */
	struct media_playback *pb;
	bool ended, drained;
	bool lost; /* some of its audio was dropped */
	uint8_t *held;
	size_t n, cap;
};

static void clear(struct voice_output *s)
{
	media_playback_free(s->pb);
	free(s->held);
	s->pb = NULL;
	s->held = NULL;
	s->n = s->cap = 0;
	s->turn = 0;
	s->ended = s->drained = s->lost = false;
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
		break;
	case MEDIA_PB_PAUSED:
		return;
	}
	s->h(&out, s->arg);
}

static void write_sound(struct voice_output *s, const uint8_t *pcm, size_t n)
{
	int16_t chunk[CHUNK];

	while (n >= 2 && s->pb) {
		size_t take = n / 2 < CHUNK ? n / 2 : CHUNK;
		int err;

		for (size_t i = 0; i < take; i++)
			chunk[i] = (int16_t)(pcm[2 * i] | pcm[2 * i + 1] << 8);
		err = media_playback_write(s->pb, chunk, take);
		if (err) {
			log_warn("speech_lost", "turn=%u error=\"%s\"", s->turn, strerror(err));
			media_playback_stop(s->pb, 0);
			return;
		}
		pcm += 2 * take;
		n -= 2 * take;
	}
}

static int hold(struct voice_output *s, struct slice pcm)
{
	size_t need = s->n + pcm.n, cap = 2 * s->cap > need ? 2 * s->cap : need;
	uint8_t *grown;

	if (pcm.n > HELD_MAX - s->n)
		return EMSGSIZE;
	if (need > s->cap) {
		grown = realloc(s->held, cap);
		if (!grown)
			return ENOMEM;
		s->held = grown;
		s->cap = cap;
	}
	if (pcm.n)
		memcpy(s->held + s->n, pcm.p, pcm.n);
	s->n = need;
	return 0;
}

static void sound(struct voice_output *s, const struct room_effect *e)
{
	int err;

	if (s->turn != e->turn || s->drained) {
		clear(s);
		s->turn = e->turn;
	}
	if (s->pb) {
		write_sound(s, e->pcm.p, e->pcm.n);
		return;
	}
	err = s->lost ? 0 : hold(s, e->pcm);
	if (!err)
		return;
	log_warn("speech_lost", "turn=%u error=\"%s\"", e->turn, strerror(err));
	s->lost = true;
	s->h(&(struct room_event){.type = ROOM_BRAIN_FAILED,
				  .turn = e->turn,
				  .text = slice_str(strerror(err))},
	     s->arg);
}

static void open_playback(struct voice_output *s, uint32_t turn)
{
	int err = s->turn == turn
			  ? media_playback_open(&s->pb, s->call, ROOM_RATE, playback_event, s)
			  : ENOENT;

	if (err) {
		log_warn("playback_failed", "turn=%u error=\"%s\"", turn, strerror(err));
		s->pb = NULL;
		s->h(&(struct room_event){.type = ROOM_SAY_STOPPED, .turn = turn}, s->arg);
		return;
	}
	write_sound(s, s->held, s->n);
	s->n = 0;
}

static void end(struct voice_output *s)
{
	if (s->ended)
		return;
	s->ended = true;
	media_playback_end(s->pb);
}

/* Effects on a running playback. */
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
	else if (s->turn == e->turn && s->pb)
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
