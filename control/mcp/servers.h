/* The servers of MCP that the settings name, shared by all rooms, and their tools in each room's
 * registry.
 *
 * A tool is known to models as SERVER__TOOL in lower case; what does not fit is shortened, with a
 * hash behind it. What a tool does is what the operator says in the settings, not what its server
 * says. Results and errors reach the model inside a fence (control/tools/untrusted.h). Everything
 * runs on env's thread. */
#ifndef CONTROL_MCP_SERVERS_H
#define CONTROL_MCP_SERVERS_H

#include <jansson.h>

#include "control/tools/builtin/seats.h"

struct http;
struct mcp_seat;
struct mcp_servers;
struct settings;

struct mcp_servers_conf {
	struct env *env; /* borrowed, like the following three */
	struct http *http;
	const char *state_dir; /* where sign-ins are kept; NULL: there are none */
	const struct settings *settings;
	const char *version; /* of Parley; copied */
};

/* Starts the servers that the settings name, none while their `tools` is off. ENOMEM. Caller owns
 * *out. */
int mcp_servers_alloc(struct mcp_servers **out, const struct mcp_servers_conf *conf);
/* All seats are gone before. Waits at most 3 s for the programs. */
struct mcp_servers *mcp_servers_free(struct mcp_servers *s);
/* The settings changed: starts and ends servers as they say; those that stay go on. */
void mcp_servers_update(struct mcp_servers *s, const struct settings *settings);
/* {"servers":[{serverName, connected, since, tools:[{name,description}], lastError,
 * protocolVersion, calls, failures, changedLists}]}. The caller owns it; NULL without memory. */
json_t *mcp_servers_status(const struct mcp_servers *s);

/* A room takes part: rows of its registry come and go with the servers' lists. s is borrowed, room
 * is copied. ENOMEM, ENOSPC. Caller owns *out, and frees it before the room's registry. */
int mcp_seat_alloc(struct mcp_seat **out, struct mcp_servers *s, const struct tool_room *room);
/* Its calls are cancelled; no handler is called. NULL accepted. */
struct mcp_seat *mcp_seat_free(struct mcp_seat *seat);

#endif
