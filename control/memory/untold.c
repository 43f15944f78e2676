#include "control/memory/untold.h"

#include <stddef.h>

/* The list of the request, which is made. NULL without memory. */
static json_t *list_of(json_t *request, const char *name)
{
	json_t *list = json_object_get(request, name);

	if (list || json_object_set_new(request, name, json_array()))
		return list;
	return json_object_get(request, name);
}

static bool add_id(json_t *list, json_t *id)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (json_equal(one, id))
			return false;
	}
	return list && json_is_string(id) && json_array_append(list, id) == 0;
}

static bool add_channels(json_t *request, const json_t *fact)
{
	json_t *list = list_of(request, "without_channels"), *id;
	bool added = false;
	size_t i;

	json_array_foreach(json_object_get(fact, "channels"), i, id)
	{
		added = add_id(list, id) || added;
	}
	return added;
}

bool untold_add(json_t *request, const json_t *found, untold_h *h, void *arg)
{
	const json_t *fact;
	bool added = false;
	size_t i;

	json_array_foreach(found, i, fact)
	{
		enum untold why = h(fact, arg);

		if (why == UNTOLD_AUTHOR)
			added = add_id(list_of(request, "without_authors"),
				       json_object_get(fact, "user")) ||
				added;
		else if (why == UNTOLD_CHANNEL)
			added = add_channels(request, fact) || added;
	}
	return added;
}
