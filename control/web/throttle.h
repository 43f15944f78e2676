/* How often somebody may try to sign in: THROTTLE_TRIES at once and then one in THROTTLE_EVERY_S,
 * for each address; and more in all, so that many addresses do not help. A sign-in that succeeds
 * gives its try back. Addresses of IPv6 count by their first 64 bits. A value without I/O, all zero
 * at first; times in ns. */
#ifndef CONTROL_WEB_THROTTLE_H
#define CONTROL_WEB_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/rate_limit.h"

enum {
	THROTTLE_TRIES = 5,
	THROTTLE_EVERY_S = 30,
	THROTTLE_ALL_TRIES = 20,
	THROTTLE_ALL_EVERY_S = 5,
	THROTTLE_ADDRESSES = 64,
};

struct throttle {
	struct rate_limit all;
	bool told; /* that somebody was refused */
	struct throttled {
		char address[46];
		uint64_t used_at;
		struct rate_limit limit;
	} v[THROTTLE_ADDRESSES];
};

/* False: not now. Both of them, or one: whoever knows already that a try is right need not wait for
 * the common limit, which strangers can use up. */
bool throttle_take(struct throttle *t, const char *address, uint64_t now);
bool throttle_take_address(struct throttle *t, const char *address, uint64_t now);
bool throttle_take_common(struct throttle *t, uint64_t now);
void throttle_give_back(struct throttle *t, const char *address);
void throttle_give_back_common(struct throttle *t);
/* True once for all refusals without a try between them. */
bool throttle_is_news(struct throttle *t);

#endif
