/* OAuth 2.1 as a client of MCP over HTTP needs it: challenges, a server's metadata and those of its
 * authorization server, registration, sign-in, requests for tokens and their answers (MCP
 * 2025-11-25, Authorization; RFC 9728, 8414, 7591, 6749, 7636, 8707, 9207). Pure; needs jansson.h.
 *
 * Credentials that the operator gave go to the authorization server that the operator named, and
 * only if the server of MCP names the same one for its own address. All addresses are https, or
 * http on loopback. All texts in the structs are NUL-terminated, and "" where there is none. */
#ifndef CONTROL_DIALECT_OAUTH_H
#define CONTROL_DIALECT_OAUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	OAUTH_URL_MAX = 640,
	OAUTH_TOKEN_MAX = 4096,
	OAUTH_SCOPE_MAX = 512,
	OAUTH_ID_MAX = 512, /* of a client's id and secret */
	OAUTH_CODE_MAX = 1024,
	OAUTH_LINK_MAX = 4096,
	OAUTH_BODY_MAX = 64 << 10, /* of an answer */
	OAUTH_PLACES = 3,	   /* where metadata are looked for, one after another */
};

/* Where the metadata may be: of a protected resource (RFC 9728 section 3.1), and of an
 * authorization server (RFC 8414 section 3.1 and OpenID Connect Discovery). place: below
 * OAUTH_PLACES. ENOENT: no such place for this address; EINVAL: the address cannot be used;
 * EMSGSIZE. */
int oauth_resource_place(const char *server, unsigned place, char *out, size_t size);
int oauth_issuer_place(const char *issuer, unsigned place, char *out, size_t size);

/* True if credentials may go to this address. */
bool oauth_may_send(const char *url);
/* True if both addresses have the same scheme and host; ports may differ. */
bool oauth_same_host(const char *a, const char *b);
/* The same, and the ports are written alike. */
bool oauth_same_origin(const char *a, const char *b);

/* The first challenge of scheme Bearer in a field WWW-Authenticate (RFC 9110 section 11.6.1). A
 * value that cannot be used is left out. */
struct oauth_challenge {
	char metadata[OAUTH_URL_MAX]; /* where the metadata of the resource are */
	char scope[OAUTH_SCOPE_MAX];
	char error[64];
};
void oauth_read_challenge(const char *field, struct oauth_challenge *out);

/* Metadata of a resource (RFC 9728 section 2). */
struct oauth_resource {
	char resource[OAUTH_URL_MAX]; /* as it names itself */
	char issuer[OAUTH_URL_MAX];   /* the one looked for, or else the first */
	char scope[OAUTH_SCOPE_MAX];  /* all that it supports */
};
/* The resource must be the server's address or lie above it on the same host. issuer: the one that
 * must be named; "": any. EBADMSG: no metadata; EACCES: of another resource; EPERM: they do not
 * name the issuer, or none that can be used. */
int oauth_read_resource(const char *text, size_t n, const char *server, const char *issuer,
			struct oauth_resource *out);

/* Metadata of an authorization server (RFC 8414 section 2). */
struct oauth_issuer {
	char token[OAUTH_URL_MAX], authorize[OAUTH_URL_MAX], registration[OAUTH_URL_MAX];
	bool s256;	   /* PKCE (RFC 7636) with S256 */
	bool names_itself; /* in its answer to a sign-in (RFC 9207) */
};
/* EBADMSG; EACCES: they are of another issuer. */
int oauth_read_issuer(const char *text, size_t n, const char *issuer, struct oauth_issuer *out);

/* Parameters of a token request; "" where there is none. */
struct oauth_ask {
	const char *client_id, *client_secret, *refresh_token, *scope;
	const char *resource; /* the address of the server (RFC 8707) */
	/* The end of a sign-in; else NULL. */
	const char *code, *verifier, *redirect;
};
/* The body of the request, application/x-www-form-urlencoded: the code of a sign-in, or else a
 * refresh if there is a refresh token, or else client credentials. Holds secrets; the caller wipes
 * and frees it. NULL without memory. */
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

/* ---- sign-in (RFC 6749 section 4.1) ---- */

enum { OAUTH_HASH = 32 };

struct oauth_sign_in {
	const char *authorize, *client_id, *redirect, *scope, *resource;
	const char *state, *challenge; /* challenge: base64url of the verifier's SHA-256 */
};
/* The address that the operator opens. EINVAL: `authorize` cannot be used; EMSGSIZE. */
int oauth_sign_in_link(const struct oauth_sign_in *s, char *out, size_t size);
/* base64url without padding (RFC 4648 section 5). out: 4 / 3 of n, and 2 more. */
void oauth_base64url(const uint8_t *in, size_t n, char *out);
/* The query of the address that the browser was sent to, decoded. */
struct oauth_redirect {
	char state[64], code[OAUTH_CODE_MAX], error[64], iss[OAUTH_URL_MAX];
};
/* True if it ends the sign-in with this state. issuer: the one that must be named if any is, or if
 * `must`. EACCES: of another sign-in or issuer; ECANCELED: refused for `error`, one plain word;
 * EBADMSG. */
int oauth_check_redirect(const struct oauth_redirect *r, const char *state, const char *issuer,
			 bool must);

/* The body of a registration (RFC 7591 section 3.1), JSON; the caller frees it. NULL without
 * memory. */
char *oauth_register_body(const char *redirect, const char *scope);
struct oauth_client {
	char id[OAUTH_ID_MAX], secret[OAUTH_ID_MAX];
};
/* EBADMSG. */
int oauth_read_client(const char *text, size_t n, struct oauth_client *out);

#endif
