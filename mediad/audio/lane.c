#include "mediad/audio/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"
#include "proto/base/touch.h"

enum { PER_MS = LANE_RATE / 1000 };

enum state { BUFFERING, PLAYING, PAUSED, STOPPED, OVER };
enum fade_to { TO_FULL, TO_PAUSE, TO_STOP };

struct lane {
	uint32_t id;
	enum state state;
	bool ended;
	uint64_t written_at; /* when the producer last wrote */
	uint64_t written, pulled, confirmed, sent, started_at;
	bool started_reported, paused_reported;

	enum fade_to fade_to;
	float fade, fade_step; /* 0..1 a sample */
	float gain, gain_target, gain_step;
	float fade_before, gain_before; /* before the last pull */

	int16_t pcm[LANE_CAPACITY]; /* sample k is at k % LANE_CAPACITY */
};

static float gain_of(uint16_t thousandths)
{
	unsigned g = thousandths < LANE_GAIN_MAX ? thousandths : LANE_GAIN_MAX;

	return (float)g / LANE_GAIN_UNITY;
}

int lane_alloc(struct lane **out, uint32_t id, uint16_t gain)
{
	struct lane *l = calloc(1, sizeof *l);

	if (!l)
		return ENOMEM;
	touch_pages(l, sizeof *l);
	l->id = id;
	l->fade = 1;
	l->gain = l->gain_target = gain_of(gain);
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

static size_t count_available(const struct lane *l)
{
	return (size_t)(l->written - l->pulled);
}

size_t lane_room(const struct lane *l)
{
	return LANE_CAPACITY - (size_t)(l->written - l->confirmed);
}

int lane_write(struct lane *l, const int16_t *pcm, size_t n, uint64_t now)
{
	size_t at = (size_t)(l->written % LANE_CAPACITY);
	size_t first = n < LANE_CAPACITY - at ? n : LANE_CAPACITY - at;

	if (l->ended || l->state == STOPPED || l->state == OVER)
		return EPIPE;
	if (n > lane_room(l))
		return ENOBUFS;
	memcpy(l->pcm + at, pcm, first * sizeof *pcm);
	memcpy(l->pcm, pcm + first, (n - first) * sizeof *pcm);
	l->written += n;
	l->written_at = now;
	return 0;
}

void lane_end(struct lane *l)
{
	l->ended = true;
}

/* ---- commands ---- */

static bool is_playing(const struct lane *l)
{
	return l->state == PLAYING;
}

static void begin_fade(struct lane *l, enum fade_to to, uint16_t fade_ms)
{
	l->fade_to = to;
	l->fade_step = fade_ms ? 1.0f / ((float)fade_ms * PER_MS) : 1;
	if (!fade_ms || !is_playing(l))
		lane_finish_fade(l);
}

void lane_finish_fade(struct lane *l)
{
	if (l->state == OVER || l->fade_to == TO_FULL)
		return;
	l->state = l->fade_to == TO_STOP ? STOPPED : PAUSED;
	l->fade_to = TO_FULL;
	l->fade = 0;
}

void lane_pause(struct lane *l, uint16_t fade_ms)
{
	if (l->state == PAUSED || l->state == STOPPED || l->state == OVER || l->fade_to == TO_STOP)
		return;
	l->paused_reported = false;
	begin_fade(l, TO_PAUSE, fade_ms);
}

void lane_resume(struct lane *l, uint16_t fade_ms)
{
	if (l->state != PAUSED && l->fade_to != TO_PAUSE)
		return;
	if (l->state == PAUSED)
		l->state = l->pulled ? PLAYING : BUFFERING;
	l->fade_to = TO_FULL;
	l->fade_step = fade_ms ? 1.0f / ((float)fade_ms * PER_MS) : 1;
	if (!fade_ms || !l->pulled)
		l->fade = 1;
}

void lane_stop(struct lane *l, uint16_t fade_ms)
{
	if (l->state == STOPPED || l->state == OVER)
		return;
	begin_fade(l, TO_STOP, fade_ms);
}

void lane_gain(struct lane *l, uint16_t target, uint16_t fade_ms)
{
	l->gain_target = gain_of(target);
	l->gain_step = (l->gain_target - l->gain) / ((float)fade_ms * PER_MS + 1);
	if (!fade_ms)
		l->gain = l->gain_target;
}

/* ---- mixing ---- */

static float step_toward(float value, float target, float step)
{
	float next = value + step;

	return (step >= 0) == (next >= target) ? target : next;
}

/* Advances gain and fade by one sample and returns their product. */
static float advance_ramps(struct lane *l)
{
	if (l->gain < l->gain_target || l->gain > l->gain_target)
		l->gain = step_toward(l->gain, l->gain_target, l->gain_step);
	if (l->fade_to != TO_FULL)
		l->fade = l->fade > l->fade_step ? l->fade - l->fade_step : 0;
	else if (l->fade < 1)
		l->fade = l->fade + l->fade_step < 1 ? l->fade + l->fade_step : 1;
	return l->gain * l->fade;
}

static bool producer_stalled(const struct lane *l, uint64_t now)
{
	return now - l->written_at >= LANE_STALL_MS * NS_PER_MS;
}

/* Returns how many samples to play now; moves between buffering and playing. */
static size_t count_due(struct lane *l, uint64_t now)
{
	size_t n = count_available(l);
	size_t prebuffer = (l->pulled ? LANE_PREBUFFER_MS : LANE_START_MS) * PER_MS;

	if (l->state == BUFFERING && n && (n >= prebuffer || l->ended || producer_stalled(l, now)))
		l->state = PLAYING;
	if (l->state != PLAYING)
		return 0;
	if (n >= LANE_FRAME)
		return LANE_FRAME;
	if (n && (l->ended || l->fade_to != TO_FULL || producer_stalled(l, now)))
		return n;
	l->state = BUFFERING; /* empty, or a partial frame that is still growing */
	return 0;
}

size_t lane_pull(struct lane *l, float acc[LANE_FRAME], uint64_t now)
{
	size_t n = count_due(l, now), i;

	l->fade_before = l->fade;
	l->gain_before = l->gain;
	for (i = 0; i < n; i++) {
		float g = advance_ramps(l);

		if (l->fade_to != TO_FULL && l->fade <= 0)
			break;
		acc[i] += g * l->pcm[(l->pulled + i) % LANE_CAPACITY];
	}
	l->pulled += i;
	if (l->fade_to != TO_FULL && (l->fade <= 0 || i < LANE_FRAME))
		lane_finish_fade(l);
	return i;
}

void lane_unpull(struct lane *l, size_t n)
{
	l->pulled -= n;
	if (l->state != PLAYING)
		return; /* a pause or stop since then stays in effect */
	l->fade = l->fade_before;
	l->gain = l->gain_before;
}

bool lane_has_audio(const struct lane *l)
{
	return (l->state == BUFFERING || l->state == PLAYING) && count_available(l);
}

void lane_confirm(struct lane *l, size_t n, bool sent, uint64_t now)
{
	l->confirmed += n;
	if (!sent || !n)
		return;
	if (!l->sent)
		l->started_at = now;
	l->sent += n;
}

enum lane_event lane_next_event(struct lane *l)
{
	if (l->state == OVER)
		return LANE_NONE;
	if (l->sent && !l->started_reported) {
		l->started_reported = true;
		return LANE_STARTED;
	}
	if (l->confirmed < l->pulled)
		return LANE_NONE;
	if (l->state == STOPPED) {
		l->state = OVER;
		return LANE_STOPPED;
	}
	if (l->ended && l->pulled == l->written) {
		l->state = OVER;
		return LANE_DRAINED;
	}
	if (l->state == PAUSED && !l->paused_reported) {
		l->paused_reported = true;
		return LANE_PAUSED;
	}
	return LANE_NONE;
}

uint64_t lane_written(const struct lane *l)
{
	return l->written;
}

uint64_t lane_pulled(const struct lane *l)
{
	return l->pulled;
}

uint64_t lane_sent(const struct lane *l)
{
	return l->sent;
}

uint64_t lane_started_at(const struct lane *l)
{
	return l->started_at;
}

bool lane_paused(const struct lane *l)
{
	return l->state == PAUSED;
}
