/* The runner of the unit tests: one that fails or crashes changes nothing for the others. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

/* These tests do something only when the test below runs them. */
static bool is_planted(void)
{
	return getenv("TEST_RUNNER_PLANTED");
}

static int left;

TEST(planted_failure_that_leaves_its_things)
{
	if (!is_planted())
		return;
	setenv("TEST_RUNNER_LEFT", "1", 1);
	signal(SIGUSR1, SIG_IGN);
	left = 1;
	CHECK(false);
}

TEST(planted_look_behind_a_failure)
{
	CHECK(!left && !getenv("TEST_RUNNER_LEFT"));
	CHECK(signal(SIGUSR1, SIG_DFL) == SIG_DFL);
	if (is_planted())
		left = 2;
}

TEST(planted_crash)
{
	if (!is_planted())
		return;
	CHECK_INT(left, 2); /* behind a test that passed, in its process */
	signal(SIGABRT, SIG_DFL);
	abort();
}

TEST(planted_look_behind_a_crash)
{
	CHECK_INT(left, 0);
}

TEST_OOM(planted_crash_without_memory)
{
	char *p = malloc(1);

	if (is_planted() && !p)
		_exit(3);
	free(p);
}

TEST(planted_skip)
{
	if (is_planted())
		test_skip("as planted");
}

TEST(a_test_that_fails_or_crashes_changes_nothing_for_the_next)
{
	char line[256] = "", all[8192] = "";
	FILE *f;
	int status;

	if (is_planted())
		return;
	f = popen("TEST_RUNNER_PLANTED=1 exec /proc/$PPID/exe planted_ 2>/dev/null", "r");
	CHECK(f);
	while (fgets(line, sizeof line, f))
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s", line);
	status = pclose(f);
	CHECK_STR(line, "2 passed, 3 failed, 1 skipped\n");
	CHECK(strstr(all, "FAIL planted_failure_that_leaves_its_things ("));
	CHECK(strstr(all, "ended: signal 6\nFAIL planted_crash ("));
	CHECK(strstr(all, "ended: status 3\nFAIL planted_crash_without_memory ("));
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

TEST(a_run_of_no_test_fails)
{
	CHECK_INT(WEXITSTATUS(system("exec /proc/$PPID/exe no_such_test >/dev/null")), 1);
}
