#include "control/store/facts_written.h"

#include "control/events/events.h"
#include "tests/test.h"

static bool fill(struct event_memory *out, const char *text)
{
	json_t *done = text ? json_loads(text, 0, NULL) : NULL;
	bool any = facts_written_fill(out, done, "asked");

	json_decref(done);
	return any;
}

TEST(an_answer_of_the_store_is_told_in_numbers)
{
	struct event_memory e;

	CHECK(fill(&e, "{\"written\":[{\"status\":\"inserted\"},{\"status\":\"updated\"},{}],"
		       "\"skipped\":[{\"reason\":\"duplicate\"},{\"reason\":\"outdated\"},{}]}"));
	CHECK_INT(e.inserted, 2);
	CHECK_INT(e.updated, 1);
	CHECK_INT(e.duplicate, 1);
	CHECK_INT(e.refused, 2);
	CHECK_STR(e.source, "asked");
}

TEST(nothing_to_write_is_no_event)
{
	struct event_memory e;

	CHECK(!fill(&e, NULL));
	CHECK(!fill(&e, "{\"written\":[],\"skipped\":[]}"));
	CHECK(!fill(&e, "[]"));
}
