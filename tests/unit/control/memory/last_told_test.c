/* What "forget that" means. */
#include "control/memory/last_told.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"
#include "tests/test.h"

enum { ANA = 4, BOB = 5 };

static struct last_told told;

static void note(uint64_t user, const char *matches, uint64_t now)
{
	json_t *list = json_loads(matches, 0, NULL);

	last_told_note(&told, user, list, now);
	json_decref(list);
}

static const char *request(uint64_t user, const char *text, uint64_t now)
{
	static char out[64];
	char *got = last_told_request(&told, user, text, now);

	snprintf(out, sizeof out, "%s", got ? got : "");
	free(got);
	return out;
}

#define LAST "{\"last\":true}"

TEST(that_is_the_fact_which_was_told_last)
{
	memset(&told, 0, sizeof told);
	CHECK_STR(request(ANA, LAST, 1), LAST);
	note(ANA, "[{\"id\":7}]", 1);
	note(BOB, "[{\"id\":8}]", 2);
	CHECK_STR(request(ANA, LAST, 3), "{\"id\":7}");
	CHECK_STR(request(BOB, LAST, 3), "{\"id\":8}");
	CHECK_STR(request(9, LAST, 3), LAST);
	/* A request that names something is about that. */
	CHECK_STR(request(ANA, "{\"words\":\"bike\"}", 3), "{\"words\":\"bike\"}");
	CHECK_STR(request(ANA, "{\"id\":3}", 3), "{\"id\":3}");
	last_told_clear(&told, ANA);
	CHECK_STR(request(ANA, LAST, 3), LAST);
	CHECK_STR(request(BOB, LAST, 3), "{\"id\":8}");
}

TEST(that_is_none_of_several_facts_and_nothing_from_long_ago)
{
	memset(&told, 0, sizeof told);
	note(ANA, "[{\"id\":7}]", 1);
	CHECK_STR(request(ANA, LAST, LAST_TOLD_S * NS_PER_S), "{\"id\":7}");
	CHECK_STR(request(ANA, LAST, LAST_TOLD_S * NS_PER_S + 1), LAST);
	note(ANA, "[{\"id\":7},{\"id\":8}]", 2);
	CHECK_STR(request(ANA, LAST, 3), LAST);
	note(ANA, "[{\"id\":7}]", 2);
	note(ANA, "[]", 3);
	CHECK_STR(request(ANA, LAST, 3), LAST);
	note(0, "[{\"id\":7}]", 2);
	CHECK_STR(request(0, LAST, 3), LAST);
}

TEST(of_many_people_the_newest_are_known)
{
	memset(&told, 0, sizeof told);
	for (unsigned i = 0; i <= LAST_TOLD_PEOPLE; i++)
		note(100 + i, "[{\"id\":7}]", 1 + i);
	CHECK_STR(request(100, LAST, 50), LAST);
	CHECK_STR(request(101, LAST, 50), "{\"id\":7}");
	CHECK_STR(request(100 + LAST_TOLD_PEOPLE, LAST, 50), "{\"id\":7}");
}
