#include "control/tools/schema_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_MAX = 256, CHAIN_MAX = 64, NODES_MAX = 20000 };

/* The shape that a keyword's value must have. */
enum shape {
	IS_SCHEMA,
	IS_SCHEMAS_BY_NAME,
	IS_SCHEMA_LIST,
	IS_REF,
	IS_TYPE,
	IS_NUMBER,
	IS_DIVISOR,
	IS_COUNT,
	IS_BOOLEAN,
	IS_NAMES,
	IS_LIST,
	IS_ANYTHING,
	IS_ROOT_ONLY,
	IS_REFUSED,
};

/* Every keyword that asserts something or holds schemas; others are annotations. */
static const struct keyword {
	const char *name;
	enum shape shape;
} keywords[] = {
	{"type", IS_TYPE},
	{"properties", IS_SCHEMAS_BY_NAME},
	{"required", IS_NAMES},
	{"enum", IS_LIST},
	{"const", IS_ANYTHING},
	{"items", IS_SCHEMA},
	{"additionalProperties", IS_SCHEMA},
	{"minimum", IS_NUMBER},
	{"maximum", IS_NUMBER},
	{"exclusiveMinimum", IS_NUMBER},
	{"exclusiveMaximum", IS_NUMBER},
	{"multipleOf", IS_DIVISOR},
	{"minLength", IS_COUNT},
	{"maxLength", IS_COUNT},
	{"minItems", IS_COUNT},
	{"maxItems", IS_COUNT},
	{"minProperties", IS_COUNT},
	{"maxProperties", IS_COUNT},
	{"uniqueItems", IS_BOOLEAN},
	{"$ref", IS_REF},
	{"$defs", IS_SCHEMAS_BY_NAME},
	{"definitions",
	 IS_SCHEMAS_BY_NAME}, /* of $defs before 2019-09; many generators still use it */
	{"anyOf", IS_SCHEMA_LIST},
	{"allOf", IS_SCHEMA_LIST},
	{"oneOf", IS_SCHEMA_LIST},
	{"not", IS_SCHEMA},
	{"$id", IS_ROOT_ONLY}, /* local references mean the same with or without it */
	{"pattern", IS_REFUSED},
	{"patternProperties", IS_REFUSED},
	{"propertyNames", IS_REFUSED},
	{"prefixItems", IS_REFUSED},
	{"additionalItems", IS_REFUSED},
	{"contains", IS_REFUSED},
	{"minContains", IS_REFUSED},
	{"maxContains", IS_REFUSED},
	{"dependencies", IS_REFUSED},
	{"dependentRequired", IS_REFUSED},
	{"dependentSchemas", IS_REFUSED},
	{"if", IS_REFUSED},
	{"then", IS_REFUSED},
	{"else", IS_REFUSED},
	{"unevaluatedItems", IS_REFUSED},
	{"unevaluatedProperties", IS_REFUSED},
	{"$anchor", IS_REFUSED},
	{"$dynamicRef", IS_REFUSED},
	{"$dynamicAnchor", IS_REFUSED},
	{"$recursiveRef", IS_REFUSED},
	{"$recursiveAnchor", IS_REFUSED},
	{"$vocabulary", IS_REFUSED},
};

static const char *const types[] = {"null",   "boolean", "object", "array",
				    "number", "integer", "string"};

struct load {
	const json_t *root;
	unsigned nodes, links;
	char *why;
	size_t size;
};

static const struct keyword *find_keyword(const char *name)
{
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (strcmp(keywords[i].name, name) == 0)
			return &keywords[i];
	return NULL;
}

bool schema_is_refused(const char *keyword)
{
	const struct keyword *k = find_keyword(keyword);

	return k && k->shape == IS_REFUSED;
}

enum schema_holds schema_keyword_holds(const char *keyword)
{
	const struct keyword *k = find_keyword(keyword);

	if (!k)
		return SCHEMA_HOLDS_NONE;
	return k->shape == IS_SCHEMA					      ? SCHEMA_HOLDS_ONE
	       : k->shape == IS_SCHEMAS_BY_NAME || k->shape == IS_SCHEMA_LIST ? SCHEMA_HOLDS_MANY
									      : SCHEMA_HOLDS_NONE;
}

/* ---- references (RFC 6901 in a URI fragment) ---- */
static int read_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads one character of a fragment. NUL: its end, or malformed. */
static char read_fragment(const char **p)
{
	int hi, lo;

	if (**p != '%')
		return **p ? *(*p)++ : '\0';
	hi = read_hex((*p)[1]);
	lo = hi < 0 ? -1 : read_hex((*p)[2]);
	if (lo < 0)
		return '\0';
	*p += 3;
	return (char)(hi * 16 + lo);
}

/* Reads the token behind a '/'. False: malformed or too long. */
static bool read_token(const char **p, char token[TOKEN_MAX])
{
	size_t n = 0;

	while (**p && **p != '/') {
		char c = read_fragment(p);

		if (c == '~') {
			c = read_fragment(p);
			if (c != '0' && c != '1')
				return false;
			c = c == '0' ? '~' : '/';
		}
		if (!c || n + 1 == TOKEN_MAX)
			return false;
		token[n++] = c;
	}
	token[n] = '\0';
	return true;
}

static const json_t *find_item(const json_t *list, const char *token)
{
	char *end;
	unsigned long i;

	if (*token < '0' || *token > '9' || (*token == '0' && token[1]))
		return NULL;
	errno = 0;
	i = strtoul(token, &end, 10);
	return *end || errno ? NULL : json_array_get(list, i);
}

/* Walks only through keywords that hold schemas, so that the target was checked like every other
 * schema. */
const json_t *schema_resolve(const json_t *root, const char *ref)
{
	const json_t *at = root;
	char token[TOKEN_MAX];

	if (*ref++ != '#')
		return NULL;
	while (at && *ref) {
		const struct keyword *k;

		if (*ref++ != '/' || !json_is_object(at) || !read_token(&ref, token))
			return NULL;
		k = find_keyword(token);
		at = json_object_get(at, token);
		if (!k || !at)
			return NULL;
		if (k->shape == IS_SCHEMA)
			continue;
		if (k->shape != IS_SCHEMAS_BY_NAME && k->shape != IS_SCHEMA_LIST)
			return NULL;
		if (*ref++ != '/' || !read_token(&ref, token))
			return NULL;
		at = k->shape == IS_SCHEMA_LIST ? find_item(at, token) : json_object_get(at, token);
	}
	return at;
}

/* True if the schemas that apply to one value from here on end. */
static bool chain_ends(struct load *l, const json_t *schema, unsigned left)
{
	static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
	const char *ref = json_string_value(json_object_get(schema, "$ref"));
	const json_t *not_ = json_object_get(schema, "not"), *target;
	json_t *item;
	size_t i;

	if (!left || l->links++ > NODES_MAX)
		return false;
	target = ref ? schema_resolve(l->root, ref) : NULL;
	if ((target && !chain_ends(l, target, left - 1)) ||
	    (not_ && !chain_ends(l, not_, left - 1)))
		return false;
	for (size_t k = 0; k < 3; k++)
		json_array_foreach(json_object_get(schema, lists[k]), i,
				   item) if (!chain_ends(l, item, left - 1)) return false;
	return true;
}

/* ---- the check of a schema ---- */
static bool refuse(struct load *l, const struct schema_place *at, const char *rest)
{
	schema_say(l->why, l->size, "The schema", at, "%s", rest);
	return false;
}

static bool is_type(const json_t *v)
{
	for (size_t i = 0; json_is_string(v) && i < sizeof types / sizeof *types; i++)
		if (strcmp(json_string_value(v), types[i]) == 0)
			return true;
	return false;
}

static bool all_items(const json_t *list, bool (*fits)(const json_t *))
{
	json_t *item;
	size_t i;

	if (!json_is_array(list))
		return false;
	json_array_foreach(list, i, item) if (!fits(item)) return false;
	return true;
}

static bool is_text(const json_t *v)
{
	return json_is_string(v);
}

static bool check_schema(struct load *l, const json_t *schema, const struct schema_place *at,
			 unsigned depth);

static bool check_ref(struct load *l, const json_t *schema, const json_t *ref,
		      const struct schema_place *at)
{
	char text[TOKEN_MAX], rest[TOKEN_MAX + 64];

	if (!json_is_string(ref))
		return refuse(l, at, "must be a string");
	if (!schema_resolve(l->root, json_string_value(ref))) {
		snprintf(rest, sizeof rest, "refers to \"%s\", which is no schema in this document",
			 schema_quote_text(text, 80, json_string_value(ref)));
		return refuse(l, at, rest);
	}
	if (!chain_ends(l, schema, CHAIN_MAX))
		return refuse(l, at,
			      l->links > NODES_MAX ? "has too many references"
						   : "refers to itself without end");
	return true;
}

static bool check_members(struct load *l, const json_t *holder, const struct schema_place *at,
			  unsigned depth)
{
	const char *key;
	json_t *item;
	size_t i;

	json_array_foreach(holder, i, item)
	{
		struct schema_place in = {.parent = at, .index = i};

		if (!check_schema(l, item, &in, depth))
			return false;
	}
	json_object_foreach((json_t *)holder, key, item)
	{
		struct schema_place in = {.parent = at, .key = key};

		if (!check_schema(l, item, &in, depth))
			return false;
	}
	return true;
}

/* Says what the value of a keyword must be; NULL when it is that. */
static const char *find_misfit(enum shape shape, const json_t *v, bool root)
{
	switch (shape) {
	case IS_SCHEMAS_BY_NAME:
		return json_is_object(v) ? NULL : "must be an object of schemas";
	case IS_SCHEMA_LIST:
		return json_array_size(v) ? NULL : "must be a list of schemas that is not empty";
	case IS_TYPE:
		return is_type(v) || (json_array_size(v) && all_items(v, is_type))
			       ? NULL
			       : "must be the name of a type or a list of such names";
	case IS_NUMBER:
		return json_is_number(v) ? NULL : "must be a number";
	case IS_DIVISOR:
		return json_is_number(v) && json_number_value(v) > 0 ? NULL
								     : "must be a number above 0";
	case IS_COUNT:
		return schema_is_integer(v) && json_number_value(v) >= 0
			       ? NULL
			       : "must be an integer that is not negative";
	case IS_BOOLEAN:
		return json_is_boolean(v) ? NULL : "must be true or false";
	case IS_NAMES:
		return all_items(v, is_text) ? NULL : "must be a list of names";
	case IS_LIST:
		return json_is_array(v) ? NULL : "must be a list";
	case IS_ROOT_ONLY:
		return root ? NULL : "is supported only in the outermost schema";
	case IS_REFUSED:
		return "is a keyword that is not supported";
	default:
		return NULL;
	}
}

static bool check_keyword(struct load *l, const json_t *schema, const struct keyword *k,
			  const struct schema_place *at, unsigned depth)
{
	const json_t *v = json_object_get(schema, k->name);
	struct schema_place in = {.parent = at, .key = k->name};
	const char *misfit = find_misfit(k->shape, v, !at->parent);

	if (misfit)
		return refuse(l, &in, misfit);
	switch (k->shape) {
	case IS_SCHEMA:
		return check_schema(l, v, &in, depth - 1);
	case IS_SCHEMAS_BY_NAME:
	case IS_SCHEMA_LIST:
		return check_members(l, v, &in, depth - 1);
	case IS_REF:
		return check_ref(l, schema, v, &in);
	default:
		return true;
	}
}

static bool check_schema(struct load *l, const json_t *schema, const struct schema_place *at,
			 unsigned depth)
{
	const char *key;
	json_t *v;

	if (!depth || ++l->nodes > NODES_MAX)
		return refuse(l, at, "is nested too deeply");
	if (json_is_boolean(schema))
		return true;
	if (!json_is_object(schema))
		return refuse(l, at, "must be an object, true or false");
	json_object_foreach((json_t *)schema, key, v)
	{
		const struct keyword *k = find_keyword(key);

		if (k && !check_keyword(l, schema, k, at, depth))
			return false;
	}
	return true;
}

int schema_alloc(struct schema **out, const json_t *root, char *why, size_t size)
{
	struct load l = {.root = root, .why = why, .size = size};
	struct schema_place at = {0};
	struct schema *s;

	if (size)
		*why = '\0';
	if (!out || !root)
		return EINVAL;
	/* A level of schemas is up to two of JSON, and values of keywords may have some of their
	 * own. */
	if (!schema_within_depth(root, 3 * SCHEMA_DEPTH_MAX)) {
		refuse(&l, &at, "is nested too deeply");
		return E2BIG;
	}
	if (json_dumpb(root, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) > SCHEMA_SIZE_MAX) {
		refuse(&l, &at, "is larger than 64 KiB");
		return E2BIG;
	}
	if (!check_schema(&l, root, &at, SCHEMA_DEPTH_MAX))
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->root = json_deep_copy(root);
	if (!s->root) {
		free(s);
		return ENOMEM;
	}
	*out = s;
	return 0;
}

struct schema *schema_free(struct schema *s)
{
	if (!s)
		return NULL;
	json_decref(s->root);
	free(s);
	return NULL;
}
