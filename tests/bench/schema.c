/* Arguments of tools: schema_suite, the share of the official suite's applicable tests that pass,
 * and schema_us, reading and checking the arguments of one call. */
#include "control/tools/schema.h"
#include "tests/bench/bench.h"
#include "tests/unit/control/tools/schema_suite.h"

#include <stdio.h>
#include <string.h>

enum { CALLS = 20000, TURNS = 9 };

static const char search[] =
	"{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\",\"minLength\":1,"
	"\"maxLength\":400},\"count\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10},"
	"\"recency_days\":{\"type\":\"integer\",\"minimum\":1},\"safe\":{\"enum\":[\"off\","
	"\"moderate\","
	"\"strict\"]}},\"required\":[\"query\"],\"additionalProperties\":false}";
static const char call[] = "{\"query\":\"height of the millau viaduct\",\"count\":5,"
			   "\"recency_days\":30,\"safe\":\"moderate\"}";

static void fail(const char *group, const char *test, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", group, test, why);
}

static void check_call(void *arg)
{
	char why[SCHEMA_WHY_MAX];
	json_t *v = json_loads(call, 0, NULL);

	if (schema_check(arg, v, why, sizeof why))
		bench_die("%s", why);
	json_decref(v);
}

int main(void)
{
	struct schema_suite suite;
	struct schema *s = NULL;
	char why[SCHEMA_WHY_MAX];
	json_t *root = json_loads(search, 0, NULL);

	if (!schema_suite_run(&suite, "tests/data/jsonschema", fail))
		bench_die("tests/data/jsonschema cannot be read");
	bench_row_more("schema_suite",
		       (double)(suite.passed + suite.refused) / (suite.tests + suite.others), "",
		       "\"tests\": %u, \"refused\": %u", suite.tests, suite.others);
	BENCH_OK(schema_alloc(&s, root, why, sizeof why));
	bench_row("schema_us", bench_one("schema_us", check_call, s, CALLS, TURNS) / 1e3, "us");
	json_decref(root);
	schema_free(s);
	return 0;
}
