/* A rate limit: a burst at once, then one per interval. A value of its owner, all zero is new;
 * times in ns. */
#ifndef PROTO_BASE_RATE_LIMIT_H
#define PROTO_BASE_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct rate_limit {
	unsigned spent; /* of the burst; one less per interval */
	uint64_t spent_at;
	unsigned refused; /* since the last one that was allowed */
};

/* Returns false when the burst is spent. */
static inline bool rate_limit_take(struct rate_limit *l, unsigned burst, uint64_t interval,
				   uint64_t now)
{
	uint64_t gone = (now - l->spent_at) / interval;

	l->spent_at += gone * interval;
	l->spent = gone < l->spent ? l->spent - (unsigned)gone : 0;
	if (l->spent >= burst) {
		l->refused++;
		return false;
	}
	l->spent++;
	return true;
}

/* Returns how many were refused since the last call. */
static inline unsigned rate_limit_refused(struct rate_limit *l)
{
	unsigned refused = l->refused;

	l->refused = 0;
	return refused;
}

#endif
