#include "mediad/audio/playout.h"

#include <errno.h>
#include <math.h>

enum { GLIDE_FLOOR = 1000 }; /* a ramp in dB from silence begins at a thousandth */

static float gain_of(uint32_t millionths)
{
	uint32_t g = millionths < PLAYOUT_GAIN_MAX ? millionths : PLAYOUT_GAIN_MAX;

	return (float)g / PLAYOUT_GAIN_UNITY;
}

void playout_init(struct playout *p, uint32_t gain)
{
	playout_fade_in(p, p->fade_in);
	p->gain = p->gain_target = gain_of(gain);
}

/* ---- writing ---- */

size_t playout_room(const struct playout *p)
{
	return p->capacity - (size_t)(p->written - p->confirmed);
}

int playout_may_write(const struct playout *p, size_t n)
{
	if (p->ended || p->state == PLAYOUT_STOPPED || p->state == PLAYOUT_OVER)
		return EPIPE;
	return n > playout_room(p) ? ENOBUFS : 0;
}

void playout_wrote(struct playout *p, size_t n, uint64_t now)
{
	p->written += n;
	p->written_at = now;
}

/* ---- commands ---- */

static double step_of(uint32_t fade)
{
	return fade ? 1.0 / fade : 1;
}

static void begin_fade(struct playout *p, enum fade_to to, uint32_t fade)
{
	p->fade_to = to;
	p->fade_step = step_of(fade);
	if (!fade || p->state != PLAYOUT_PLAYING)
		playout_finish_fade(p);
}

void playout_finish_fade(struct playout *p)
{
	if (p->state == PLAYOUT_OVER || p->fade_to == FADE_TO_FULL)
		return;
	p->state = p->fade_to == FADE_TO_STOP ? PLAYOUT_STOPPED : PLAYOUT_PAUSED;
	p->fade_to = FADE_TO_FULL;
	p->fade = 0;
}

void playout_pause(struct playout *p, uint32_t fade)
{
	if (p->state == PLAYOUT_PAUSED || p->state == PLAYOUT_STOPPED || p->state == PLAYOUT_OVER ||
	    p->fade_to == FADE_TO_STOP)
		return;
	p->paused_reported = false;
	begin_fade(p, FADE_TO_PAUSE, fade);
}

void playout_resume(struct playout *p, uint32_t fade)
{
	if (p->state != PLAYOUT_PAUSED && p->fade_to != FADE_TO_PAUSE)
		return;
	if (p->state == PLAYOUT_PAUSED)
		p->state = p->pulled ? PLAYOUT_PLAYING : PLAYOUT_BUFFERING;
	p->fade_to = FADE_TO_FULL;
	if (!p->pulled) {
		playout_fade_in(p, p->fade_in);
		return;
	}
	p->fade_step = step_of(fade);
	if (!fade)
		p->fade = 1;
}

void playout_stop(struct playout *p, uint32_t fade)
{
	if (p->state != PLAYOUT_STOPPED && p->state != PLAYOUT_OVER)
		begin_fade(p, FADE_TO_STOP, fade);
}

void playout_gain(struct playout *p, uint32_t target, uint32_t fade)
{
	p->gain_target = gain_of(target);
	p->gain_step = (p->gain_target - p->gain) / ((float)fade + 1);
	if (!fade)
		p->gain = p->gain_target;
}

void playout_glide(struct playout *p, uint32_t target, uint32_t fall_ms_per_db)
{
	const float to = gain_of(target), least = 1.0F / GLIDE_FLOOR;
	const float db = 20 * log10f(fmaxf(to, least) / fmaxf(p->gain, least));
	const float ms = db > 0 ? db * PLAYOUT_RISE_MS_PER_DB : -db * (float)fall_ms_per_db;
	const float before =
		p->gain < p->gain_target || p->gain > p->gain_target ? p->gain_step : 0;

	playout_gain(p, target, fall_ms_per_db ? (uint32_t)(ms * PLAYOUT_PER_MS) : 0);
	if (before * p->gain_step > 0 && fabsf(before) > fabsf(p->gain_step))
		p->gain_step = before;
}

void playout_fade_in(struct playout *p, uint32_t fade)
{
	p->fade = fade ? 0 : 1;
	p->fade_step = step_of(fade);
}

/* ---- pulling ---- */

static bool producer_stalled(const struct playout *p, uint64_t now)
{
	return now - p->written_at >= p->stall;
}

static size_t count_due(struct playout *p, size_t want, uint64_t now)
{
	size_t n = playout_available(p), prebuffer = p->pulled ? p->prebuffer : p->start;

	if (p->state == PLAYOUT_BUFFERING && n &&
	    (n >= prebuffer || p->ended || producer_stalled(p, now)))
		p->state = PLAYOUT_PLAYING;
	if (p->state != PLAYOUT_PLAYING)
		return 0;
	if (n >= want)
		return want;
	if (n && (p->ended || p->fade_to != FADE_TO_FULL || producer_stalled(p, now)))
		return n;
	p->state = PLAYOUT_BUFFERING; /* empty, or a partial frame that is still growing */
	return 0;
}

size_t playout_begin_pull(struct playout *p, size_t want, uint64_t now)
{
	size_t n = count_due(p, want, now);

	p->fade_before = p->fade;
	p->gain_before = p->gain;
	return n;
}

void playout_end_pull(struct playout *p, size_t n, size_t want)
{
	p->pulled += n;
	if (p->fade_to != FADE_TO_FULL && (p->fade <= 0 || n < want))
		playout_finish_fade(p);
}

void playout_unpull(struct playout *p, size_t n)
{
	p->pulled -= n;
	if (p->state != PLAYOUT_PLAYING)
		return; /* a pause or stop since then stays in effect */
	p->fade = p->fade_before;
	p->gain = p->gain_before;
}

bool playout_has_audio(const struct playout *p)
{
	return (p->state == PLAYOUT_BUFFERING || p->state == PLAYOUT_PLAYING) &&
	       playout_available(p);
}

bool playout_is_exhausted(const struct playout *p)
{
	return p->state == PLAYOUT_STOPPED || p->state == PLAYOUT_OVER || playout_is_drained(p);
}

bool playout_is_drained(const struct playout *p)
{
	return p->ended && p->pulled == p->written;
}

void playout_confirm(struct playout *p, size_t n, bool sent, uint64_t now)
{
	p->confirmed += n;
	if (!sent || !n)
		return;
	if (!p->sent)
		p->started_at = now;
	p->sent += n;
}

enum lane_event playout_next_event(struct playout *p)
{
	if (p->state == PLAYOUT_OVER)
		return LANE_NONE;
	if (p->sent && !p->started_reported) {
		p->started_reported = true;
		return LANE_STARTED;
	}
	if (p->confirmed < p->pulled)
		return LANE_NONE;
	if (p->state == PLAYOUT_STOPPED) {
		p->state = PLAYOUT_OVER;
		return LANE_STOPPED;
	}
	if (playout_is_drained(p)) {
		p->state = PLAYOUT_OVER;
		return LANE_DRAINED;
	}
	if (p->state == PLAYOUT_PAUSED && !p->paused_reported) {
		p->paused_reported = true;
		return LANE_PAUSED;
	}
	return LANE_NONE;
}
