#include "mediad/audio/music_lane.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"
#include "proto/base/touch.h"

struct music_lane {
	uint32_t id;
	uint64_t length;
	bool equal_power; /* fades follow a sine */
	bool broken;
	struct music_source source;
	struct playout playout;
	int16_t pcm[2 * MUSIC_LANE_CAPACITY]; /* frame k is at k % MUSIC_LANE_CAPACITY */
};

int music_lane_alloc(struct music_lane **out, const struct music_lane_conf *conf)
{
	struct music_lane *l = calloc(1, sizeof *l);

	if (!l)
		return ENOMEM;
	touch_pages(l, sizeof *l);
	l->id = conf->id;
	l->length = conf->length;
	l->source = conf->source;
	l->playout.capacity = MUSIC_LANE_CAPACITY;
	l->playout.start = MUSIC_LANE_START_MS * PLAYOUT_PER_MS;
	l->playout.prebuffer = MUSIC_LANE_PREBUFFER_MS * PLAYOUT_PER_MS;
	l->playout.fade_in = conf->fade_in;
	l->playout.stall = LANE_STALL_MS * NS_PER_MS;
	playout_init(&l->playout, conf->gain);
	*out = l;
	return 0;
}

struct music_lane *music_lane_free(struct music_lane *l)
{
	free(l);
	return NULL;
}

uint32_t music_lane_id(const struct music_lane *l)
{
	return l->id;
}

const struct music_source *music_lane_source(const struct music_lane *l)
{
	return &l->source;
}

struct playout *music_lane_playout(struct music_lane *l)
{
	return &l->playout;
}

int music_lane_write(struct music_lane *l, const int16_t *pcm, size_t n, uint64_t now)
{
	size_t at = (size_t)(l->playout.written % MUSIC_LANE_CAPACITY);
	size_t first = n < MUSIC_LANE_CAPACITY - at ? n : MUSIC_LANE_CAPACITY - at;
	int err = playout_may_write(&l->playout, n);

	if (err)
		return err;
	memcpy(l->pcm + 2 * at, pcm, first * 2 * sizeof *pcm);
	memcpy(l->pcm, pcm + 2 * first, (n - first) * 2 * sizeof *pcm);
	playout_wrote(&l->playout, n, now);
	return 0;
}

void music_lane_break(struct music_lane *l)
{
	l->broken = true;
	playout_stop(&l->playout, 0);
}

bool music_lane_is_broken(const struct music_lane *l)
{
	return l->broken;
}

void music_lane_end(struct music_lane *l)
{
	l->playout.ended = true;
}

uint64_t music_lane_length(const struct music_lane *l)
{
	return l->playout.ended ? l->playout.written : l->length;
}

uint64_t music_lane_left(const struct music_lane *l)
{
	uint64_t end = music_lane_length(l);

	if (!l->length)
		return UINT64_MAX;
	return end > l->playout.pulled ? end - l->playout.pulled : 0;
}

bool music_lane_is_ready(const struct music_lane *l)
{
	return playout_available(&l->playout) >= l->playout.start || l->playout.ended;
}

void music_lane_cross_out(struct music_lane *l, uint32_t fade)
{
	l->equal_power = true;
	playout_stop(&l->playout, fade);
}

void music_lane_cross_in(struct music_lane *l, uint32_t fade)
{
	l->equal_power = true;
	playout_fade_in(&l->playout, fade);
}

/* ---- mixing ---- */

static void add_frame(const struct music_lane *l, uint64_t frame, float gain, float *left,
		      float *right)
{
	const int16_t *pcm = l->pcm + 2 * (frame % MUSIC_LANE_CAPACITY);

	*left += gain * pcm[0];
	*right += gain * pcm[1];
}

static float present_gain(const struct music_lane *l)
{
	float fade = (float)l->playout.fade;

	return l->playout.gain * (l->equal_power ? sinf(fade * (float)M_PI_2) : fade);
}

size_t music_lane_pull(struct music_lane *l, float left[LANE_FRAME], float right[LANE_FRAME],
		       size_t from, uint64_t now)
{
	struct playout *p = &l->playout;
	size_t want = LANE_FRAME - from, n = playout_begin_pull(p, want, now), i = 0;

	if (playout_is_steady(p)) {
		l->equal_power = false;
		for (; i < n; i++)
			add_frame(l, p->pulled + i, p->gain, left + from + i, right + from + i);
	}
	for (; i < n && playout_advance(p); i++)
		add_frame(l, p->pulled + i, present_gain(l), left + from + i, right + from + i);
	playout_end_pull(p, i, want);
	return i;
}
