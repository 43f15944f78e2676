/* The parts of servers.h: servers.c, the set and its rooms; servers_calls.c, calls; servers_rows.c,
 * rows of the rooms' registries. */
#ifndef CONTROL_MCP_SERVERS_INSIDE_H
#define CONTROL_MCP_SERVERS_INSIDE_H

#include "control/mcp/server.h"
#include "control/mcp/servers.h"
#include "control/settings/record.h"
#include "control/tools/registry.h"

enum {
	SERVERS_MAX = 16,
	CALLS_MAX = 512,
	CALL_MS = 30000,
	OUTPUT_MAX = 8000, /* bytes, with the fence */
	VERBS = MCP_GET_PROMPT + 1,
};

struct entry {
	struct mcp_servers *set;
	struct mcp_record record;
	struct mcp_server *server; /* NULL: a program, while the sandbox is tried */
	uint64_t calls, failures;
	uint64_t list;		/* hash of the newest list; 0: none yet */
	unsigned changed_lists; /* lists that differed from the one before */
};

/* The tools of one server in one room: what a row's arg points to. */
struct share {
	struct mcp_seat *seat;
	struct entry *entry;
};

struct mcp_seat {
	struct mcp_servers *set;
	struct tool_room room;
	struct share share[SERVERS_MAX];
};

struct call {
	uint64_t number; /* for the client; 0: a free place */
	struct share *share;
	uint32_t id; /* for the room */
};

struct reaper;
struct sandbox;

struct mcp_servers {
	struct env *env;
	struct http *http, *guarded;
	struct http_guard *guard;
	const char *state_dir;
	char version[32];
	struct sandbox *sandbox;
	struct reaper *reaper;
	struct entry *entry[SERVERS_MAX];
	struct tool_seats seats; /* of struct mcp_seat */
	struct call call[CALLS_MAX];
	uint64_t numbers;
};

/* Names of what is offered beside tools; NULL: MCP_CALL_TOOL. */
extern const char *const mcp_verb_names[VERBS];

/* ---- servers_calls.c ---- */

extern const struct tool_shell mcp_shell;

/* arg: the entry. */
void mcp_calls_result(uint64_t number, const struct mcp_result *result, void *arg);
/* Tells the room that asked. share: of the work, 0 to 1; negative: unknown. arg: the entry. */
void mcp_calls_progress(uint64_t number, double share, const char *text, void *arg);
/* Cancels what this room asks of this server; nothing is told. */
void mcp_calls_forget(struct share *share);

/* ---- servers_rows.c ---- */

/* The rows of this server in this room, as its list is now. */
void mcp_rows_renew(struct share *share);

#endif
