#include "control/web/shapes.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "control/web/schemas.def"

struct shape {
	const char *method, *path, *members;
};
static const struct shape answers[] = {
#define ANSWER(METHOD, path, members) {#METHOD, path, members},
	WEB_ANSWERS(ANSWER)
#undef ANSWER
};
static const struct shape bodies[] = {
#define BODY(METHOD, path, members) {#METHOD, path, members},
	WEB_BODIES(BODY)
#undef BODY
};

/* ---- one type ---- */

static bool is(const char *text, size_t n, const char *name)
{
	return strlen(name) == n && memcmp(text, name, n) == 0;
}

/* Ids are texts, because they do not fit into the numbers of JavaScript. */
static json_t *describe_plain(const char *type, size_t n)
{
	if (is(type, n, "any"))
		return json_object();
	if (is(type, n, "id"))
		return json_pack("{s:s,s:s}", "type", "string", "pattern", "^[0-9]+$");
	if (is(type, n, "time"))
		return json_pack("{s:s,s:s}", "type", "string", "format", "date-time");
	if (is(type, n, "text"))
		return json_pack("{s:s}", "type", "string");
	return json_pack("{s:s%}", "type", type, n);
}

static json_t *describe_named(const char *type, size_t n)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%.*s", (int)n, type));
}

static json_t *describe_type(const char *type, size_t n)
{
	bool maybe = type[n - 1] == '?';
	json_t *schema;

	n -= maybe;
	schema = *type == '['			 ? json_pack("{s:s,s:o}", "type", "array", "items",
					     isupper((unsigned char)type[1])
								     ? describe_named(type + 1, n - 2)
								     : describe_plain(type + 1, n - 2))
				    : isupper((unsigned char)*type) ? describe_named(type, n)
						 : describe_plain(type, n);
	return maybe ? json_pack("{s:[o,{s:s}]}", "anyOf", schema, "type", "null") : schema;
}

/* ---- a list of members ---- */

static void add_member(const char *text, size_t n, json_t *members, json_t *required)
{
	const char *colon = memchr(text, ':', n);
	size_t name = (size_t)(colon - text);
	bool absent = text[name - 1] == '?';

	name -= absent;
	json_object_setn_new(members, text, name,
			     describe_type(colon + 1, n - (size_t)(colon + 1 - text)));
	if (!absent)
		json_array_append_new(required, json_stringn(text, name));
}

static json_t *describe_members(const char *text)
{
	json_t *members, *required;

	if (*text == '=')
		return describe_named(text + 1, strlen(text + 1));
	members = json_object();
	required = json_array();
	while (*text) {
		size_t n = strcspn(text, " ");

		add_member(text, n, members, required);
		text += n + strspn(text + n, " ");
	}
	return json_pack("{s:s,s:o,s:o}", "type", "object", "properties", members, "required",
			 required);
}

json_t *shapes_types(void)
{
	json_t *all = json_object();

#define TYPE(name, members) json_object_set_new(all, #name, describe_members(members));
	WEB_TYPES(TYPE)
#undef TYPE
	return all;
}

static json_t *find(const struct shape *list, size_t n, const char *method, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].method, method) == 0 && strcmp(list[i].path, path) == 0)
			return describe_members(list[i].members);
	return NULL;
}

json_t *shapes_answer(const char *method, const char *path)
{
	return find(answers, sizeof answers / sizeof answers[0], method, path);
}

json_t *shapes_body(const char *method, const char *path)
{
	return find(bodies, sizeof bodies / sizeof bodies[0], method, path);
}
