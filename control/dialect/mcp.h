/* A client of the Model Context Protocol: one server, from finding out which era it speaks to the
 * results of calls. Pure; needs jansson.h.
 *
 * Eras (modelcontextprotocol.io): "modern" is revision 2026-07-28, where every request carries the
 * version and there is no handshake; "legacy" is 2025-11-25 and before, which begin with
 * initialize. The client sends server/discover first. If the server does not know that method, or
 * does not reply within MCP_PROBE_NS, the client sends initialize instead.
 *
 * The transport is the caller's: lines of a child's stdin and stdout, or HTTP exchanges. A message
 * that goes out is borrowed until its handler returns, so are results and reasons. Handlers must
 * not free the client; they may call it. A call is named by a number of the caller's, used once,
 * and gets exactly one result: also when it is cancelled, late or the server is lost. What a server
 * sends for a request that is over is dropped by its id. */
#ifndef CONTROL_DIALECT_MCP_H
#define CONTROL_DIALECT_MCP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MCP_MESSAGE_MAX = 1 << 20, /* bytes of one message */
	MCP_TOOLS_MAX = 128,	   /* of one server; more are left out */
	MCP_PAGES_MAX = 32,	   /* of its list */
	MCP_REQUESTS = 32,	   /* that wait for an answer */
	MCP_NAME_MAX = 129,	   /* with NUL: of a tool, a server, a version */
	MCP_DESCRIPTION_MAX = 2048,
	MCP_SCHEMA_MAX = 64 << 10,
	MCP_RESULT_MAX = 64 << 10, /* bytes of a result's text; the rest is cut */
	MCP_WHY_MAX = 256,
	/* Of messages that answer no request, in MCP_FLOOD_NS; a server that sends more is refused.
	 */
	MCP_FLOOD_MESSAGES = 1000,
	MCP_FLOOD_BYTES = 4 << 20,
	MCP_READ_BYTES = 32 << 20, /* of anything, in MCP_FLOOD_NS; more is refused, too */
};
#define MCP_PROBE_NS (3 * UINT64_C(1000000000))
#define MCP_OPEN_NS  (10 * UINT64_C(1000000000))
/* Least time from one fetch of the list of tools to the next, however often it is reported to have
 * changed. */
#define MCP_LIST_NS  (5 * UINT64_C(1000000000))
#define MCP_FLOOD_NS (10 * UINT64_C(1000000000))

enum mcp_era { MCP_UNKNOWN, MCP_LEGACY, MCP_MODERN };
enum mcp_state {
	MCP_CLOSED,  /* there is no transport */
	MCP_OPENING, /* probe, handshake, first list */
	MCP_READY,
	MCP_REFUSED, /* it cannot be used: mcp_why; mcp_close and mcp_open try anew */
};

/* Kinds of calls. The first is a tool; the others are offered as tools where settings say so. */
enum mcp_verb {
	MCP_CALL_TOOL,
	MCP_LIST_RESOURCES,
	MCP_READ_RESOURCE,
	MCP_LIST_PROMPTS,
	MCP_GET_PROMPT
};

struct mcp_tool {
	char name[MCP_NAME_MAX];
	char *description; /* "" when there is none */
	json_t *schema;	   /* of its arguments: an object */
	bool reads_only;   /* as the server says: a hint, not to be relied on */
};

enum mcp_outcome {
	MCP_DONE,
	MCP_TOOL_FAILED, /* text: what the tool says */
	MCP_REFUSES,	 /* the server answered with an error: text */
	MCP_LATE,	 /* its time limit passed */
	MCP_CANCELLED,
	MCP_LOST, /* the connection, before an answer */
};
struct mcp_result {
	enum mcp_outcome outcome;
	const char *text; /* whole UTF-8 characters, NUL-terminated; untrusted */
	size_t n;
	bool cut; /* it was longer than MCP_RESULT_MAX */
};

struct mcp_message {
	uint32_t id; /* of the request; 0: nothing is answered */
	const char *text;
	size_t n;
	/* For HTTP. NULL in name and version: no such header. */
	const char *method, *name, *version;
	const char *const *headers; /* "Mcp-Param-NAME: value", NULL-terminated */
	bool stays;		    /* the answer is a stream that stays open */
};

struct mcp_conf {
	const char *client, *version; /* as the server is told; copied */
	bool http;
	void (*sendh)(const struct mcp_message *message, void *arg);
	/* The response to this request is wanted no more (HTTP of the modern era: closing it
	 * cancels the request). */
	void (*droph)(uint32_t id, void *arg);
	/* The state changed, the list of tools, or the reason for which it could not be read. */
	void (*changeh)(void *arg);
	void (*resulth)(uint64_t call, const struct mcp_result *result, void *arg);
	/* Of a call that goes on: a share of 1, or negative when it is not known, and words. */
	void (*progressh)(uint64_t call, double share, const char *text, void *arg);
	void *arg;
};

struct mcp;

/* EINVAL, ENOMEM. Caller owns *out. */
int mcp_alloc(struct mcp **out, const struct mcp_conf *conf);
struct mcp *mcp_free(struct mcp *m);

/* The transport is there. Over HTTP the era is kept from the last time. */
void mcp_open(struct mcp *m, uint64_t now);
/* It is gone: calls are lost. The list of tools is kept until the next one comes. */
void mcp_close(struct mcp *m);
/* So many bytes came from the server, messages or not. */
void mcp_count_bytes(struct mcp *m, size_t n, uint64_t now);
/* A message of the server; what is no message is passed over. */
void mcp_receive(struct mcp *m, const char *text, size_t n, uint64_t now);
/* HTTP: the exchange of this request ended with this status and no answer to it in its body; 0: it
 * failed. why: one plain line; NULL: words for the status. */
void mcp_unanswered(struct mcp *m, uint32_t id, unsigned status, const char *why, uint64_t now);
/* Runs the work due at mcp_deadline. */
void mcp_timer(struct mcp *m, uint64_t now);
uint64_t mcp_deadline(const struct mcp *m);

/* name: of a tool or prompt, URI of a resource, "" for lists; arguments: an object or NULL,
 * borrowed. ENOTCONN: not MCP_READY. EBUSY: MCP_REQUESTS wait. ENOMEM. On error there is no result.
 */
int mcp_call(struct mcp *m, uint64_t call, enum mcp_verb verb, const char *name,
	     const json_t *arguments, uint32_t timeout_ms, uint64_t now);
/* Its result is MCP_CANCELLED, before this returns. A call that is over is passed over. */
void mcp_cancel(struct mcp *m, uint64_t call, const char *why);

enum mcp_state mcp_state(const struct mcp *m);
enum mcp_era mcp_era(const struct mcp *m);
/* As the server names itself, and the revision in use; "" before it did. No names to rely on. */
const char *mcp_server(const struct mcp *m);
const char *mcp_revision(const struct mcp *m);
/* Why it is MCP_REFUSED, or the last thing that went wrong; "" for nothing. */
const char *mcp_why(const struct mcp *m);
/* HTTP of the legacy era: changes of the list come on a stream that a GET opens. */
bool mcp_wants_stream(const struct mcp *m);
bool mcp_has_resources(const struct mcp *m);
bool mcp_has_prompts(const struct mcp *m);
/* In the server's order. Valid until the next change. */
const struct mcp_tool *mcp_tools(const struct mcp *m, size_t *n);
/* Tools that were left out: no valid name or schema, too many. */
unsigned mcp_left_out(const struct mcp *m);

#endif
