/* Finds the authorization server of one MCP server and its addresses, as the MCP authorization
 * specification says (control/dialect/oauth.h): the server's metadata, then those of the
 * authorization server.
 *
 * The server is a stranger that could name any address. Those on its own host, or on the host and
 * port of the issuer that the settings name, are asked as configured; all others only if they are
 * public (ipc/http_guard.h). Everything runs on env's thread. */
#ifndef CONTROL_MCP_DISCOVERY_H
#define CONTROL_MCP_DISCOVERY_H

#include "control/dialect/oauth.h"

struct discovery;
struct http;

/* Everything is borrowed while the discovery lives. */
struct discovery_conf {
	struct http *http;
	struct http *guarded; /* for public addresses; NULL: they are refused */
	const char *server;   /* address of the MCP server */
	const char *metadata; /* of its challenge; "": the well-known places are tried */
	const char *issuer;   /* the one that the server must name; "": any */
	const char *trusted;  /* the issuer of the settings; "": none */
	void (*foundh)(const struct oauth_resource *resource, const struct oauth_issuer *issuer,
		       void *arg);
	/* why: one plain line. */
	void (*failedh)(const char *why, void *arg);
	void *arg;
};

/* One of the handlers is called, perhaps before this returns; it may free the discovery, which *out
 * already names. ENOMEM. Caller owns *out. */
int discovery_alloc(struct discovery **out, const struct discovery_conf *conf);
struct discovery *discovery_free(struct discovery *d);

/* The client that may ask this address, NULL: none may. */
struct http *discovery_http(const struct discovery_conf *conf, const char *url);

#endif
