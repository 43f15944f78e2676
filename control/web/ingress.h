/* How many requests an address may make to a public route: INGRESS_BURST at once, and then one in
 * INGRESS_EVERY_MS, which is 1200 a minute. A value without I/O, all zero at first; times in ns. */
#ifndef CONTROL_WEB_INGRESS_H
#define CONTROL_WEB_INGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/rate_limit.h"

enum { INGRESS_BURST = 1200, INGRESS_EVERY_MS = 50, INGRESS_PLACES = 128 };

struct ingress {
	struct ingress_place {
		char address[46];
		unsigned route;
		uint64_t used_at; /* 0: free */
		struct rate_limit limit;
	} v[INGRESS_PLACES];
};

/* False: not now. The place that was used longest ago is given to a new address. */
bool ingress_take(struct ingress *g, const char *address, unsigned route, uint64_t now);

#endif
