/* The official JSON Schema Test Suite (tests/data/jsonschema): every group that uses only supported
 * keywords passes whole, and every other group's schema is refused. Which is which is decided here,
 * by a list of its own. */
#include "tests/test.h"

#include <dirent.h>

#include "control/tools/schema.h"

enum { PATH_MAX_ = 700, APPLICABLE = 552 };

struct tally {
	unsigned groups, refused, tests;
};

/* How a keyword of the subset nests: 's' a schema, 'm' a map of schemas, 'l' a list of schemas,
 * ' ' neither. NULL: the subset does not have it. */
static const char *find_nesting(const char *key)
{
	static const char *const supported[] = {
		"sitems",
		"sadditionalProperties",
		"snot",
		"mproperties",
		"m$defs",
		"lanyOf",
		"lallOf",
		"loneOf",
		" type",
		" required",
		" enum",
		" const",
		" minimum",
		" maximum",
		" exclusiveMinimum",
		" exclusiveMaximum",
		" minLength",
		" maxLength",
		" minItems",
		" maxItems",
		" minProperties",
		" maxProperties",
		" multipleOf",
		" uniqueItems",
		" $schema",
		" $comment",
		" default",
		" $ref",
		" $id",
	};

	for (size_t i = 0; i < sizeof supported / sizeof *supported; i++)
		if (strcmp(supported[i] + 1, key) == 0)
			return supported[i];
	return NULL;
}

static bool is_supported(const json_t *schema, bool root)
{
	const char *key, *name;
	json_t *v, *item;
	size_t i;

	json_object_foreach((json_t *)schema, key, v)
	{
		const char *nesting = find_nesting(key);

		if (!nesting || (strcmp(key, "$id") == 0 && !root) ||
		    (strcmp(key, "$ref") == 0 && *json_string_value(v) != '#') ||
		    (*nesting == 's' && !is_supported(v, false)))
			return false;
		if (*nesting == 'l')
			json_array_foreach(v, i, item) if (!is_supported(item, false)) return false;
		if (*nesting == 'm')
			json_object_foreach(v, name,
					    item) if (!is_supported(item, false)) return false;
	}
	return true;
}

static void run_group(const json_t *group, struct tally *tally)
{
	const json_t *root = json_object_get(group, "schema");
	const char *name = json_string_value(json_object_get(group, "description"));
	char why[SCHEMA_WHY_MAX];
	struct schema *s = NULL;
	json_t *test;
	size_t i;
	int err = schema_alloc(&s, root, why, sizeof why);

	tally->groups++;
	if (!is_supported(root, true)) {
		tally->refused += err == EINVAL;
		if (err != EINVAL || !*why)
			test_fail(__FILE__, __LINE__, "%s: not refused", name);
		schema_free(s);
		return;
	}
	if (err) {
		test_fail(__FILE__, __LINE__, "%s: %s", name, why);
		return;
	}
	json_array_foreach(json_object_get(group, "tests"), i, test)
	{
		int want = json_is_true(json_object_get(test, "valid")) ? 0 : EINVAL;

		err = schema_check(s, json_object_get(test, "data"), why, sizeof why);
		if (err != want || !*why != !err)
			test_fail(__FILE__, __LINE__, "%s: %s: %d, %s", name,
				  json_string_value(json_object_get(test, "description")), err,
				  why);
		else
			tally->tests++;
	}
	schema_free(s);
}

static void run_file(const char *path, struct tally *tally)
{
	json_t *groups = json_load_file(path, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL), *group;
	size_t i;

	if (!groups)
		test_fail(__FILE__, __LINE__, "%s cannot be read", path);
	json_array_foreach(groups, i, group) run_group(group, tally);
	json_decref(groups);
}

TEST(schema_official_suite_passes_and_other_keywords_are_refused)
{
	struct tally tally = {0};
	const char *one = test_data("data/jsonschema/type.json");
	char folder[400], path[PATH_MAX_];
	struct dirent *e;
	DIR *dir;

	CHECK(one);
	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(one, '/') - one), one);
	dir = opendir(folder);
	CHECK(dir);
	while ((e = readdir(dir)))
		if (strstr(e->d_name, ".json")) {
			snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
			run_file(path, &tally);
		}
	closedir(dir);
	printf("schema_suite: %u tests passed, %u of %u groups refused\n", tally.tests,
	       tally.refused, tally.groups);
	CHECK_INT(tally.tests, APPLICABLE);
}
