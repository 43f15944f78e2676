/* What the next search for facts leaves out. */
#include "control/memory/untold.h"

#include <stdlib.h>

#include "tests/test.h"

static enum untold judge(const json_t *fact, void *arg)
{
	(void)arg;
	return (enum untold)json_integer_value(json_object_get(fact, "why"));
}

TEST(facts_that_may_not_be_told_are_named_for_the_next_search)
{
	json_t *request = json_pack("{s:s}", "words", "tea");
	json_t *found =
		json_pack("[{s:i,s:s},{s:i,s:s},{s:i,s:s,s:[s,s]},{s:i,s:s}]", "why", UNTOLD_NOT,
			  "user", "4", "why", UNTOLD_AUTHOR, "user", "5", "why", UNTOLD_CHANNEL,
			  "user", "6", "channels", "31", "32", "why", UNTOLD_AUTHOR, "user", "5");
	char *text;

	CHECK(untold_add(request, found, judge, NULL));
	text = json_dumps(request, JSON_COMPACT);
	CHECK_STR(text, "{\"words\":\"tea\",\"without_authors\":[\"5\"],"
			"\"without_channels\":[\"31\",\"32\"]}");
	free(text);
	CHECK(!untold_add(request, found, judge, NULL));
	CHECK(!untold_add(request, NULL, judge, NULL));
	json_decref(found);
	json_decref(request);
}
