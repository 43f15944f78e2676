/* Tokens of one MCP server that wants OAuth (control/dialect/oauth.h): those of a sign-in
 * (control/mcp/login.h), or those that the credentials of the record get. A token is renewed before
 * it expires.
 *
 * New tokens replace the old ones in their file (control/mcp/token_file.h), since the old ones may
 * be void. Tokens never reach the log. Everything runs on env's thread. */
#ifndef CONTROL_MCP_GRANT_H
#define CONTROL_MCP_GRANT_H

#include <stdbool.h>

struct env;
struct grant;
struct http;
struct mcp_record;
struct oauth_challenge;

struct grant_conf {
	struct env *env;
	struct http *http;
	struct http *guarded;  /* for addresses of strangers; NULL: they are refused */
	const char *state_dir; /* borrowed while the grant lives; NULL: there is no sign-in */
	const struct mcp_record *record; /* borrowed while the grant lives */
	/* There is another token: "Authorization: Bearer …", borrowed until return. */
	void (*tokenh)(const char *header, void *arg);
	/* There is none: why, one plain line. */
	void (*failedh)(const char *why, void *arg);
	void *arg;
};

/* ENOMEM. Caller owns *out. */
int grant_alloc(struct grant **out, const struct grant_conf *conf);
struct grant *grant_free(struct grant *g);
/* True if there are credentials or a sign-in, before the server has refused anything. */
bool grant_wanted(struct grant *g);
/* The server said where its metadata are. */
void grant_challenge(struct grant *g, const struct oauth_challenge *challenge);
/* Gets another token than the last one, unless one is on its way. tokenh or failedh tells. */
void grant_get(struct grant *g);

#endif
