/* OAuth 2.1 as a client of MCP over HTTP needs it without a browser: where a server's metadata are,
 * what they must say, requests for tokens and their answers (MCP 2025-06-18, Authorization; RFC
 * 9728, 8414, 6749, 8707). Pure; needs jansson.h.
 *
 * Credentials go to the authorization server that the operator named, and only if the server of MCP
 * names the same one for exactly its own address: neither a server nor its metadata can have them
 * sent elsewhere, or get a token that was made for another server. Addresses are https, or http on
 * loopback. */
#ifndef CONTROL_DIALECT_OAUTH_H
#define CONTROL_DIALECT_OAUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	OAUTH_URL_MAX = 640,
	OAUTH_TOKEN_MAX = 4096,
	OAUTH_BODY_MAX = 64 << 10, /* of an answer */
	OAUTH_PLACES = 3,	   /* where metadata are looked for, one after another */
};

/* Where the metadata may be: of a protected resource (RFC 9728 section 3.1), and of an
 * authorization server (RFC 8414 section 3.1 and OpenID Connect Discovery). place: below
 * OAUTH_PLACES. ENOENT: no such place for this address; EINVAL: the address cannot be used;
 * EMSGSIZE. */
int oauth_resource_place(const char *server, unsigned place, char *out, size_t size);
int oauth_issuer_place(const char *issuer, unsigned place, char *out, size_t size);

/* Whether the metadata of the resource are those of this server and name the issuer. EBADMSG: they
 * are no metadata; EACCES: they are of another resource; EPERM: they do not name the issuer. */
int oauth_check_resource(const char *text, size_t n, const char *server, const char *issuer);
/* The token endpoint of the issuer's metadata. EBADMSG; EACCES: they are of another issuer. */
int oauth_read_issuer(const char *text, size_t n, const char *issuer, char *endpoint, size_t size);

/* What a token is asked with; "" for what there is not. */
struct oauth_ask {
	const char *client_id, *client_secret, *refresh_token, *scope;
	const char *resource; /* the address of the server (RFC 8707) */
};
/* The body of the request, application/x-www-form-urlencoded: a refresh if there is a refresh
 * token, else client credentials. Holds secrets; the caller wipes and frees it. NULL without
 * memory. */
char *oauth_ask_body(const struct oauth_ask *ask);

struct oauth_token {
	char access[OAUTH_TOKEN_MAX];
	char refresh[OAUTH_TOKEN_MAX]; /* "": the old one stays */
	uint32_t seconds;	       /* until it expires; 0: not told */
};
/* EBADMSG: no token that can be used as a bearer token; *out is as it was. */
int oauth_read_token(const char *text, size_t n, struct oauth_token *out);
/* "invalid_grant": the error of a token endpoint, one plain word; "" when it told none. */
void oauth_read_error(const char *text, size_t n, char *out, size_t size);

#endif
