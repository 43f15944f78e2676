/* Reads a server's results (mcp.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/json_read.h"
#include "control/dialect/mcp_inside.h"
#include "proto/base/utf8.h"

enum { LIST_ITEMS_MAX = 200 };

/* ---- tools ---- */

static bool schema_fits(const struct mcp *m, const json_t *schema)
{
	size_t n = json_is_object(schema) ? json_dumpb(schema, NULL, 0, JSON_COMPACT) : 0;

	return n && n <= MCP_SCHEMA_MAX && (!m->conf.http || mcp_header_valid(schema));
}

static bool known_already(const struct mcp_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->tool[i].name, name) == 0)
			return true;
	return false;
}

static int add_tool(struct mcp *m, const json_t *item)
{
	struct slice description = json_read_text(item, "description");
	json_t *schema = json_object_get(item, "inputSchema");
	struct mcp_list *list = &m->coming;
	struct mcp_tool *t, *grown;
	size_t n;

	if (!description.n)
		description = json_read_text(item, "title");
	grown = realloc(list->tool, (list->n + 1) * sizeof *list->tool);
	if (!grown)
		return ENOMEM;
	list->tool = grown;
	t = &grown[list->n];
	*t = (struct mcp_tool){0};
	if (list->n == MCP_TOOLS_MAX || json_read_copy(item, "name", t->name, sizeof t->name) ||
	    known_already(list, t->name) || !schema_fits(m, schema)) {
		list->left_out++;
		return 0;
	}
	n = description.n < MCP_DESCRIPTION_MAX ? description.n : MCP_DESCRIPTION_MAX;
	t->description =
		strndup((const char *)description.p, utf8_whole((const char *)description.p, n));
	t->schema = json_deep_copy(schema);
	/* Some leave out what the protocol demands of every schema. */
	if (!t->description || !t->schema ||
	    (!json_object_get(schema, "type") &&
	     json_object_set_new(t->schema, "type", json_string("object")))) {
		free(t->description);
		json_decref(t->schema);
		return ENOMEM;
	}
	utf8_plain(t->description);
	t->reads_only =
		json_is_true(json_object_get(json_object_get(item, "annotations"), "readOnlyHint"));
	list->n++;
	return 0;
}

int mcp_in_tools(struct mcp *m, const json_t *result)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(result, "tools"), i, item)
	{
		int err = add_tool(m, item);

		if (err)
			return err;
	}
	return 0;
}

void mcp_list_clear(struct mcp_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->tool[i].description);
		json_decref(list->tool[i].schema);
	}
	free(list->tool);
	*list = (struct mcp_list){0};
}

bool mcp_list_equal(const struct mcp_list *a, const struct mcp_list *b)
{
	if (a->n != b->n || a->left_out != b->left_out)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->tool[i].name, b->tool[i].name) != 0 ||
		    strcmp(a->tool[i].description, b->tool[i].description) != 0 ||
		    a->tool[i].reads_only != b->tool[i].reads_only ||
		    !json_equal(a->tool[i].schema, b->tool[i].schema))
			return false;
	return true;
}

/* ---- texts ---- */

struct text {
	char *p;
	size_t n;
	bool cut, poor;
};

static void append(struct text *t, const char *p, size_t n)
{
	size_t room = MCP_RESULT_MAX - t->n;
	char *grown;

	if (n > room) {
		n = utf8_whole(p, room);
		t->cut = true;
	}
	grown = t->poor ? NULL : realloc(t->p, t->n + n + 1);
	if (!grown) {
		t->poor = true;
		return;
	}
	memcpy(grown + t->n, p, n);
	grown[t->n += n] = '\0';
	t->p = grown;
}

static void append_line(struct text *t, struct slice s)
{
	if (t->n)
		append(t, "\n", 1);
	append(t, (const char *)s.p, s.n);
}

/* Content other than text is named, so that the model knows of it. */
static void append_note(struct text *t, const char *what, struct slice detail)
{
	char line[512];
	int n = snprintf(line, sizeof line, "[%s %.*s]", what,
			 (int)utf8_whole((const char *)detail.p, detail.n < 400 ? detail.n : 400),
			 (const char *)detail.p);

	append_line(t, (struct slice){(const uint8_t *)line, (size_t)n});
}

static void append_resource(struct text *t, const json_t *resource)
{
	if (json_is_string(json_object_get(resource, "text")))
		append_line(t, json_read_text(resource, "text"));
	else
		append_note(t, "a file without text:", json_read_text(resource, "uri"));
}

static void append_content(struct text *t, const json_t *part)
{
	const char *type = json_string_value(json_object_get(part, "type"));

	type = type ? type : "";
	if (strcmp(type, "text") == 0)
		append_line(t, json_read_text(part, "text"));
	else if (strcmp(type, "resource") == 0)
		append_resource(t, json_object_get(part, "resource"));
	else if (strcmp(type, "resource_link") == 0)
		append_note(t, "a link:", json_read_text(part, "uri"));
	else
		append_note(t,
			    strcmp(type, "image") == 0	 ? "an image:"
			    : strcmp(type, "audio") == 0 ? "a sound:"
							 : "something without text",
			    json_read_text(part, "mimeType"));
}

static void append_tool_result(struct text *t, const json_t *result)
{
	const json_t *structured = json_object_get(result, "structuredContent");
	json_t *part;
	size_t i;
	char *dump;

	json_array_foreach(json_object_get(result, "content"), i, part) append_content(t, part);
	if (t->n || !structured)
		return;
	dump = json_dumps(structured, JSON_COMPACT | JSON_ENCODE_ANY);
	if (!dump)
		t->poor = true;
	else
		append(t, dump, strlen(dump));
	free(dump);
}

/* "NAME: DESCRIPTION", a line each. */
static void append_items(struct text *t, const json_t *items, const char *key)
{
	json_t *item;
	size_t i;

	json_array_foreach(items, i, item)
	{
		struct slice about = json_read_text(item, "description");

		if (i == LIST_ITEMS_MAX)
			return;
		if (!about.n)
			about = json_read_text(item, "name");
		append_line(t, json_read_text(item, key));
		append(t, ": ", 2);
		append(t, (const char *)about.p, about.n);
	}
}

static void append_prompt(struct text *t, const json_t *messages)
{
	json_t *message;
	size_t i;

	json_array_foreach(messages, i, message)
		append_content(t, json_object_get(message, "content"));
}

char *mcp_in_text(enum mcp_verb verb, const json_t *result, bool *cut)
{
	struct text t = {0};
	json_t *part;
	size_t i;

	append(&t, "", 0);
	switch (verb) {
	case MCP_CALL_TOOL:
		append_tool_result(&t, result);
		break;
	case MCP_LIST_RESOURCES:
		append_items(&t, json_object_get(result, "resources"), "uri");
		break;
	case MCP_READ_RESOURCE:
		json_array_foreach(json_object_get(result, "contents"), i, part)
			append_resource(&t, part);
		break;
	case MCP_LIST_PROMPTS:
		append_items(&t, json_object_get(result, "prompts"), "name");
		break;
	case MCP_GET_PROMPT:
		append_prompt(&t, json_object_get(result, "messages"));
		break;
	}
	*cut = t.cut;
	if (!t.poor)
		return t.p;
	free(t.p);
	return NULL;
}
