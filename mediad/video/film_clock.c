#include "mediad/video/film_clock.h"

#include "proto/base/time.h"

void film_clock_start(struct film_clock *c, uint64_t next_us, uint64_t now)
{
	if (!c->keeps)
		c->base_us = next_us;
	c->base_at = now;
	c->running = true;
	c->keeps = false;
	if (c->sent_at && c->base_us + c->shift_us < c->stamp_us)
		c->shift_us = c->stamp_us + FILM_STEP_US - c->base_us;
}

void film_clock_stop(struct film_clock *c, bool stays, uint64_t now)
{
	if (c->running && stays)
		film_clock_begin_at(c, film_clock_at(c, now));
	c->running = false;
}

void film_clock_begin_at(struct film_clock *c, uint64_t at_us)
{
	c->keeps = true;
	c->base_us = at_us;
}

uint64_t film_clock_at(const struct film_clock *c, uint64_t now)
{
	return c->base_us + (now - c->base_at) / NS_PER_US;
}

uint64_t film_clock_due(const struct film_clock *c, uint64_t at_us)
{
	return at_us <= c->base_us ? c->base_at : c->base_at + (at_us - c->base_us) * NS_PER_US;
}

uint64_t film_clock_send_at(const struct film_clock *c, uint64_t at_us)
{
	uint64_t due = film_clock_due(c, at_us);
	uint64_t soonest = c->sent_at ? c->sent_at + FILM_STEP_US * NS_PER_US : 0;

	return due < soonest ? soonest : due;
}

uint64_t film_clock_sent(struct film_clock *c, uint64_t at_us, uint64_t now)
{
	uint64_t least_us = c->sent_at ? c->stamp_us + FILM_STEP_US : 0;

	c->stamp_us = at_us + c->shift_us;
	if (c->stamp_us < least_us)
		c->stamp_us = least_us;
	c->sent_at = now;
	return c->stamp_us;
}

bool film_clock_follow(struct film_clock *c, uint64_t played_us, uint64_t at)
{
	uint64_t shown;

	if (!c->running || at < c->base_at)
		return false;
	shown = film_clock_at(c, at);
	if ((played_us > shown ? played_us - shown : shown - played_us) <=
	    FILM_APART_MS * US_PER_MS)
		return false;
	c->base_us = played_us;
	c->base_at = at;
	return true;
}
