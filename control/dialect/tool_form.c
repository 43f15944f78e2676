#include "control/dialect/tool_form.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 16, NODES_MAX = 4000, WORD_MAX = 40, TOKEN_MAX = 128 };

static const struct limits {
	size_t length;
	const char *also, *dropped, *kept;
} forms[] = {
#define F(NAME, name, length, also, dropped, kept) {length, also, dropped, kept},
	TOOL_FORMS(F)
#undef F
};

struct copying {
	const struct limits *limits;
	const json_t *root;
	unsigned nodes; /* schemas that may still be copied: references can multiply them */
	const json_t *open[DEPTH_MAX]; /* targets of references that are being copied */
	unsigned n_open;
};

bool tool_form_takes(enum tool_form form, const char *name)
{
	const struct limits *l = &forms[form];
	size_t n = strlen(name);

	if (!n || n > l->length || (name[0] >= '0' && name[0] <= '9') || strchr(l->also, name[0]))
		return false;
	for (const char *p = name; *p; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		      (*p >= '0' && *p <= '9') || *p == '_' || strchr(l->also, *p)))
			return false;
	return true;
}

/* True if the word stands in a list of words that has a blank around each. */
static bool has_word(const char *list, const char *word)
{
	char around[WORD_MAX];
	int n = snprintf(around, sizeof around, " %s ", word);

	return n > 0 && (size_t)n < sizeof around && strstr(list, around);
}

static bool is_sent(const struct copying *c, const char *key, bool outermost)
{
	if (has_word(TOOL_FORM_NEVER, key) || (outermost && has_word(c->limits->dropped, key)))
		return false;
	return !*c->limits->kept || has_word(c->limits->kept, key);
}

/* True if the keyword holds one schema. */
static bool holds_one(const char *key)
{
	return has_word(" items additionalProperties not if then else contains propertyNames "
			"additionalItems unevaluatedItems unevaluatedProperties ",
			key);
}

static bool holds_many(const char *key)
{
	return has_word(" properties patternProperties dependentSchemas anyOf oneOf allOf "
			"prefixItems items ",
			key);
}

/* Reads a token of a JSON Pointer (RFC 6901). False: it is too long. */
static bool read_token(const char **p, char token[TOKEN_MAX])
{
	size_t n = 0;

	for (; **p && **p != '/'; (*p)++) {
		if (n + 1 == TOKEN_MAX)
			return false;
		if ((*p)[0] == '~' && ((*p)[1] == '0' || (*p)[1] == '1'))
			token[n++] = *++*p == '0' ? '~' : '/';
		else
			token[n++] = **p;
	}
	token[n] = '\0';
	return true;
}

/* NULL: it leads elsewhere. */
static const json_t *resolve(const json_t *root, const char *ref)
{
	const json_t *at = root;
	char token[TOKEN_MAX];

	if (!ref || *ref++ != '#')
		return NULL;
	while (at && *ref) {
		if (*ref++ != '/' || !read_token(&ref, token))
			return NULL;
		at = json_object_get(at, token);
	}
	return at;
}

static json_t *copy_schema(struct copying *c, const json_t *schema, unsigned depth);

/* Schemas in a list, or by name. */
static json_t *copy_many(struct copying *c, const json_t *v, unsigned depth)
{
	json_t *out = json_is_array(v) ? json_array() : json_object(), *item;
	const char *name;
	size_t i;
	int err = 0;

	json_array_foreach(v, i, item) err |=
		json_array_append_new(out, copy_schema(c, item, depth));
	json_object_foreach((json_t *)v, name, item) err |=
		json_object_set_new(out, name, copy_schema(c, item, depth));
	if (!err)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *copy_value(struct copying *c, const char *key, const json_t *v, unsigned depth)
{
	if (holds_one(key) && json_is_object(v))
		return copy_schema(c, v, depth);
	if (holds_many(key) && (json_is_object(v) || json_is_array(v)))
		return copy_many(c, v, depth);
	return json_deep_copy(v);
}

/* Models of Gemini read `enum` and do not read `const`. */
static int add_const(const struct copying *c, const json_t *schema, json_t *out)
{
	const json_t *value = json_object_get(schema, "const");

	if (!json_is_string(value) || is_sent(c, "const", false))
		return 0;
	return json_object_set_new(out, "enum", json_pack("[O]", value));
}

static int copy_members(struct copying *c, const json_t *schema, json_t *out, unsigned depth)
{
	bool outermost = schema == c->root && depth == DEPTH_MAX;
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)schema, key, v)
	{
		if (!is_sent(c, key, outermost) ||
		    (strcmp(key, "required") == 0 && !json_array_size(v)))
			continue;
		if (json_object_set_new(out, key, copy_value(c, key, v, depth - 1)))
			return -1;
	}
	return outermost ? 0 : add_const(c, schema, out);
}

static bool is_open(const struct copying *c, const json_t *target)
{
	for (unsigned i = 0; i < c->n_open; i++)
		if (c->open[i] == target)
			return true;
	return target == c->root;
}

/* A schema that is nested too deeply, or a reference to itself, becomes one that takes anything. */
static json_t *copy_schema(struct copying *c, const json_t *schema, unsigned depth)
{
	const json_t *target;
	json_t *out = json_object();

	if (!json_is_object(schema)) {
		json_decref(out);
		return json_deep_copy(schema);
	}
	if (!out || depth < 2 || !c->nodes)
		return out;
	c->nodes--;
	target = resolve(c->root, json_string_value(json_object_get(schema, "$ref")));
	if (json_is_object(target) && !is_open(c, target)) {
		json_decref(out);
		c->open[c->n_open++] = target;
		out = copy_schema(c, target, depth - 1);
		c->n_open--;
	}
	if (out && copy_members(c, schema, out, depth) == 0)
		return out;
	json_decref(out);
	return NULL;
}

/* Every provider wants an object, and some want its properties. */
static int complete_root(json_t *out)
{
	if (json_object_set_new(out, "type", json_string("object")))
		return -1;
	if (json_is_object(json_object_get(out, "properties")))
		return 0;
	return json_object_set_new(out, "properties", json_object());
}

json_t *tool_form_schema(enum tool_form form, const json_t *schema)
{
	struct copying c = {.limits = &forms[form], .root = schema, .nodes = NODES_MAX};
	json_t *out = json_is_object(schema) ? copy_schema(&c, schema, DEPTH_MAX) : json_object();

	if (out && complete_root(out) == 0)
		return out;
	json_decref(out);
	return NULL;
}

json_t *tool_form_text(enum tool_form form, const char *schema)
{
	json_t *root = json_loads(schema, 0, NULL), *out = tool_form_schema(form, root);

	json_decref(root);
	return out;
}
