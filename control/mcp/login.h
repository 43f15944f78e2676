/* Sign-in of the operator at the authorization server of one MCP server: authorization code with
 * PKCE (control/dialect/oauth.h), ended by the browser at an address of this machine.
 *
 *   state        next
 *   PROBING      the server answers without a token: it says where its metadata are
 *   DISCOVERING  its authorization server is known
 *   REGISTERING  that server has given an id to Parley; left out where the settings name one
 *   WAITING      the operator has opened the link, and the browser has come back with a code
 *   ASKING       the code has become a token, which is kept
 *
 * A sign-in is for a program that runs only for it: its tokens are in no journal. They never reach
 * the log. Everything runs on env's thread. */
#ifndef CONTROL_MCP_LOGIN_H
#define CONTROL_MCP_LOGIN_H

struct env;
struct http;
struct login;
struct mcp_record;

struct login_conf {
	struct env *env;		 /* borrowed, as all that follows */
	struct http *http, *guarded;	 /* as discovery_conf has them */
	const struct mcp_record *record; /* of an http server */
	const char *state_dir;		 /* where the sign-in is kept */
	const char *scope;		 /* to ask for; "": what the server wants */
	/* The operator must open this link. issuer: the authorization server. Both are printable
	 * ASCII. */
	void (*linkh)(const char *link, const char *issuer, void *arg);
	/* It is over. why: NULL after success, or one plain line. */
	void (*endh)(const char *why, void *arg);
	void *arg;
};

/* EINVAL: not an http server; ENOMEM, or what listening says. Caller owns *out, and does not free
 * it in a handler. */
int login_alloc(struct login **out, const struct login_conf *conf);
struct login *login_free(struct login *l);

#endif
