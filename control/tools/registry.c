#include "control/tools/registry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/engine/core/ask.h"
#include "control/tools/schema.h"
#include "proto/base/fnv.h"

_Static_assert((int)TOOLS_MAX <= (int)ENGINE_TOOLS_MAX, "an ask holds all tools");

struct tools_registry {
	struct tool tool[TOOLS_MAX];
	unsigned n;
};

static const struct tool_row builtin[] = {
#define X(NAME, n, e, w, ms, f, a, r, most, t, c, d, s)                                            \
	{.name = #n,                                                                               \
	 .description = d,                                                                         \
	 .schema = s,                                                                              \
	 .effect = TOOL_EFFECT_##e,                                                                \
	 .who = TOOL_WHO_##w,                                                                      \
	 .timeout_ms = ms,                                                                         \
	 .follow = TOOL_FOLLOW_##f,                                                                \
	 .abort = TOOL_ABORT_##a,                                                                  \
	 .repeat = TOOL_REPEAT_##r,                                                                \
	 .max_output = most,                                                                       \
	 .taints = TOOL_TAINTS_##t,                                                                \
	 .confirm = c},
	TOOLS(X)
#undef X
};

const struct tool_row *tools_builtin(const char *name)
{
	for (size_t i = 0; i < sizeof builtin / sizeof builtin[0]; i++)
		if (strcmp(builtin[i].name, name) == 0)
			return &builtin[i];
	return NULL;
}

int tools_registry_alloc(struct tools_registry **out)
{
	*out = calloc(1, sizeof **out);
	return *out ? 0 : ENOMEM;
}

static void clear_tool(struct tool *t)
{
	schema_free(t->schema);
	free(t->texts);
	*t = (struct tool){0};
}

struct tools_registry *tools_registry_free(struct tools_registry *r)
{
	if (!r)
		return NULL;
	while (r->n)
		clear_tool(&r->tool[--r->n]);
	free(r);
	return NULL;
}

/* Every provider takes such a name. */
static bool is_name(const char *name)
{
	size_t n = strlen(name);

	return n && n < TOOLS_NAME_MAX && !(name[0] >= '0' && name[0] <= '9') &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static int read_schema(struct tool *t, const struct tool_row *row)
{
	json_t *root = json_loads(row->schema, JSON_REJECT_DUPLICATES, NULL);
	const char *type = json_string_value(json_object_get(root, "type"));
	char why[SCHEMA_WHY_MAX];
	int err = EINVAL;

	if (type && strcmp(type, "object") == 0)
		err = row->loose ? schema_alloc_loose(&t->schema, root, why, sizeof why)
				 : schema_alloc(&t->schema, root, why, sizeof why);

	json_decref(root);
	return err;
}

static int copy_texts(struct tool *t, const struct tool_row *row)
{
	size_t name = strlen(row->name) + 1, description = strlen(row->description) + 1,
	       schema = strlen(row->schema) + 1;
	char *to = malloc(name + description + schema);

	if (!to)
		return ENOMEM;
	t->texts = to;
	t->row = *row;
	t->row.name = memcpy(to, row->name, name);
	t->row.description = memcpy(to + name, row->description, description);
	t->row.schema = memcpy(to + name + description, row->schema, schema);
	if (t->row.max_output > TOOLS_OUTPUT_MAX)
		t->row.max_output = TOOLS_OUTPUT_MAX;
	return 0;
}

int tools_registry_add(struct tools_registry *r, const struct tool_row *row,
		       const struct tool_shell *shell, void *arg)
{
	struct tool t = {.shell = shell, .arg = arg};
	int err;

	if (!is_name(row->name))
		return EINVAL;
	if (tools_registry_find(r, row->name))
		return EEXIST;
	if (r->n == TOOLS_MAX)
		return ENOSPC;
	err = read_schema(&t, row);
	if (!err)
		err = copy_texts(&t, row);
	if (err) {
		clear_tool(&t);
		return err;
	}
	r->tool[r->n++] = t;
	return 0;
}

void tools_registry_remove(struct tools_registry *r, const struct tool_shell *shell,
			   const void *arg)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < r->n; i++) {
		if (r->tool[i].shell == shell && r->tool[i].arg == arg)
			clear_tool(&r->tool[i]);
		else
			r->tool[kept++] = r->tool[i];
	}
	r->n = kept;
}

const struct tool *tools_registry_find(const struct tools_registry *r, const char *name)
{
	for (unsigned i = 0; i < r->n; i++)
		if (strcmp(r->tool[i].row.name, name) == 0)
			return &r->tool[i];
	return NULL;
}

size_t tools_registry_list(const struct tools_registry *r, struct engine_tool *out)
{
	for (unsigned i = 0; i < r->n; i++)
		out[i] = (struct engine_tool){.name = r->tool[i].row.name,
					      .description = r->tool[i].row.description,
					      .schema = r->tool[i].row.schema};
	return r->n;
}

uint64_t tools_registry_hash(const struct tools_registry *r)
{
	uint64_t hash = FNV_BEGIN;

	for (unsigned i = 0; i < r->n; i++) {
		hash = fnv_text(hash, r->tool[i].row.name);
		hash = fnv_text(hash, r->tool[i].row.description);
		hash = fnv_text(hash, r->tool[i].row.schema);
	}
	return hash;
}

void tools_registry_names(const struct tools_registry *r, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < r->n && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? ", " : "",
				      r->tool[i].row.name);
}
