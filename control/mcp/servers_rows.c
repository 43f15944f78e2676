/* Rows of servers' tools in the rooms' registries (servers.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/mcp/servers_inside.h"
#include "control/mcp/tool_name.h"
#include "control/tools/untrusted.h"
#include "ipc/log.h"

/* Of mcp_record.effects. */
enum { EFFECTS_OUTSIDE, EFFECTS_TOLD, EFFECTS_NONE };

static bool reads_only(const struct entry *e, const struct mcp_tool *t)
{
	return e->record.effects == EFFECTS_NONE ||
	       (e->record.effects == EFFECTS_TOLD && t->reads_only);
}

/* The texts of a list are a stranger's and stand in every request: without characters that nobody
 * sees, and marked as words of the server. The caller frees it. NULL without memory. */
static char *describe(const struct entry *e, const char *text)
{
	static const char told[] = "The server %s says about it: %s";
	size_t size = sizeof told + strlen(e->record.name) + strlen(text);
	char *about = malloc(size);

	if (!about)
		return NULL;
	snprintf(about, size, told, e->record.name, text);
	untrusted_clean_line(about);
	return about;
}

static void add_row(struct share *share, const char *tool, const char *description,
		    const char *schema, bool reads)
{
	const struct entry *e = share->entry;
	char name[TOOLS_NAME_MAX];
	struct tool_row row = {.name = name,
			       .description = description,
			       .schema = schema,
			       .effect = reads ? TOOL_EFFECT_NONE : TOOL_EFFECT_OUTSIDE,
			       .who = TOOL_WHO_EVERYONE,
			       .timeout_ms = CALL_MS,
			       .follow = TOOL_FOLLOW_UP,
			       .abort = reads ? TOOL_ABORT_STOP : TOOL_ABORT_DETACH,
			       .repeat = reads ? TOOL_REPEAT_REUSE : TOOL_REPEAT_RUN,
			       .max_output = OUTPUT_MAX,
			       .taints = TOOL_TAINTS_SESSION,
			       .loose = true,
			       .confirm = !reads};
	int err;

	tool_name_make(name, sizeof name, e->record.name, tool);
	err = tools_registry_add(share->seat->room.registry, &row, &mcp_shell, share);
	if (err)
		log_warn("mcp_tool_left_out", "server=%s tool=\"%s\" error=\"%s\"", e->record.name,
			 tool,
			 err == EINVAL ? "its schema is malformed or refers elsewhere"
				       : strerror(err));
}

static void add_further(struct share *share)
{
	static const char lists[] = "{\"type\":\"object\",\"properties\":{}}";
	static const struct {
		enum mcp_verb verb;
		const char *about, *schema;
	} rows[] = {
		{MCP_LIST_RESOURCES, "Lists what this server has to read, by address.", lists},
		{MCP_READ_RESOURCE, "Reads what this server has at an address.",
		 "{\"type\":\"object\",\"properties\":{\"uri\":{\"type\":\"string\"}},"
		 "\"required\":[\"uri\"]}"},
		{MCP_LIST_PROMPTS, "Lists the prompts that this server offers.", lists},
		{MCP_GET_PROMPT, "Gets one of the prompts that this server offers.",
		 "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},"
		 "\"arguments\":{\"type\":\"object\"}},\"required\":[\"name\"]}"},
	};
	const struct mcp *m = mcp_server_client(share->entry->server);

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool prompt = rows[i].verb == MCP_LIST_PROMPTS || rows[i].verb == MCP_GET_PROMPT;

		if (prompt ? mcp_has_prompts(m) : mcp_has_resources(m))
			add_row(share, mcp_verb_names[rows[i].verb], rows[i].about, rows[i].schema,
				true);
	}
}

void mcp_rows_renew(struct share *share)
{
	const struct entry *e = share->entry;
	const struct mcp_tool *t;
	size_t n;

	tools_registry_remove(share->seat->room.registry, &mcp_shell, share);
	if (!e->server || mcp_state(mcp_server_client(e->server)) != MCP_READY)
		return;
	t = mcp_tools(mcp_server_client(e->server), &n);
	for (size_t i = 0; i < n; i++) {
		char *schema = json_dumps(t[i].schema, JSON_COMPACT);

		char *about = describe(e, *t[i].description ? t[i].description : t[i].name);

		if (schema && about) {
			untrusted_clean_line(schema);
			add_row(share, t[i].name, about, schema, reads_only(e, &t[i]));
		}
		free(about);
		free(schema);
	}
	if (e->record.offer)
		add_further(share);
}
