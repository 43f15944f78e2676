/* Lists of ids: what they hold, and what they must not. */
#include "control/settings/ids.h"

#include "control/settings/settings.h"
#include "tests/test.h"

TEST(a_list_of_ids_is_read_in_every_way_of_writing_them)
{
	const char *list = "1, <#22>;<@333>\t<@!4444> 18446744073709551615", *at = list;
	uint64_t id, want[] = {1, 22, 333, 4444, UINT64_MAX};

	CHECK(settings_ids_fault(list) == NULL);
	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		CHECK(settings_ids_have(list, want[i]));
		CHECK(settings_ids_each(&at, &id) && id == want[i]);
	}
	CHECK(!settings_ids_each(&at, &id));
	CHECK(!settings_ids_have(list, 2) && !settings_ids_have(list, 44));
	CHECK(settings_ids_empty(" ,;\n") && settings_ids_fault(" ,;\n") == NULL);
	CHECK(!settings_ids_empty("7"));
}

TEST(what_is_no_id_is_found_in_a_list)
{
	static const char *const faults[] = {"alice",
					     "0",
					     "-7",
					     "+7",
					     "7x",
					     "0x7",
					     "<7>",
					     "<#>",
					     "<@&7>",
					     "<#7",
					     "#7",
					     "@7",
					     "<@!>",
					     "<@ 7>",
					     "7.",
					     "18446744073709551616",
					     "\xc3\xa4",
					     "<#a>",
					     "111111111111111111111",
					     "<",
					     "<@"};
	char list[64];

	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		snprintf(list, sizeof list, "12, %s", faults[i]);
		if (!settings_ids_fault(list) || settings_ids_fault(list) != list + 4)
			test_fail(__FILE__, __LINE__, "\"%s\" is taken for ids", list);
	}
}

TEST(a_fault_is_told_with_its_entry)
{
	char why[SETTINGS_IDS_FAULT], list[128];

	settings_ids_say("12 general 13", why, sizeof why);
	CHECK(strstr(why, "not \"general\";") != NULL);
	memset(list, 'x', sizeof list - 1);
	list[sizeof list - 1] = '\0';
	settings_ids_say(list, why, sizeof why);
	CHECK(strstr(why, "copies an id") != NULL);
}

TEST(a_list_names_a_channel_by_its_thread_or_category_too)
{
	CHECK(settings_ids_name("5", 5, 0, 0));
	CHECK(settings_ids_name("5", 60, 5, 0));
	CHECK(settings_ids_name("5", 60, 7, 5));
	CHECK(!settings_ids_name("5", 60, 7, 8));
	CHECK(!settings_ids_name("0", 60, 0, 0));
}

TEST(a_role_is_an_id_or_a_mention)
{
	static const char *const faults[] = {"DJ",    "@DJ",   "<@7091>", "<#7091>", "<@&>",
					     "<@&x>", "7091,", "0",	  "70 91"};
	struct settings *s = NULL;

	CHECK(settings_role_id("7091") == 7091 && settings_role_id("<@&7091>") == 7091);
	CHECK(settings_role_id("<@&18446744073709551615>") == UINT64_MAX && !settings_role_id(""));
	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(settings_set(s, "music_dj_role", "<@&18446744073709551615>"), 0);
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		CHECK(!settings_role_id(faults[i]));
		CHECK_INT(settings_set(s, "music_dj_role", faults[i]), EINVAL);
	}
	CHECK_INT(settings_set(s, "music_dj_role", ""), 0);
	CHECK_STR(s->music_dj_role, "");
	settings_free(s);
}

TEST(the_lists_of_people_and_channels_are_lists_of_ids)
{
	static const char *const names[] = {"allowed_channels",
					    "blocked_channels",
					    "blocked_users",
					    "text_channels",
					    "text_blocked_channels",
					    "text_direct_users",
					    "text_initiative_channels",
					    "PARLEY_BLOCKED_USERS"};
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		CHECK(settings_is_ids(names[i]) && !settings_is_choice(names[i]));
		CHECK_INT(settings_set(s, names[i], "alice"), EINVAL);
		CHECK_INT(settings_set(s, names[i], "12"), 0);
	}
	CHECK(!settings_is_ids("aliases") && !settings_is_ids("nothing"));
	settings_free(s);
}
