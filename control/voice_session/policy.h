/* Which channels and people the settings allow, and how many voice sessions a day: asked whenever a
 * session begins, moves or gets new settings. Pure. Lists are ids, separated by commas or blanks.
 */
#ifndef CONTROL_VOICE_SESSION_POLICY_H
#define CONTROL_VOICE_SESSION_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

/* The voice sessions of one server on one day (UTC). */
struct session_day {
	int64_t day;
	unsigned sessions;
};

/* An empty list allows every channel; a blocked one is never allowed, and none is while the stored
 * settings cannot be read. */
bool policy_allows_channel(const struct settings *settings, uint64_t channel);
/* The bot does not listen to a blocked user, and does not count them. */
bool policy_blocks_user(const struct settings *settings, uint64_t user);
/* True if another session may begin today. */
bool policy_allows_session(const struct settings *settings, const struct session_day *day,
			   int64_t wall_ms);
void policy_count_session(struct session_day *day, int64_t wall_ms);

#endif
