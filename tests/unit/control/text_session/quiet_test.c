/* What the log says of calls that Discord did not do: where, and what would help. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/unit/control/text_session/text_stage.h"

static char line[1024];

/* The line that the log writes for this outcome; "": none. */
static const char *told(const char *what, int err, int status, int code)
{
	json_t *body = json_pack("{s:s,s:i}", "message", "No", "code", code);
	FILE *f = tmpfile();
	int before = dup(STDERR_FILENO);
	size_t n = 0;

	if (f && before >= 0) {
		dup2(fileno(f), STDERR_FILENO);
		text_quiet_told(
			&(struct text_done){
				.event = "text_not_done", .what = what, .guild = 12, .channel = 34},
			err, status, body);
		dup2(before, STDERR_FILENO);
		rewind(f);
		n = fread(line, 1, sizeof line - 1, f);
	}
	line[n] = '\0';
	if (f)
		fclose(f);
	close(before);
	json_decref(body);
	return line;
}

TEST(text_session_logs_where_a_call_failed_and_what_permission_lacks)
{
	CHECK_STR(told("typing", 0, 204, 0), "");
	CHECK_STR(told("typing", ECANCELED, 0, 0), "");
	CHECK(strstr(told("typing", 0, 403, 50001),
		     "text_not_done what=typing guild=12 channel=34"));
	CHECK(strstr(line, "permission=\"View Channel\" help=\"open") != NULL);
	CHECK(strstr(told("message", 0, 403, 50013), "Send Messages in Threads") != NULL);
	CHECK(strstr(told("reaction", 0, 403, 50013), "Add Reactions") != NULL);
	CHECK(strstr(told("file", 0, 403, 50013), "Attach Files") != NULL);
	CHECK(strstr(told("working", ETIMEDOUT, 0, 0), "guild=12 channel=34") != NULL);
	CHECK(strstr(line, "permission=\"\" help=\"\"") != NULL);
}
