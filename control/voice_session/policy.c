#include "control/voice_session/policy.h"

#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"

enum { DAY_MS = 86400000 };

static bool has_id(const char *list, uint64_t id)
{
	while (*list) {
		char *end;
		uint64_t v = strtoull(list, &end, 10);

		if (end != list && v == id)
			return true;
		list = end + (*end != '\0');
	}
	return false;
}

bool policy_allows_channel(const struct settings *settings, uint64_t channel)
{
	const char *allowed = settings->allowed_channels;

	return !settings->unread && !has_id(settings->blocked_channels, channel) &&
	       (!allowed[strspn(allowed, " ,")] || has_id(allowed, channel));
}

bool policy_blocks_user(const struct settings *settings, uint64_t user)
{
	return has_id(settings->blocked_users, user);
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
