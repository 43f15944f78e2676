/* The time zone of a server (setting time_zone) for control/memory/calendar.h, as env knows it. */
#ifndef CONTROL_TOOLS_BUILTIN_SERVER_ZONE_H
#define CONTROL_TOOLS_BUILTIN_SERVER_ZONE_H

#include "control/memory/calendar.h"

struct env;
struct settings;

/* Borrowed; settings may change in place. */
struct server_zone {
	struct env *env;
	const struct settings *settings;
};

/* As long as z lives. */
struct calendar_zone server_zone(const struct server_zone *z);

#endif
