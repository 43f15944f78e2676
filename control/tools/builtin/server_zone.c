#include "control/tools/builtin/server_zone.h"

#include "control/settings/settings.h"
#include "ipc/env.h"

static int64_t offset_at(uint64_t at_ms, void *arg)
{
	const struct server_zone *z = arg;

	return env_utc_offset_at(z->env, z->settings->time_zone, at_ms);
}

struct calendar_zone server_zone(const struct server_zone *z)
{
	return (struct calendar_zone){offset_at, (void *)(uintptr_t)z};
}
