/* The parts of mcp.h: mcp.c, the client; mcp_out.c, messages that go out; mcp_in.c, what is read
 * from results; mcp_header.c, arguments that are mirrored in HTTP headers. */
#ifndef CONTROL_DIALECT_MCP_INSIDE_H
#define CONTROL_DIALECT_MCP_INSIDE_H

#include "control/dialect/mcp.h"

#define MCP_LEGACY_REVISION "2025-11-25"
#define MCP_MODERN_REVISION "2026-07-28"

enum mcp_asked {
	MCP_NOTHING,
	MCP_ASKED_DISCOVER,
	MCP_ASKED_INITIALIZE,
	MCP_ASKED_TOOLS,
	MCP_ASKED_LISTEN,
	MCP_ASKED_CALL,
};

struct mcp_request {
	enum mcp_asked asked;
	enum mcp_verb verb;
	uint32_t id;
	uint64_t call, due;
};

struct mcp_list {
	struct mcp_tool *tool;
	size_t n;
	unsigned left_out;
};

struct mcp {
	struct mcp_conf conf;
	char client[MCP_NAME_MAX], version[MCP_NAME_MAX];
	enum mcp_state state;
	enum mcp_era era;
	char server[MCP_NAME_MAX], revision[MCP_NAME_MAX], why[MCP_WHY_MAX];
	bool resources, prompts, tells_changes;
	uint32_t ids;
	uint64_t now, listen_at;
	struct mcp_request request[MCP_REQUESTS];
	struct mcp_list tools, coming;
	unsigned pages;
	bool retried;	  /* the probe, with a version that the server named */
	bool again;	  /* the list changed since it was requested */
	uint64_t list_at; /* the earliest time of the next list */
	/* Messages that answered nothing, since flood_from. */
	uint64_t flood_from;
	size_t flood_messages, flood_bytes;
	size_t read_bytes; /* all that came since flood_from */
};

/* ---- mcp_out.c ---- */

/* Sends a request; steals params, which may be NULL for none. 0: without memory, and nothing was
 * sent. tool: NULL, or the one that is called. */
uint32_t mcp_out_request(struct mcp *m, const char *method, json_t *params, const char *name,
			 const struct mcp_tool *tool);
void mcp_out_notify(struct mcp *m, const char *method, json_t *params);
/* Answers a request of the server (legacy): an empty result, or an error. */
void mcp_out_answer(struct mcp *m, const json_t *id, bool known);

/* ---- mcp_in.c ---- */

/* Adds the tools of one page to m->coming. ENOMEM. */
int mcp_in_tools(struct mcp *m, const json_t *result);
void mcp_list_clear(struct mcp_list *list);
bool mcp_list_equal(const struct mcp_list *a, const struct mcp_list *b);
/* The text of a result of this verb; caller frees. NULL without memory. */
char *mcp_in_text(enum mcp_verb verb, const json_t *result, bool *cut);

/* ---- mcp_header.c ---- */

/* True if every x-mcp-header in the schema is one that can be obeyed. */
bool mcp_header_valid(const json_t *schema);
/* The header lines for these arguments, NULL-terminated; caller frees with mcp_header_free. NULL
 * without memory. */
char **mcp_header_lines(const json_t *schema, const json_t *arguments);
char **mcp_header_free(char **lines);
/* A value as a header field, in the wrapper for what is not plain ASCII. Caller frees. */
char *mcp_header_value(const char *text);

#endif
