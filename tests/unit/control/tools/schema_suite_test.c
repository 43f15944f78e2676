#include "tests/test.h"

#include "tests/unit/control/tools/schema_suite.h"

static void fail(const char *group, const char *test, const char *why)
{
	test_fail(__FILE__, __LINE__, "%s: %s: %s", group, test, why);
}

TEST(schema_official_suite_passes_and_other_keywords_are_refused)
{
	const char *one = test_data("data/jsonschema/type.json");
	struct schema_suite suite;
	char folder[400];

	CHECK(one);
	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(one, '/') - one), one);
	CHECK(schema_suite_run(&suite, folder, fail));
	CHECK_INT(suite.passed, suite.tests);
	CHECK_INT(suite.tests, SCHEMA_SUITE_TESTS);
	CHECK_INT(suite.refused, suite.others);
	CHECK_INT(suite.refused, SCHEMA_SUITE_REFUSED);
}
