/* Schemas without the keywords that are not supported (schema.h).
 *
 * Whatever is left out makes a schema accept more. Inside `not` and `oneOf` that would make the
 * whole accept less, so both go as well once anything was left out: `oneOf` becomes `anyOf`. The
 * same holds for additionalProperties beside patternProperties, and for items beside prefixItems or
 * as a list. */
#include <errno.h>
#include <string.h>

#include "control/tools/schema_inside.h"

static int each_schema(json_t *schema, unsigned depth, int (*visit)(json_t *, unsigned, void *),
		       void *arg)
{
	const char *key, *name;
	json_t *v, *item;
	size_t i;
	int err = 0;

	json_object_foreach(schema, key, v)
	{
		enum schema_holds holds = schema_keyword_holds(key);

		if (holds == SCHEMA_HOLDS_ONE && (err = visit(v, depth, arg)))
			return err;
		if (holds != SCHEMA_HOLDS_MANY)
			continue;
		json_array_foreach(v, i, item) if ((err = visit(item, depth, arg))) return err;
		json_object_foreach(v, name, item) if ((err = visit(item, depth, arg))) return err;
	}
	return 0;
}

/* Removes the keywords; *found: there was one. E2BIG: too deep. */
static int drop_refused(json_t *schema, unsigned depth, void *arg)
{
	bool *found = arg;
	const char *key;
	json_t *v;
	void *tmp;

	if (!depth)
		return E2BIG;
	if (!json_is_object(schema))
		return 0;
	if (json_object_get(schema, "patternProperties"))
		json_object_del(schema, "additionalProperties");
	if (json_object_get(schema, "prefixItems") ||
	    json_is_array(json_object_get(schema, "items"))) {
		*found = true;
		json_object_del(schema, "items");
	}
	json_object_foreach_safe(schema, tmp, key, v) if (schema_is_refused(key))
	{
		*found = true;
		json_object_del(schema, key);
	}
	return each_schema(schema, depth - 1, drop_refused, arg);
}

/* A list of alternatives of which several may now hold. */
static int loosen_choices(json_t *schema, unsigned depth, void *arg)
{
	json_t *choices;

	if (!depth)
		return E2BIG;
	if (!json_is_object(schema))
		return 0;
	json_object_del(schema, "not");
	choices = json_object_get(schema, "oneOf");
	if (choices && !json_object_get(schema, "anyOf") &&
	    json_object_set(schema, "anyOf", choices))
		return ENOMEM;
	json_object_del(schema, "oneOf");
	return each_schema(schema, depth - 1, loosen_choices, arg);
}

int schema_alloc_loose(struct schema **out, const json_t *root, char *why, size_t size)
{
	bool found = false;
	json_t *copy;
	int err;

	if (!root || !schema_within_depth(root, 3 * SCHEMA_DEPTH_MAX))
		return schema_alloc(out, root, why, size); /* which tells what is wrong */
	copy = json_deep_copy(root);
	if (!copy)
		return ENOMEM;
	err = drop_refused(copy, 3 * SCHEMA_DEPTH_MAX, &found);
	if (!err && found)
		err = loosen_choices(copy, 3 * SCHEMA_DEPTH_MAX, NULL);
	if (!err)
		err = schema_alloc(out, copy, why, size);
	json_decref(copy);
	return err;
}
