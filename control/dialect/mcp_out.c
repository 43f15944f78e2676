/* Messages of the client (mcp.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/build.h"
#include "control/dialect/json_rpc.h"
#include "control/dialect/mcp_inside.h"

#define META "io.modelcontextprotocol/"

static json_t *client_info(const struct mcp *m)
{
	return json_pack("{s:s, s:s}", "name", m->client, "version", m->version);
}

static bool modern(const struct mcp *m, const char *method)
{
	return m->era == MCP_MODERN ||
	       (m->era == MCP_UNKNOWN && strcmp(method, "server/discover") == 0);
}

/* Adds the fields that every request of the modern era has. Steals params. */
static json_t *with_meta(const struct mcp *m, json_t *params, uint32_t id)
{
	json_t *meta = json_pack("{s:s, s:o, s:{}}", META "protocolVersion", MCP_MODERN_REVISION,
				 META "clientInfo", client_info(m), META "clientCapabilities");
	const json_t *old = json_object_get(params, "_meta");
	int err = !meta;

	if (meta && old)
		err = json_object_update(meta, (json_t *)old);
	else if (meta && id)
		err = json_object_set_new(meta, "progressToken", json_integer(id));
	if (err)
		json_decref(meta);
	else
		err = json_object_set_new(params, "_meta", meta);
	if (!err)
		return params;
	json_decref(params);
	return NULL;
}

/* Steals root. */
static int send_message(struct mcp *m, struct mcp_message *message, json_t *root)
{
	char *text = build_text(root);

	if (!text)
		return ENOMEM;
	message->text = text;
	message->n = strlen(text);
	m->conf.sendh(message, m->conf.arg);
	free(text);
	return 0;
}

static int send_request(struct mcp *m, struct mcp_message *message, json_t *root, const char *name,
			const struct mcp_tool *tool, const json_t *arguments)
{
	char **headers = NULL, *encoded = NULL;
	int err = 0;

	if (m->conf.http && message->method) {
		encoded = name ? mcp_header_value(name) : NULL;
		headers = tool ? mcp_header_lines(tool->schema, arguments) : NULL;
		if ((name && !encoded) || (tool && !headers))
			err = ENOMEM;
	}
	message->name = encoded;
	message->headers = (const char *const *)headers;
	if (err)
		json_decref(root);
	else
		err = send_message(m, message, root);
	free(encoded);
	mcp_header_free(headers);
	return err;
}

uint32_t mcp_out_request(struct mcp *m, const char *method, json_t *params, const char *name,
			 const struct mcp_tool *tool)
{
	bool is_modern = modern(m, method), calls = strcmp(method, "tools/call") == 0;
	struct mcp_message message = {.id = ++m->ids, .stays = strstr(method, "/listen") != NULL};
	json_t *root;

	params = params ? params : json_object();
	if (is_modern)
		params = with_meta(m, params, calls ? message.id : 0);
	else if (calls &&
		 json_object_set_new(params, "_meta",
				     json_pack("{s:I}", "progressToken", (json_int_t)message.id))) {
		json_decref(params);
		params = NULL;
	}
	root = json_rpc_request(message.id, method, json_incref(params));
	if (!params || !root) {
		json_decref(root);
		json_decref(params);
		return 0;
	}
	message.method = is_modern ? method : NULL;
	message.version = is_modern ? MCP_MODERN_REVISION : *m->revision ? m->revision : NULL;
	if (send_request(m, &message, root, name, tool, json_object_get(params, "arguments")))
		message.id = 0;
	json_decref(params);
	return message.id;
}

void mcp_out_notify(struct mcp *m, const char *method, json_t *params)
{
	struct mcp_message message = {.version = *m->revision ? m->revision : NULL};

	if (m->era == MCP_MODERN) {
		message.method = method;
		message.version = MCP_MODERN_REVISION;
	}
	send_message(m, &message, json_rpc_notification(method, params));
}

void mcp_out_answer(struct mcp *m, const json_t *id, bool known)
{
	struct mcp_message message = {.version = *m->revision ? m->revision : NULL};

	send_message(m, &message, json_rpc_answer(id, known ? json_object() : NULL));
}
