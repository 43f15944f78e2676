#include "control/web/ingress.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/time.h"

bool ingress_take(struct ingress *g, const char *address, unsigned route, uint64_t now)
{
	struct ingress_place *place = &g->v[0];

	for (unsigned i = 0; i < INGRESS_PLACES; i++) {
		struct ingress_place *p = &g->v[i];

		if (p->used_at && p->route == route && strcmp(p->address, address) == 0) {
			place = p;
			break;
		}
		if (p->used_at < place->used_at)
			place = p;
	}
	if (!place->used_at || place->route != route || strcmp(place->address, address) != 0) {
		*place = (struct ingress_place){.route = route};
		snprintf(place->address, sizeof place->address, "%s", address);
	}
	place->used_at = now ? now : 1;
	return rate_limit_take(&place->limit, INGRESS_BURST, INGRESS_EVERY_MS * NS_PER_MS, now);
}
