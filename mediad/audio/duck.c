#include "mediad/audio/duck.h"

#include <math.h>

enum { PER_MS = 48, FRAME_MS = 20 };
#define FLOOR                                                                                      \
	0.001f /* a ramp in dB never reaches silence: it ends here, then the rest is dropped */

void duck_init(struct duck *d)
{
	*d = (struct duck){.gain = 1, .gain_before = 1};
	duck_set(d, &DUCK_DEFAULT);
}

static uint16_t limit(uint16_t value, uint16_t most)
{
	return value < most ? value : most;
}

/* The factor a sample of a ramp over the whole span. */
static float factor(float span, uint16_t ms)
{
	return powf(span, 1.0f / (ms ? (float)(ms * PER_MS) : 1));
}

void duck_set(struct duck *d, const struct duck_conf *conf)
{
	bool rests = d->quiet >= d->hold;
	float span;

	d->depth = (float)limit(conf->depth, DUCK_UNITY) / DUCK_UNITY;
	span = fmaxf(d->depth, FLOOR);
	d->attack = factor(span, limit(conf->attack_ms, DUCK_ATTACK_MAX_MS));
	d->release = factor(1 / span, limit(conf->release_ms, DUCK_RELEASE_MAX_MS));
	d->hold = limit(conf->hold_ms, DUCK_HOLD_MAX_MS) / FRAME_MS;
	/* A longer hold lowers no music when nobody spoke. */
	if (rests)
		d->quiet = d->quiet_before = d->hold;
}

static float target_of(const struct duck *d)
{
	return d->down ? d->depth : 1;
}

void duck_begin_frame(struct duck *d, bool speech, bool music)
{
	d->gain_before = d->gain;
	d->quiet_before = d->quiet;
	d->down = speech || (music && d->quiet < d->hold);
	if (speech)
		d->quiet = 0;
	else
		d->quiet = d->down ? d->quiet + 1 : d->hold;
	if (!music)
		d->gain = target_of(d);
	d->holds = speech && d->gain > d->depth;
}

bool duck_holds_speech(const struct duck *d)
{
	return d->holds;
}

/* Moves the gain by one sample. The depth may have changed, so it can be on either side. A ramp
 * that has all but arrived ends, so that rounding does not make it last another frame. */
static float step_gain(const struct duck *d, float target)
{
	bool falls = d->gain > target;
	float next = falls ? d->gain * d->attack : fmaxf(d->gain, FLOOR) * d->release;

	if (falls)
		return next <= fmaxf(target, FLOOR) * 1.001f || d->attack >= 1 ? target : next;
	return next >= target * 0.999f || d->release <= 1 ? target : next;
}

void duck_run(struct duck *d, float *left, float *right, size_t n)
{
	float target = target_of(d);

	if (d->gain >= 1 && target >= 1)
		return;
	for (size_t i = 0; i < n; i++) {
		if (d->gain > target || d->gain < target)
			d->gain = step_gain(d, target);
		left[i] *= d->gain;
		right[i] *= d->gain;
	}
}

void duck_undo(struct duck *d)
{
	d->gain = d->gain_before;
	d->quiet = d->quiet_before;
}
