/* A schema, a line feed, a value: no input may crash or pass a bound, a refusal has a sentence in
 * UTF-8, `not` of a schema judges the opposite, a schema without unsupported words judges the same
 * when it is read loosely, and every provider gets an object. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/tool_form.h"
#include "control/tools/schema.h"
#include "proto/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(int err, const char *why)
{
	if (!err != !*why || !utf8_valid(why) || strlen(why) >= SCHEMA_WHY_MAX)
		abort();
}

/* References to the root would mean another schema inside of `not`. */
static int has_references(const json_t *root)
{
	char *text = json_dumps(root, JSON_ENCODE_ANY);
	int found = !text || strstr(text, "$ref") || strstr(text, "$id");

	free(text);
	return found;
}

static void judge_loosely(const json_t *root, const json_t *value, int expected)
{
	char why[SCHEMA_WHY_MAX];
	struct schema *s = NULL;
	int err = schema_alloc_loose(&s, root, why, sizeof why);

	if (!err)
		err = schema_check(s, value, why, sizeof why);
	if (err != expected)
		abort();
	schema_free(s);
}

static void form_schema(const json_t *root)
{
	static const enum tool_form forms[] = {TOOL_FORM_CHAT, TOOL_FORM_GEMINI};

	for (unsigned i = 0; i < 2; i++) {
		json_t *out = tool_form_schema(forms[i], root);

		if (!json_is_object(json_object_get(out, "properties")))
			abort();
		json_decref(out);
	}
}

static void judge(json_t *root, const json_t *value)
{
	char why[SCHEMA_WHY_MAX];
	struct schema *s = NULL, *opposite = NULL;
	json_t *outer = json_pack("{s:O}", "not", root);
	int err = schema_alloc(&s, root, why, sizeof why), other = E2BIG;

	look_at(err, why);
	if (!err) {
		err = schema_check(s, value, why, sizeof why);
		look_at(err, why);
		if (schema_check(s, value, NULL, 0) != err)
			abort();
		judge_loosely(root, value, err);
		if (!has_references(root) && !schema_alloc(&opposite, outer, why, sizeof why))
			other = schema_check(opposite, value, why, sizeof why);
		if (err != E2BIG && other != E2BIG && !other == !err)
			abort();
		schema_free(opposite);
		schema_free(s);
	}
	json_decref(outer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = memchr(data, '\n', size);
	size_t n = cut ? (size_t)(cut - data) : size;
	json_t *root = json_loadb((const char *)data, n, JSON_DECODE_ANY, NULL);
	json_t *value = cut ? json_loadb((const char *)cut + 1, size - n - 1,
					 JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL)
			    : NULL;

	if (root)
		form_schema(root);
	if (root && value)
		judge(root, value);
	json_decref(value);
	json_decref(root);
	return 0;
}
