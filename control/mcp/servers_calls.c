/* Calls of servers' tools (servers.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/mcp/servers_inside.h"
#include "control/mcp/tool_name.h"
#include "control/tools/envelope.h"
#include "control/tools/untrusted.h"
#include "ipc/env.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

/* Bytes of a fence around a text: its marks, its origin, its words. */
enum { FENCE_MAX = 200 };

const char *const mcp_verb_names[VERBS] = {[MCP_LIST_RESOURCES] = "list_resources",
					   [MCP_READ_RESOURCE] = "read_resource",
					   [MCP_LIST_PROMPTS] = "list_prompts",
					   [MCP_GET_PROMPT] = "get_prompt"};

static struct call *find_call(struct mcp_servers *s, uint64_t number)
{
	for (unsigned i = 0; i < CALLS_MAX; i++)
		if (s->call[i].number == number)
			return &s->call[i];
	return NULL;
}

/* Text of a server in its fence, cut so that the fence stays whole. The caller frees it. NULL
 * without memory. */
static char *fence(const struct entry *e, const char *text, size_t most)
{
	uint8_t mark[UNTRUSTED_MARK];
	char origin[RECORD_NAME_MAX + 16], *cut, *fenced = NULL;
	size_t n = strlen(text), room = most - FENCE_MAX;

	n = n > room ? utf8_whole(text, room) : n;
	cut = strndup(text, n);
	env_random(e->set->env, mark, sizeof mark);
	snprintf(origin, sizeof origin, "MCP server %s", e->record.name);
	if (cut && untrusted_wrap(&fenced, mark, origin, cut))
		fenced = NULL;
	free(cut);
	return fenced;
}

/* Errors are texts of the server, too, but not the sentences of the client. */
static void give_result(struct mcp_seat *seat, const struct entry *e, uint32_t id,
			const struct mcp_result *result)
{
	bool ok = result->outcome == MCP_DONE;
	bool ours = !ok && result->outcome != MCP_TOOL_FAILED && result->outcome != MCP_REFUSES;
	char *text = ours ? strdup(result->text)
			  : fence(e, result->text, ok ? OUTPUT_MAX : TOOL_ERROR_MAX);

	seat->room.host.outputh(id, ok && text, slice_str(text ? text : strerror(ENOMEM)),
				seat->room.host.arg);
	free(text);
}

void mcp_calls_result(uint64_t number, const struct mcp_result *result, void *arg)
{
	struct entry *e = arg;
	struct call *c = find_call(e->set, number);
	struct mcp_seat *seat;
	uint32_t id;

	if (result->outcome != MCP_DONE)
		e->failures++;
	if (!c)
		return;
	seat = c->share->seat;
	id = c->id;
	*c = (struct call){0};
	give_result(seat, e, id, result);
}

void mcp_calls_progress(uint64_t number, double share, const char *text, void *arg)
{
	const struct entry *e = arg;
	const struct call *c = find_call(e->set, number);
	const struct tool_host *host = c ? &c->share->seat->room.host : NULL;
	char line[MCP_WHY_MAX];

	if (!host || !host->progressh)
		return;
	if (*text)
		snprintf(line, sizeof line, "%s", text);
	else if (share >= 0)
		snprintf(line, sizeof line, "%.0f percent are done", 100 * share);
	else
		return;
	host->progressh(c->id, line, host->arg);
}

/* Finds the tool behind a name of the registry. */
static bool find_tool(const struct entry *e, const char *known, enum mcp_verb *verb,
		      const char **name)
{
	const struct mcp_tool *t;
	char made[TOOLS_NAME_MAX];
	size_t n;

	t = mcp_tools(mcp_server_client(e->server), &n);
	*verb = MCP_CALL_TOOL;
	for (size_t i = 0; i < n; i++) {
		tool_name_make(made, sizeof made, e->record.name, t[i].name);
		*name = t[i].name;
		if (strcmp(made, known) == 0)
			return true;
	}
	*name = "";
	for (unsigned v = MCP_CALL_TOOL + 1; e->record.offer && v < VERBS; v++) {
		tool_name_make(made, sizeof made, e->record.name, mcp_verb_names[v]);
		*verb = (enum mcp_verb)v;
		if (strcmp(made, known) == 0)
			return true;
	}
	return false;
}

static int ask_server(struct entry *e, const struct call *c, const char *tool,
		      const json_t *arguments)
{
	enum mcp_verb verb;
	const char *name, *named;

	if (!find_tool(e, tool, &verb, &name))
		return ENOENT;
	/* Resources and prompts are named by an argument. */
	named = json_string_value(
		json_object_get(arguments, verb == MCP_READ_RESOURCE ? "uri" : "name"));
	if (verb != MCP_CALL_TOOL)
		name = named ? named : "";
	if (verb == MCP_GET_PROMPT)
		arguments = json_object_get(arguments, "arguments");
	return mcp_server_call(e->server, c->number, verb, name, arguments, CALL_MS);
}

static int start_call(const struct tool_start *start, void *arg)
{
	struct share *share = arg;
	struct entry *e = share->entry;
	struct call *c = find_call(e->set, 0);
	json_t *arguments;
	uint64_t number;
	int err;

	if (!e->server)
		return ENOTCONN;
	if (!c)
		return EBUSY;
	arguments = json_loads(start->arguments, 0, NULL);
	number = ++e->set->numbers;
	*c = (struct call){.number = number, .share = share, .id = start->id};
	err = ask_server(e, c, start->tool, arguments);
	json_decref(arguments);
	e->calls++;
	if (err && (c = find_call(e->set, number)))
		*c = (struct call){0};
	return err;
}

static void cancel(struct call *c)
{
	struct mcp_server *server = c->share->entry->server;
	uint64_t number = c->number;

	*c = (struct call){0}; /* its result is wanted no more */
	mcp_server_cancel(server, number, "cancelled");
}

static void cancel_call(uint32_t id, void *arg)
{
	struct share *share = arg;
	struct mcp_servers *s = share->seat ? share->seat->set : NULL;

	/* A server that settings name no more has left its share empty. */
	for (unsigned i = 0; s && i < CALLS_MAX; i++)
		if (s->call[i].number && s->call[i].share == share && s->call[i].id == id)
			cancel(&s->call[i]);
}

const struct tool_shell mcp_shell = {.start = start_call, .cancel = cancel_call};

void mcp_calls_forget(struct share *share)
{
	struct mcp_servers *s = share->entry->set;

	for (unsigned i = 0; i < CALLS_MAX; i++)
		if (s->call[i].number && s->call[i].share == share)
			cancel(&s->call[i]);
}
