/* One server of MCP that is in use: a program in its sandbox or an address, the client that speaks
 * with it (control/dialect/mcp.h), and what happens when it ends, hangs or refuses.
 *
 * A program that ends is started again, an address that fails is tried again, each with a backoff;
 * calls that ran are lost, and told as lost. Everything runs on env's thread; a replay starts no
 * program and opens no socket. */
#ifndef CONTROL_MCP_SERVER_H
#define CONTROL_MCP_SERVER_H

#include <stdint.h>

#include "control/dialect/mcp.h"

struct env;
struct http;
struct mcp_record;
struct mcp_server;
struct reaper;

struct mcp_server_conf {
	struct env *env;
	struct http *http;
	struct http *guarded;		 /* for addresses that a server names; NULL: none */
	const char *state_dir;		 /* of sign-ins; borrowed; NULL: there are none */
	const struct mcp_record *record; /* copied */
	const char *bwrap;		 /* of the sandbox; NULL: programs are refused */
	const char *version;		 /* of Parley */
	struct reaper *reaper;		 /* waits for the program's end; NULL: the owner does */
	void (*changeh)(struct mcp_server *server, void *arg);
	void (*resulth)(uint64_t call, const struct mcp_result *result, void *arg);
	void (*progressh)(uint64_t call, double share, const char *text, void *arg);
	void *arg;
};

/* It is started in the background. ENOMEM. Caller owns *out. */
int mcp_server_alloc(struct mcp_server **out, const struct mcp_server_conf *conf);
/* Leaves the program to the reaper. No handler is called. NULL accepted. */
struct mcp_server *mcp_server_free(struct mcp_server *s);

const char *mcp_server_name(const struct mcp_server *s);
/* For mcp_state, mcp_tools and the like. */
const struct mcp *mcp_server_client(const struct mcp_server *s);
/* Why it cannot be used now; "" when it can. Borrowed until the next step. */
const char *mcp_server_why(const struct mcp_server *s);
/* Since when it is ready, or is not, in ms since 1970; 0: nobody has looked yet. */
uint64_t mcp_server_since_ms(const struct mcp_server *s);
/* As mcp_call and mcp_cancel. */
int mcp_server_call(struct mcp_server *s, uint64_t call, enum mcp_verb verb, const char *name,
		    const json_t *arguments, uint32_t timeout_ms);
void mcp_server_cancel(struct mcp_server *s, uint64_t call, const char *why);

#endif
