/* Reconnect backoff: how long to wait before the next try. The wait doubles from first_ms to
 * max_ms; jitter is added on top.
 *
 * The owner calls backoff_reset only when the other side has served (a session was created, a
 * program lived long enough), not when a connection opened: a peer that accepts and fails at once
 * is asked less and less often. ipc/backoff.h starts a timer with it. */
#ifndef PROTO_BASE_BACKOFF_H
#define PROTO_BASE_BACKOFF_H

#include <stdint.h>

#include "proto/base/time.h"

struct backoff_conf {
	uint32_t first_ms, max_ms;
	uint32_t jitter_ms; /* adds 0 to jitter_ms - 1, at random; 0 adds nothing */
	uint32_t at_once;   /* tries before the first wait of first_ms */
};

struct backoff {
	const struct backoff_conf *conf; /* borrowed; usually static */
	uint32_t tries;			 /* since the last reset */
};

static inline struct backoff backoff_of(const struct backoff_conf *conf)
{
	return (struct backoff){.conf = conf};
}

/* Counts a try and returns the wait before it, in ns. random: any random word, used for the jitter
 * alone. */
static inline uint64_t backoff_next(struct backoff *b, uint32_t random)
{
	const struct backoff_conf *c = b->conf;
	uint64_t ms = 0;

	if (b->tries >= c->at_once) {
		uint32_t doublings = b->tries - c->at_once;

		ms = doublings < 32 ? (uint64_t)c->first_ms << doublings : c->max_ms;
		if (ms > c->max_ms)
			ms = c->max_ms;
	}
	b->tries += b->tries < UINT32_MAX;
	if (c->jitter_ms)
		ms += random % c->jitter_ms;
	return ms * NS_PER_MS;
}

static inline void backoff_reset(struct backoff *b)
{
	b->tries = 0;
}

#endif
