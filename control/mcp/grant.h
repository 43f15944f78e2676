/* Tokens of one MCP server that wants OAuth (control/dialect/oauth.h): finds the authorization
 * server, asks it for a token with the credentials of the record, and renews the token before it
 * expires.
 *
 * A refresh token that was replaced is written into its file, 0600, since the old one may be void.
 * Tokens never reach the log. Everything runs on env's thread. */
#ifndef CONTROL_MCP_GRANT_H
#define CONTROL_MCP_GRANT_H

#include <stdbool.h>

struct env;
struct grant;
struct http;
struct mcp_record;

struct grant_conf {
	struct env *env;
	struct http *http;
	const struct mcp_record *record; /* borrowed while the grant lives */
	/* There is another token: "Authorization: Bearer …", borrowed until return. */
	void (*tokenh)(const char *header, void *arg);
	/* There is none: why, one plain line. */
	void (*failedh)(const char *why, void *arg);
	void *arg;
};

/* Whether the record names an authorization server. */
bool grant_wanted(const struct mcp_record *record);
/* ENOMEM. Caller owns *out. */
int grant_alloc(struct grant **out, const struct grant_conf *conf);
struct grant *grant_free(struct grant *g);
/* Gets a token, unless one is on its way. tokenh or failedh tells. */
void grant_get(struct grant *g);

#endif
