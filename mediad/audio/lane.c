#include "mediad/audio/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"
#include "proto/base/touch.h"

struct lane {
	uint32_t id;
	struct playout playout;
	int16_t pcm[LANE_CAPACITY]; /* sample k is at k % LANE_CAPACITY */
};

static uint32_t millionths(uint16_t thousandths)
{
	return thousandths * (uint32_t)(PLAYOUT_GAIN_UNITY / LANE_GAIN_UNITY);
}

int lane_alloc(struct lane **out, uint32_t id, uint16_t gain)
{
	struct lane *l = calloc(1, sizeof *l);

	if (!l)
		return ENOMEM;
	touch_pages(l, sizeof *l);
	l->id = id;
	l->playout.capacity = LANE_CAPACITY;
	l->playout.start = LANE_START_MS * PLAYOUT_PER_MS;
	l->playout.prebuffer = LANE_PREBUFFER_MS * PLAYOUT_PER_MS;
	l->playout.stall = LANE_STALL_MS * NS_PER_MS;
	playout_init(&l->playout, millionths(gain));
	*out = l;
	return 0;
}

struct lane *lane_free(struct lane *l)
{
	free(l);
	return NULL;
}

uint32_t lane_id(const struct lane *l)
{
	return l->id;
}

size_t lane_room(const struct lane *l)
{
	return playout_room(&l->playout);
}

int lane_write(struct lane *l, const int16_t *pcm, size_t n, uint64_t now)
{
	size_t at = (size_t)(l->playout.written % LANE_CAPACITY);
	size_t first = n < LANE_CAPACITY - at ? n : LANE_CAPACITY - at;
	int err = playout_may_write(&l->playout, n);

	if (err)
		return err;
	memcpy(l->pcm + at, pcm, first * sizeof *pcm);
	memcpy(l->pcm, pcm + first, (n - first) * sizeof *pcm);
	playout_wrote(&l->playout, n, now);
	return 0;
}

void lane_end(struct lane *l)
{
	l->playout.ended = true;
}

/* ---- commands ---- */

void lane_finish_fade(struct lane *l)
{
	playout_finish_fade(&l->playout);
}

void lane_pause(struct lane *l, uint16_t fade_ms)
{
	playout_pause(&l->playout, fade_ms * (uint32_t)PLAYOUT_PER_MS);
}

void lane_resume(struct lane *l, uint16_t fade_ms)
{
	playout_resume(&l->playout, fade_ms * (uint32_t)PLAYOUT_PER_MS);
}

void lane_stop(struct lane *l, uint16_t fade_ms)
{
	playout_stop(&l->playout, fade_ms * (uint32_t)PLAYOUT_PER_MS);
}

void lane_gain(struct lane *l, uint16_t target, uint16_t fade_ms)
{
	playout_gain(&l->playout, millionths(target), fade_ms * (uint32_t)PLAYOUT_PER_MS);
}

/* ---- mixing ---- */

/* Eight at once, which the compiler vectorizes. */
static void add_scaled(float *acc, const int16_t *pcm, float gain, size_t n)
{
	enum { BLOCK = 8 };
	size_t at = 0;

	for (; at + BLOCK <= n; at += BLOCK)
		for (size_t i = 0; i < BLOCK; i++)
			acc[at + i] += gain * pcm[at + i];
	for (; at < n; at++)
		acc[at] += gain * pcm[at];
}

/* Mixes n samples at one gain, as most are. */
static void mix_steady(const struct lane *l, float acc[LANE_FRAME], size_t n)
{
	const size_t at = (size_t)(l->playout.pulled % LANE_CAPACITY);
	const size_t first = n < LANE_CAPACITY - at ? n : LANE_CAPACITY - at;
	const float gain = l->playout.gain;

	add_scaled(acc, l->pcm + at, gain, first);
	add_scaled(acc + first, l->pcm, gain, n - first);
}

size_t lane_pull(struct lane *l, float acc[LANE_FRAME], uint64_t now)
{
	struct playout *p = &l->playout;
	size_t n = playout_begin_pull(p, LANE_FRAME, now), i = 0;

	if (playout_is_steady(p)) {
		mix_steady(l, acc, n);
		i = n;
	}
	for (; i < n && playout_advance(p); i++)
		acc[i] += p->gain * (float)p->fade * l->pcm[(p->pulled + i) % LANE_CAPACITY];
	playout_end_pull(p, i, LANE_FRAME);
	return i;
}

void lane_unpull(struct lane *l, size_t n)
{
	playout_unpull(&l->playout, n);
}

bool lane_has_audio(const struct lane *l)
{
	return playout_has_audio(&l->playout);
}

void lane_confirm(struct lane *l, size_t n, bool sent, uint64_t now)
{
	playout_confirm(&l->playout, n, sent, now);
}

enum lane_event lane_next_event(struct lane *l)
{
	return playout_next_event(&l->playout);
}

uint64_t lane_written(const struct lane *l)
{
	return l->playout.written;
}

uint64_t lane_pulled(const struct lane *l)
{
	return l->playout.pulled;
}

uint64_t lane_sent(const struct lane *l)
{
	return l->playout.sent;
}

uint64_t lane_started_at(const struct lane *l)
{
	return l->playout.started_at;
}

bool lane_paused(const struct lane *l)
{
	return l->playout.state == PLAYOUT_PAUSED;
}
