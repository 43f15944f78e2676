#include "control/tools/schema_inside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NESTING_MAX = 512, LIST_TEXT = 200 };

struct check {
	const json_t *root;
	unsigned steps;	  /* left */
	unsigned nesting; /* left */
	char *why;	  /* NULL: alternatives are tried, and nobody reads the reason */
	size_t size;
};

static bool check_value(struct check *c, const json_t *schema, const json_t *v,
			const struct schema_place *at);

/* Says what is wrong with the value, unless nobody reads it. Always false. */
#define FAIL(c, at, ...)                                                                           \
	((c)->why ? (schema_say((c)->why, (c)->size, "The value", (at), __VA_ARGS__), false)       \
		  : false)

static const char *describe_type(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a number";
	case JSON_NULL:
		return "null";
	default:
		return "a boolean";
	}
}

static bool has_type(const char *type, const json_t *v)
{
	switch (*type) {
	case 'o':
		return json_is_object(v);
	case 'a':
		return json_is_array(v);
	case 's':
		return json_is_string(v);
	case 'b':
		return json_is_boolean(v);
	case 'i':
		return schema_is_integer(v);
	default:
		return strcmp(type, "null") == 0 ? json_is_null(v) : json_is_number(v);
	}
}

static bool check_type(struct check *c, const json_t *type, const json_t *v,
		       const struct schema_place *at)
{
	char list[LIST_TEXT];
	json_t *item;
	size_t i;

	if (json_is_string(type)) {
		const char *name = json_string_value(type);

		return has_type(name, v) ||
		       FAIL(c, at, "must be of type %s, but it is %s", name, describe_type(v));
	}
	json_array_foreach(type, i, item) if (has_type(json_string_value(item), v)) return true;
	return c->why && FAIL(c, at, "must be of one of the types %s, but it is %s",
			      schema_quote(list, sizeof list, type), describe_type(v));
}

static bool check_choice(struct check *c, const json_t *schema, const json_t *v,
			 const struct schema_place *at)
{
	const json_t *choice = json_object_get(schema, "enum"),
		     *only = json_object_get(schema, "const");
	char list[LIST_TEXT];
	json_t *item;
	bool found = false;
	size_t i;

	if (only && !schema_equal(only, v, &c->steps))
		return c->why && FAIL(c, at, "must be %s", schema_quote(list, sizeof list, only));
	json_array_foreach(choice, i, item) found = found || schema_equal(item, v, &c->steps);
	return !choice || found ||
	       (c->why &&
		FAIL(c, at, "must be one of %s", schema_quote(list, sizeof list, choice)));
}

/* ---- numbers, lengths ---- */
static bool check_number(struct check *c, const json_t *schema, const json_t *v,
			 const struct schema_place *at)
{
	static const struct {
		const char *name, *words;
		int sign; /* of value minus bound: forbidden */
		bool equal;
	} bounds[] = {
		{"minimum", "at least", -1, true},
		{"maximum", "at most", 1, true},
		{"exclusiveMinimum", "more than", -1, false},
		{"exclusiveMaximum", "less than", 1, false},
	};
	const json_t *divisor = json_object_get(schema, "multipleOf");
	char want[40], got[40];

	for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
		const json_t *bound = json_object_get(schema, bounds[i].name);
		int order = bound ? schema_compare(v, bound) : 0;

		if (!bound || (order ? order != bounds[i].sign : bounds[i].equal))
			continue;
		return c->why && FAIL(c, at, "must be %s %s, but it is %s", bounds[i].words,
				      schema_quote(want, sizeof want, bound),
				      schema_quote(got, sizeof got, v));
	}
	return !divisor || schema_is_multiple(v, divisor) ||
	       (c->why &&
		FAIL(c, at, "must be a multiple of %s, but it is %s",
		     schema_quote(want, sizeof want, divisor), schema_quote(got, sizeof got, v)));
}

static bool check_count(struct check *c, const json_t *schema, size_t n, const char *const names[3],
			const struct schema_place *at)
{
	const json_t *least = json_object_get(schema, names[0]),
		     *most = json_object_get(schema, names[1]);

	if (least && (double)n < json_number_value(least))
		return FAIL(c, at, "must have at least %.0f %s, but it has %zu",
			    json_number_value(least), names[2], n);
	if (most && (double)n > json_number_value(most))
		return FAIL(c, at, "must have at most %.0f %s, but it has %zu",
			    json_number_value(most), names[2], n);
	return true;
}

/* ---- arrays, objects ---- */
static bool check_unique(struct check *c, const json_t *list, const struct schema_place *at)
{
	size_t n = json_array_size(list);

	for (size_t i = 1; i < n && c->steps; i++)
		for (size_t k = 0; k < i; k++)
			if (schema_equal(json_array_get(list, i), json_array_get(list, k),
					 &c->steps))
				return FAIL(c, at,
					    "must not have equal items, but items %zu and %zu are "
					    "equal",
					    k, i);
	return true;
}

static bool check_array(struct check *c, const json_t *schema, const json_t *v,
			const struct schema_place *at)
{
	static const char *const counts[] = {"minItems", "maxItems", "items"};
	const json_t *items = json_object_get(schema, "items");
	json_t *item;
	size_t i;

	if (!check_count(c, schema, json_array_size(v), counts, at) ||
	    (json_is_true(json_object_get(schema, "uniqueItems")) && !check_unique(c, v, at)))
		return false;
	if (items)
		json_array_foreach(v, i, item)
		{
			struct schema_place in = {.parent = at, .index = i};

			if (!check_value(c, items, item, &in))
				return false;
		}
	return true;
}

/* Lists the names of the schema's properties, so that the model can choose another. */
static bool fail_unknown(struct check *c, const json_t *properties, const char *key,
			 const struct schema_place *at)
{
	char name[64], names[LIST_TEXT] = "";
	const char *known;
	json_t *v;

	if (!c->why)
		return false;
	json_object_foreach((json_t *)properties, known, v)
	{
		size_t n = strlen(names);

		if (n + strlen(known) + 4 < sizeof names)
			snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", known);
	}
	schema_quote_text(name, sizeof name, key);
	if (!*names)
		return FAIL(c, at, "must not have the property \"%s\"", name);
	return FAIL(c, at, "must not have the property \"%s\"; its properties are: %s", name,
		    names);
}

static bool check_required(struct check *c, const json_t *schema, const json_t *v,
			   const struct schema_place *at)
{
	char name[64];
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, item) if (
		!json_object_get(
			v, json_string_value(
				   item))) return FAIL(c, at, "lacks the required property \"%s\"",
						       schema_quote_text(name, sizeof name,
									 json_string_value(item)));
	return true;
}

static bool check_object(struct check *c, const json_t *schema, const json_t *v,
			 const struct schema_place *at)
{
	static const char *const counts[] = {"minProperties", "maxProperties", "properties"};
	const json_t *properties = json_object_get(schema, "properties"),
		     *others = json_object_get(schema, "additionalProperties");
	const char *key;
	json_t *item;

	if (!check_required(c, schema, v, at) ||
	    !check_count(c, schema, json_object_size(v), counts, at))
		return false;
	json_object_foreach((json_t *)v, key, item)
	{
		const json_t *known = json_object_get(properties, key);
		const json_t *below = known ? known : others;
		struct schema_place in = {.parent = at, .key = key};

		if (!known && json_is_false(others))
			return fail_unknown(c, properties, key, at);
		if (below && !check_value(c, below, item, &in))
			return false;
	}
	return true;
}

/* ---- combinations ---- */
static bool try_value(struct check *c, const json_t *schema, const json_t *v,
		      const struct schema_place *at)
{
	char *why = c->why;
	bool ok;

	c->why = NULL;
	ok = check_value(c, schema, v, at);
	c->why = why;
	return ok;
}

/* The reason of the alternative that the value's type points to, or of the first. */
static bool fail_any(struct check *c, const json_t *list, const json_t *v,
		     const struct schema_place *at)
{
	const json_t *nearest = json_array_get(list, 0);
	json_t *item;
	size_t i;

	if (!c->why)
		return false;
	json_array_foreach(list, i, item)
	{
		const char *type = json_string_value(json_object_get(item, "type"));

		if (type && has_type(type, v)) {
			nearest = item;
			break;
		}
	}
	return check_value(c, nearest, v, at);
}

static bool check_one(struct check *c, const json_t *list, const json_t *v,
		      const struct schema_place *at)
{
	unsigned matches = 0;
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) matches += try_value(c, item, v, at);
	if (matches > 1)
		return FAIL(c, at, "must match only one of %zu alternatives, but it matches %u",
			    json_array_size(list), matches);
	return matches || fail_any(c, list, v, at);
}

static bool check_combined(struct check *c, const json_t *schema, const json_t *v,
			   const struct schema_place *at)
{
	const json_t *any = json_object_get(schema, "anyOf"),
		     *not_ = json_object_get(schema, "not"),
		     *one = json_object_get(schema, "oneOf");
	bool found = false;
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(schema, "allOf"), i,
			   item) if (!check_value(c, item, v, at)) return false;
	json_array_foreach(any, i, item) found = found || try_value(c, item, v, at);
	if (any && !found && !fail_any(c, any, v, at))
		return false;
	if (one && !check_one(c, one, v, at))
		return false;
	if (not_ && try_value(c, not_, v, at))
		return FAIL(c, at, "has a form that the schema excludes");
	return true;
}

static bool check_keywords(struct check *c, const json_t *schema, const json_t *v,
			   const struct schema_place *at)
{
	static const char *const lengths[] = {"minLength", "maxLength", "characters"};
	const json_t *type = json_object_get(schema, "type"),
		     *ref = json_object_get(schema, "$ref");

	if (type && !check_type(c, type, v, at))
		return false;
	if (!check_choice(c, schema, v, at))
		return false;
	if (json_is_number(v) && !check_number(c, schema, v, at))
		return false;
	if (json_is_string(v) && !check_count(c, schema, schema_count_chars(v), lengths, at))
		return false;
	if (json_is_array(v) && !check_array(c, schema, v, at))
		return false;
	if (json_is_object(v) && !check_object(c, schema, v, at))
		return false;
	if (ref && !check_value(c, schema_resolve(c->root, json_string_value(ref)), v, at))
		return false;
	return check_combined(c, schema, v, at);
}

/* When the steps are used up, everything fails at once, and schema_check says so. */
static bool check_value(struct check *c, const json_t *schema, const json_t *v,
			const struct schema_place *at)
{
	bool ok;

	if (!c->steps || !c->nesting) {
		c->steps = 0;
		return false;
	}
	c->steps--;
	if (json_is_true(schema))
		return true;
	if (json_is_false(schema))
		return FAIL(c, at, "is not allowed");
	c->nesting--;
	ok = check_keywords(c, schema, v, at);
	c->nesting++;
	return ok;
}

int schema_check(const struct schema *s, const json_t *value, char *why, size_t size)
{
	struct check c = {.root = s->root,
			  .steps = SCHEMA_STEPS_MAX,
			  .nesting = NESTING_MAX,
			  .why = size ? why : NULL,
			  .size = size};
	struct schema_place at = {0};
	bool ok;

	if (size)
		*why = '\0';
	if (!schema_within_depth(value, SCHEMA_DEPTH_MAX)) {
		FAIL(&c, &at, "is nested deeper than %d levels", SCHEMA_DEPTH_MAX);
		return E2BIG;
	}
	ok = check_value(&c, s->root, value, &at);
	if (!c.steps) {
		FAIL(&c, &at, "is too complex to be checked against its schema");
		return E2BIG;
	}
	return ok ? 0 : EINVAL;
}
