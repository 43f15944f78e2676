#include "control/agent/sound_output.h"

#include <errno.h>
#include <stdlib.h>

#include "control/media/media.h"
#include "control/room/room.h"

struct sound_output {
	struct media_call *call;
	sound_output_h *h;
	void *arg;
	uint32_t turn, chunk;
	struct media_playback *pb; /* NULL: nothing plays */
};

static void take_event(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
		       unsigned reason, uint64_t at_ns, void *arg)
{
	struct sound_output *o = arg;

	(void)samples, (void)reason, (void)at_ns;
	if (pb != o->pb || (ev != MEDIA_PB_DRAINED && ev != MEDIA_PB_STOPPED))
		return;
	o->pb = media_playback_free(pb);
	o->h(o->turn, o->chunk, o->arg);
}

int sound_output_play(struct sound_output *o, uint32_t turn, uint32_t chunk, const int16_t *pcm,
		      size_t n)
{
	struct media_playback *pb = NULL;
	int err = media_playback_prepare(&pb, o->call, SOUND_OUTPUT_RATE, take_event, o);

	if (!err)
		err = media_playback_write(pb, pcm, n);
	if (!err)
		err = media_playback_start(pb);
	if (err) {
		media_playback_free(pb);
		return err;
	}
	sound_output_stop(o, 0);
	o->pb = pb;
	o->turn = turn;
	o->chunk = chunk;
	media_playback_end(pb);
	return 0;
}

void sound_output_do(struct sound_output *o, const struct room_effect *e)
{
	if (!o->pb || o->turn != e->turn)
		return;
	switch (e->type) {
	case ROOM_DO_SAY_PAUSE:
		media_playback_pause(o->pb, (uint16_t)e->ms);
		break;
	case ROOM_DO_SAY_RESUME:
		media_playback_resume(o->pb, (uint16_t)e->ms);
		break;
	case ROOM_DO_SAY_GAIN:
		media_playback_gain(o->pb, (uint16_t)e->gain, (uint16_t)e->ms);
		break;
	default:
		break;
	}
}

void sound_output_stop(struct sound_output *o, uint16_t fade_ms)
{
	struct media_playback *pb = o->pb;

	if (!pb)
		return;
	o->pb = NULL;
	media_playback_stop(pb, fade_ms);
	media_playback_free(pb);
}

int sound_output_alloc(struct sound_output **out, struct media_call *call, sound_output_h *h,
		       void *arg)
{
	struct sound_output *o;

	if (!out || !h)
		return EINVAL;
	o = calloc(1, sizeof *o);
	if (!o)
		return ENOMEM;
	o->call = call;
	o->h = h;
	o->arg = arg;
	*out = o;
	return 0;
}

struct sound_output *sound_output_free(struct sound_output *o)
{
	if (!o)
		return NULL;
	media_playback_free(o->pb);
	free(o);
	return NULL;
}
