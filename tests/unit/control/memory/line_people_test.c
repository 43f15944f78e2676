/* Whom a line of the store may repeat. */
#include "control/memory/line_people.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

static char seen[64];

static bool take(uint64_t user, void *arg)
{
	size_t n = strlen(seen);

	snprintf(seen + n, sizeof seen - n, "%llu ", (unsigned long long)user);
	return user != *(const uint64_t *)arg;
}

static bool walk(const char *text, uint64_t refused)
{
	json_t *line = json_loads(text, 0, NULL);
	bool all;

	*seen = '\0';
	all = line_people_all(line, take, &refused);
	json_decref(line);
	return all;
}

TEST(a_line_may_repeat_those_whom_it_answers_and_those_whom_it_quotes)
{
	const char *line = "{\"user\":\"9\",\"askers\":[\"501\",\"502\"],\"quoted\":[\"503\"]}";

	CHECK(walk(line, 0));
	CHECK_STR(seen, "501 502 503 ");
	CHECK(!walk(line, 503));
	CHECK(!walk(line, 501));
	CHECK_STR(seen, "501 502 503 ");
	CHECK(!walk("{\"askers\":[7,\"502\"]}", 0));
	CHECK_STR(seen, "502 ");
	CHECK(walk("{\"user\":\"9\"}", 9));
	CHECK_STR(seen, "");
}
