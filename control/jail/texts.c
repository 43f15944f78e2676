#include "control/jail/texts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const *texts_read(struct texts *t, const char *json)
{
	json_t *item;
	size_t i;

	t->root = *json ? json_loads(json, 0, NULL) : NULL;
	json_array_foreach(t->root, i, item) if (t->n < JAIL_COMMAND_MAX) t->v[t->n++] =
		json_string_value(item);
	return t->v;
}

static int join(struct texts *t, const char *name, const char *between, const char *value)
{
	size_t size = strlen(name) + strlen(between) + strlen(value) + 1;
	char *joined;

	if (t->n == JAIL_COMMAND_MAX || t->n_joined == TEXTS_JOINED_MAX)
		return E2BIG;
	joined = malloc(size);
	if (!joined)
		return ENOMEM;
	snprintf(joined, size, "%s%s%s", name, between, value);
	t->v[t->n++] = t->joined[t->n_joined++] = joined;
	return 0;
}

int texts_join(struct texts *t, const char *json, const char *between, const char *only)
{
	json_t *object = *json ? json_loads(json, 0, NULL) : NULL;
	json_t *wanted = only && *only ? json_loads(only, 0, NULL) : NULL;
	const char *name;
	json_t *value;
	int err = 0;

	json_object_foreach(object, name, value)
	{
		if (err || !json_is_string(value) || (only && !json_object_get(wanted, name)))
			continue;
		err = join(t, name, between, json_string_value(value));
	}
	json_decref(object);
	json_decref(wanted);
	return err;
}

void texts_clear(struct texts *t)
{
	for (unsigned i = 0; i < t->n_joined; i++) {
		explicit_bzero(t->joined[i], strlen(t->joined[i]));
		free(t->joined[i]);
	}
	json_decref(t->root);
	*t = (struct texts){0};
}
