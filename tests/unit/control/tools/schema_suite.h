/* The official JSON Schema Test Suite (tests/data/jsonschema) against control/tools/schema.h: every
 * group that uses only supported keywords has to pass whole, and the schema of every other group
 * has to be refused. Which is which is decided here, by a list of its own. For the unit test and
 * the bench. */
#ifndef TESTS_UNIT_CONTROL_TOOLS_SCHEMA_SUITE_H
#define TESTS_UNIT_CONTROL_TOOLS_SCHEMA_SUITE_H

#include <stdbool.h>

enum { SCHEMA_SUITE_TESTS = 552, SCHEMA_SUITE_REFUSED = 97 };

struct schema_suite {
	unsigned groups, tests; /* that apply */
	unsigned passed;	/* of the tests */
	unsigned others, refused;
};

/* folder holds the suite's files. False: it cannot be read. Failures are told to failh. */
typedef void(schema_suite_h)(const char *group, const char *test, const char *why);
bool schema_suite_run(struct schema_suite *out, const char *folder, schema_suite_h *failh);

#endif
