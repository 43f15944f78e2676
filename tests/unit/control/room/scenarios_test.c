/* The scenarios in tests/scenarios/room, and that the player can tell a false one. */
#include "tests/test.h"

#include <glob.h>

#include "tests/room/scenario.h"

static struct scenario_result r;

static bool play(const char *text)
{
	scenario_play(&r, text, strlen(text), NULL);
	return r.passed;
}

TEST(every_room_scenario_holds)
{
	const char *folder = test_data("scenarios/room");
	char pattern[4096];
	glob_t found;

	CHECK(folder);
	snprintf(pattern, sizeof pattern, "%s/*.room", folder);
	CHECK_INT(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		scenario_play_file(&r, found.gl_pathv[i], NULL);
		if (!r.passed)
			test_fail(found.gl_pathv[i], (int)r.line, "%s", r.why);
	}
	CHECK(found.gl_pathc >= 15);
	globfree(&found);
}

#define QUESTION                                                                                   \
	"0 join alice\n"                                                                           \
	"100 alice speaks \"parley what time is it\"\n"                                            \
	"1900 alice stops\n"

TEST(a_false_expectation_fails)
{
	CHECK(!play(QUESTION "expect turn alice admitted direct_address\n"
			     "expect turn alice ended not_addressed\n"));
	CHECK_INT(r.line, 5);
	CHECK(strstr(r.why, "turn alice ended not_addressed did not come between"));
	/* The decisions stand with it, on the same line. */
	CHECK(strstr(r.why, "direct_address yes"));
	CHECK(!strchr(r.why, '\n'));
	CHECK(!play(QUESTION "expect brain asked \"time\" times 2\n"));
	CHECK(!play(QUESTION "expect brain asked exactly \"time\"\n"));
	CHECK(!play(QUESTION "expect effect duck\n"));
}

TEST(a_false_absence_fails)
{
	CHECK(!play(QUESTION "expect no brain asked\n"));
	CHECK(strstr(r.why, "was not to be"));
	CHECK(!play(QUESTION "expect nothing\n"));
	CHECK(!play(QUESTION "expect no effect asr_commit\n"));
}

TEST(what_is_true_passes)
{
	CHECK(play(QUESTION "expect brain asked \"time\" times 1 within 900\n"
			    "expect no cut within 100\n"
			    "4000 brain says \"four\" for 1000\n"
			    "expect effect say_open\n"
			    "expect said exactly \"four\"\n"));
	CHECK(play("0 join alice\n100 alice says \"hm\" for 100\nexpect nothing\n"));
	CHECK(play("rules 1 151\n0 join alice\nexpect listen alice\n"));
	CHECK_INT(r.rules, 2);
	CHECK_INT(r.rule[1], 151);
}

TEST(what_is_no_scenario_is_told_with_its_line)
{
	static const struct {
		const char *text, *why;
		unsigned line;
	} rows[] = {
		{"0 join alice\n", "nothing is expected", 0},
		{"0 join alice\n10 alice dances\n", "not an action: alice dances", 2},
		{"10 join alice\n9 join bob\n", "the time goes back: 9", 2},
		{"0 join \"alice\n", "a quote that is not closed", 1},
		{"rules 165\n", "not a rule's number: 165", 1},
		{"rules\n", "rules wants numbers", 1},
		{"0\n", "a time without an action", 1},
		{"hello\n", "neither a time", 1},
		{"0 bob stops\nexpect nothing\n", "bob is not there", 1},
		{"0 brain done\nexpect nothing\n", "the brain was not asked", 1},
		{"0 event dance\nexpect nothing\n", "the room knows no event dance", 1},
		{"0 event mute dance=1\nexpect nothing\n", "not a field of an event", 1},
		{"setting no_such 1\nexpect nothing\n", "cannot set no_such", 1},
		{"0 join a\n1 a speaks \"b\" level 7 level 8\n", "level stands there twice", 2},
		{"0 join a\n1 a speaks \"b\" level\n", "level wants a number", 2},
		{"0 mute now\n", "not a part of this action: now", 1},
		{"expect\n", "nothing is expected", 1},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CHECK(!play(rows[i].text));
		CHECK_INT(r.line, rows[i].line);
		if (!strstr(r.why, rows[i].why))
			test_fail(__FILE__, __LINE__, "\"%s\", want \"%s\"", r.why, rows[i].why);
	}
}

TEST(a_raw_event_reaches_the_room)
{
	CHECK(play("0 join alice\n"
		   "0 join bob\n"
		   "10 event member user=bob yes=yes text=\"bob the second\"\n"
		   "expect instructions \"bob the second\"\n"
		   "100 alice says \"parley what is it\"\n"
		   "3000 event brain_audio turn=alice pcm=500\n"
		   "3001 event brain_done turn=alice\n"
		   "expect playback drained\n"));
}

TEST_OOM(a_script_survives_no_memory)
{
	struct script *s = NULL;
	char err[100];

	CHECK_OOM(script_parse(&s, QUESTION, strlen(QUESTION), err, sizeof err), script_free(s));
	script_free(s);
}

TEST(every_action_is_documented)
{
	static char page[65536];
	const char *path = test_data("../docs/scenarios.md");
	FILE *f = path ? fopen(path, "r") : NULL;

	CHECK(f);
	page[fread(page, 1, sizeof page - 1, f)] = '\0';
	fclose(f);
	for (unsigned i = 0; script_form(i); i++)
		if (!strstr(page, script_form(i)))
			test_fail(__FILE__, __LINE__, "docs/scenarios.md does not tell: %s",
				  script_form(i));
}
