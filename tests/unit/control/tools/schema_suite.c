#include "tests/unit/control/tools/schema_suite.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/tools/schema.h"

enum { PATH_SIZE = 700 };

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

static void run_tests(struct schema_suite *out, const struct schema *s, const json_t *group,
		      schema_suite_h *failh)
{
	char why[SCHEMA_WHY_MAX];
	json_t *test;
	size_t i;

	json_array_foreach(json_object_get(group, "tests"), i, test)
	{
		int want = json_is_true(json_object_get(test, "valid")) ? 0 : EINVAL;
		int err = schema_check(s, json_object_get(test, "data"), why, sizeof why);

		out->tests++;
		if (err == want && !*why == !err)
			out->passed++;
		else
			failh(json_string_value(json_object_get(group, "description")),
			      json_string_value(json_object_get(test, "description")), why);
	}
}

static void run_group(struct schema_suite *out, const json_t *group, schema_suite_h *failh)
{
	const json_t *root = json_object_get(group, "schema");
	const char *name = json_string_value(json_object_get(group, "description"));
	char why[SCHEMA_WHY_MAX];
	struct schema *s = NULL;
	int err = schema_alloc(&s, root, why, sizeof why);

	if (!is_supported(root, true)) {
		out->others++;
		out->refused += err == EINVAL && *why;
		if (err != EINVAL || !*why)
			failh(name, "its schema is refused", "it is not");
	} else if (err) {
		out->tests += (unsigned)json_array_size(json_object_get(group, "tests"));
		failh(name, "its schema is accepted", why);
	} else {
		out->groups++;
		run_tests(out, s, group, failh);
	}
	schema_free(s);
}

static bool run_file(struct schema_suite *out, const char *path, schema_suite_h *failh)
{
	json_t *groups = json_load_file(path, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL), *group;
	bool ok = groups;
	size_t i;

	json_array_foreach(groups, i, group) run_group(out, group, failh);
	json_decref(groups);
	return ok;
}

bool schema_suite_run(struct schema_suite *out, const char *folder, schema_suite_h *failh)
{
	char path[PATH_SIZE];
	struct dirent *e;
	DIR *dir = opendir(folder);
	bool ok = dir;

	*out = (struct schema_suite){0};
	while (ok && (e = readdir(dir)))
		if (strstr(e->d_name, ".json"))
			ok = snprintf(path, sizeof path, "%s/%s", folder, e->d_name) <
				     (int)sizeof path &&
			     run_file(out, path, failh);
	if (dir)
		closedir(dir);
	return ok;
}
