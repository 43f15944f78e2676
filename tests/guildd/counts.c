#include "tests/guildd/guildd.h"

#include "ipc/env.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void gd_secret(struct guildd *g, char out[GD_SECRET])
{
	uint8_t raw[(GD_SECRET - 1) / 2];

	env_random(g->env, raw, sizeof(raw));
	for (size_t i = 0; i < sizeof(raw); i++)
		snprintf(out + 2 * i, 3, "%02x", raw[i]);
}

void gd_count(struct guildd *g, uint64_t user, const char *fmt, ...)
{
	char who[24], what[64];
	json_t *o;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	snprintf(who, sizeof(who), "%" PRIu64, user);
	o = json_object_get(g->counts, who);
	if (!o) {
		o = json_object();
		if (json_object_set_new(g->counts, who, o))
			return;
	}
	json_object_set_new(o, what,
			    json_integer(json_integer_value(json_object_get(o, what)) + 1));
}
