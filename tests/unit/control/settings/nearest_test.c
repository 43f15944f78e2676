#include "tests/test.h"

#include "control/settings/nearest.h"
#include "control/settings/settings.h"

static unsigned distance(const char *a, const char *b)
{
	return nearest_distance(a, strlen(a), b, strlen(b));
}

TEST(distance_counts_single_slips)
{
	char longer[NEAREST_LEN_MAX + 2];

	CHECK_INT(distance("", ""), 0);
	CHECK_INT(distance("", "abc"), 3);
	CHECK_INT(distance("silence_ms", "silence_ms"), 0);
	CHECK_INT(distance("silense_ms", "silence_ms"), 1);
	CHECK_INT(distance("silnce_ms", "silence_ms"), 1);
	CHECK_INT(distance("silencee_ms", "silence_ms"), 1);
	CHECK_INT(distance("silecne_ms", "silence_ms"), 1);
	CHECK_INT(distance("kitten", "sitting"), 3);
	memset(longer, 'a', sizeof longer);
	CHECK_INT(nearest_distance(longer, NEAREST_LEN_MAX, longer, NEAREST_LEN_MAX), 0);
	CHECK(nearest_distance(longer, NEAREST_LEN_MAX + 1, "a", 1) == UINT_MAX);
	CHECK(nearest_distance("a", 1, longer, NEAREST_LEN_MAX + 1) == UINT_MAX);
}

TEST(a_mistyped_name_is_known_again)
{
	CHECK_STR(settings_nearest("silense_ms", false), "silence_ms");
	CHECK_STR(settings_nearest("barge_in", false), "barge_in_ms");
	CHECK_STR(settings_nearest("discord_tokn_file", false), "discord_token_file");
	CHECK_STR(settings_nearest("PARLEY_SILENCE", true), "PARLEY_SILENCE_MS");
	CHECK(!settings_nearest("colour_of_the_sky", false));
	CHECK(!settings_nearest("", false));
	CHECK(settings_variable("PARLEY_SILENCE_MS"));
	CHECK(settings_variable("DISCORD_TOKEN_FILE"));
	CHECK(!settings_variable("PARLEY_SILENCE_MS_FILE"));
	CHECK(!settings_variable("PARLEY_SILENCE"));
}
