/* The scenarios in tests/scenarios/rooms, and that the player can tell a false one. */
#include "tests/test.h"

#include <glob.h>

#include "play.h"

static char why[65536];

TEST(every_room_scenario_holds)
{
	const char *folder = test_data("scenarios/rooms");
	char pattern[4096];
	glob_t found;

	CHECK(folder);
	snprintf(pattern, sizeof pattern, "%s/*.room", folder);
	CHECK_INT(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (!play_file(found.gl_pathv[i], why, sizeof why))
			test_fail(found.gl_pathv[i], 0, "%s", why);
	CHECK(found.gl_pathc >= 15);
	globfree(&found);
}

TEST(a_false_expectation_fails)
{
	const char *scene = "0 join alice\n"
			    "100 alice speaks \"parley what time is it\"\n"
			    "1900 alice stops\n"
			    "expect turn alice admitted direct_address\n"
			    "expect turn alice ended not_addressed\n";

	CHECK(!play_text(scene, why, sizeof why));
	CHECK(strstr(why, "line 5: \"turn alice ended not_addressed\" did not come"));
	/* The trace stands with it, so that a reader sees why. */
	CHECK(strstr(why, "brain asked \"[alice]: parley what time is it\""));
}

TEST(a_false_absence_fails)
{
	const char *scene = "0 join alice\n"
			    "100 alice speaks \"parley what time is it\"\n"
			    "1900 alice stops\n"
			    "expect no brain asked\n";

	CHECK(!play_text(scene, why, sizeof why));
	CHECK(strstr(why, "was not to be"));
}

TEST(a_scenario_that_expects_nothing_fails)
{
	CHECK(!play_text("0 join alice\n", why, sizeof why));
	CHECK(!play_text("0 join alice\n10 alice dances\nexpect listen alice\n", why, sizeof why));
}
