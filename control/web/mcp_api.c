#include "control/web/inside.h"

/* A server of MCP is a program of the operator's, which may say anything, paths and answers of
 * other services among it. */
json_t *web_mcp(const struct web *w, uint64_t scope, bool words)
{
	json_t *status = web_mcp_servers(w), *server;
	size_t i;

	json_array_foreach(json_object_get(status, "servers"), i, server)
	{
		if (!words || scope)
			json_object_set_new(server, "lastError", json_null());
		if (!scope)
			continue;
		json_object_set_new(server, "calls", json_null());
		json_object_set_new(server, "failures", json_null());
	}
	return status;
}

void web_mcp_status(struct web *w, const struct web_request *r)
{
	web_json(r->x, 200, web_mcp(w, r->scope, r->role >= WEB_OPERATOR));
}
