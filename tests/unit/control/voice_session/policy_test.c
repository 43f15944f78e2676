/* What the settings allow a voice session. */
#include "control/voice_session/policy.h"

#include <stdint.h>

#include "control/settings/settings.h"
#include "tests/test.h"

enum { DAY_MS = 86400000 };

TEST(lists_of_ids_decide_about_channels_and_users)
{
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK(policy_allows_channel(s, 7));
	CHECK(!policy_blocks_user(s, 7));
	settings_set(s, "allowed_channels", " ,");
	CHECK(policy_allows_channel(s, 7));
	CHECK_INT(settings_set(s, "allowed_channels", "12, 7x,1234567890123456789"), EINVAL);
	CHECK_INT(settings_set(s, "allowed_channels", "12, <#1234567890123456789>"), 0);
	CHECK(policy_allows_channel(s, 12));
	CHECK(policy_allows_channel(s, UINT64_C(1234567890123456789)));
	CHECK(!policy_allows_channel(s, 1));
	CHECK(!policy_allows_channel(s, 123));
	settings_set(s, "blocked_channels", "12");
	CHECK(!policy_allows_channel(s, 12));
	settings_set(s, "blocked_users", "5 6");
	CHECK(policy_blocks_user(s, 5) && policy_blocks_user(s, 6));
	CHECK(!policy_blocks_user(s, 56));
	settings_free(s);
}

TEST(sessions_of_a_day_are_limited_and_counted_by_day)
{
	struct session_day day = {0};
	struct settings *s = NULL;
	int64_t now = INT64_C(20000) * DAY_MS + 5;

	CHECK_INT(settings_alloc(&s), 0);
	for (unsigned i = 0; i < 3; i++)
		policy_count_session(&day, now);
	CHECK(policy_allows_session(s, &day, now)); /* no limit */
	settings_set(s, "sessions_per_day", "3");
	CHECK(!policy_allows_session(s, &day, now));
	settings_set(s, "sessions_per_day", "4");
	CHECK(policy_allows_session(s, &day, now));
	settings_set(s, "sessions_per_day", "1");
	CHECK(policy_allows_session(s, &day, now + DAY_MS));
	policy_count_session(&day, now + DAY_MS);
	CHECK_INT(day.sessions, 1);
	CHECK(!policy_allows_session(s, &day, now + DAY_MS));
	settings_free(s);
}
