#include "control/voice_session/policy.h"

#include "control/settings/ids.h"
#include "control/settings/settings.h"

enum { DAY_MS = 86400000 };

bool policy_allows_channel(const struct settings *settings, uint64_t channel)
{
	const char *allowed = settings->allowed_channels;

	return !settings->unread && !settings_ids_have(settings->blocked_channels, channel) &&
	       (settings_ids_empty(allowed) || settings_ids_have(allowed, channel));
}

bool policy_blocks_user(const struct settings *settings, uint64_t user)
{
	return settings_ids_have(settings->blocked_users, user);
}

bool policy_allows_session(const struct settings *settings, const struct session_day *day,
			   int64_t wall_ms)
{
	unsigned today = day->day == wall_ms / DAY_MS ? day->sessions : 0;

	return !settings->sessions_per_day || today < settings->sessions_per_day;
}

void policy_count_session(struct session_day *day, int64_t wall_ms)
{
	if (day->day != wall_ms / DAY_MS)
		*day = (struct session_day){.day = wall_ms / DAY_MS};
	day->sessions++;
}
