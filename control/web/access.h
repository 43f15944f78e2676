/* Who may do what over HTTP: the token of the API, sessions of browsers, sign-in, and the audit of
 * all that.
 *
 * A client is known by the token (Authorization: Bearer), which makes it an admin, or by the cookie
 * of a session. The cookie counts only for requests of our own pages: a request that changes
 * something must name our origin, and a browser that says where a request comes from must say that
 * it is ours. Neither token nor cookie is logged or in a journal; what control found about a cookie
 * is, so that a replay finds the same.
 *
 * Sign-ins, refused ones and sign-outs are events of the bus (operator), which the store keeps as
 * its audit. Everything is borrowed for as long as it lives. */
#ifndef CONTROL_WEB_ACCESS_H
#define CONTROL_WEB_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/events/audit_kind.h"
#include "control/web/roles.h"

struct access;
struct bus;
struct discord_grant;
struct env;
struct http_exchange;
struct http_head;
struct origins;
struct session;
struct store;

enum {
	ACCESS_ACTOR_SIZE = 64,
	ACCESS_TOKEN_MAX = 128,
	ACCESS_TOKEN_MIN = 16,
	ACCESS_DISCORD_MS = 3600000, /* after a restart sessions by Discord hold no longer */
};

struct access_conf {
	struct env *env;
	struct bus *bus;
	struct store *store; /* keeps the sessions; NULL: they end with the program */
	const char *token;   /* copied */
	bool recorded;	     /* requests come without it, for a journal: '*' in its place */
	const json_t *kept;  /* the sessions as they were saved; NULL: none; copied */
	const uint32_t *session_hours; /* how long a session holds */
	const struct origins *origins;
	void (*endedh)(void *arg); /* streams are over, as access_is_over tells */
	void *arg;
};

/* EINVAL: there is no token; ENOMEM. Caller owns *out. */
int access_alloc(struct access **out, const struct access_conf *conf);
struct access *access_free(struct access *a);
/* Where the server listens: part of the name of its cookie. */
void access_set_port(struct access *a, uint16_t port);
/* checkh of the server, arg: the access. */
int access_check_head(const struct http_head *head, void *arg);

enum decision {
	ACCESS_GRANTED,
	ACCESS_UNKNOWN,	     /* neither token nor session */
	ACCESS_FOREIGN,	     /* of another page than ours */
	ACCESS_INSUFFICIENT, /* known, and may not */
	ACCESS_LATER,	     /* guesses tokens */
};
/* Decides, and notes with the exchange who it is. */
enum decision access_decide(struct access *a, struct http_exchange *x, const struct http_head *head,
			    enum web_role need);
/* Who it is, once decided. */
enum web_role access_role(const struct access *a, const struct http_exchange *x);
/* "token", or "session 3 (viewer)"; "nobody". */
void access_actor(const struct access *a, const struct http_exchange *x,
		  char out[ACCESS_ACTOR_SIZE]);
/* NULL: it is none, or over. */
const struct session *access_session(const struct access *a, const struct http_exchange *x);

enum sign_in_result {
	SIGN_IN_DONE,
	SIGN_IN_REFUSED,
	SIGN_IN_LATER,	     /* too many tries */
	SIGN_IN_FOREIGN,     /* of another page than ours */
	SIGN_IN_FULL,	     /* all sessions are of higher roles */
	SIGN_IN_NOT_PRIVATE, /* a browser would not keep the cookie without TLS */
};
/* Signs a browser in by Authorization: Bearer with the token or a code (control/web/sign_in.h), and
 * adds the cookie to the response. */
enum sign_in_result access_sign_in(struct access *a, struct http_exchange *x,
				   const struct http_head *head);
/* A secret of WEB_KEYED_HEX bytes for this purpose, keyed by the token; nonce: SESSION_NONCE. */
void access_secret(const struct access *a, const char *purpose, const uint8_t *nonce, char *out);
/* False: a browser says that a page of another site has sent it here. */
bool access_is_ours(const struct access *a, const struct http_head *head);
/* One try to sign in of the client of this exchange; false: too many. */
bool access_try(struct access *a, struct http_exchange *x);
/* The only server that this client may see; 0: all of them. */
uint64_t access_scope(const struct access *a, const struct http_exchange *x);
/* Signs a person in whom Discord has named, for that server alone unless they are an admin, with
 * the cookie, and gives the try back. Returns the session; 0: there is no place, or this person
 * signed in too often. */
uint64_t access_begin_discord(struct access *a, struct http_exchange *x,
			      const struct discord_grant *granted, uint64_t user);
/* The session sees that server from now on, in that role; its streams end. */
void access_move(struct access *a, uint64_t session, const struct discord_grant *to);
/* True if a stream of this exchange has to end: its session is over, or sees another server. */
bool access_is_over(const struct access *a, const struct http_exchange *x);
/* The role of a session by its id; WEB_NOBODY: it is over. */
enum web_role access_role_of(const struct access *a, uint64_t session);
/* The server that a session sees; 0: all of them, or it is over. */
uint64_t access_scope_of(const struct access *a, uint64_t session);
/* Whether it shows only channels that everybody of its server may enter. */
bool access_is_open(const struct access *a, uint64_t session);
/* Ends it; why is for the audit. */
void access_end(struct access *a, uint64_t session, const char *why);
/* Ends the session of the exchange, and has the response drop the cookie. */
void access_sign_out(struct access *a, struct http_exchange *x);
/* Ends this session, for others than admins if it is of the same person; false: there is none such.
 */
bool access_sign_out_one(struct access *a, struct http_exchange *x, uint64_t session);
/* Ends all sessions for an admin, and for others those of their person. Returns how many. */
unsigned access_sign_out_all(struct access *a, struct http_exchange *x);
/* A row of the audit: what this client did, to what, and what came of it. */
void access_audit(const struct access *a, const struct http_exchange *x, enum audit_kind kind,
		  const char *target, const char *result);
/* The same of a client that may be gone; actor: as access_actor told. */
void access_audit_of(const struct access *a, const char *actor, enum audit_kind kind,
		     const char *target, const char *result);
/* [{id, role, user, server, createdAt, expiresAt, current}], the oldest first; user: who signed in
 * with Discord, server: the only one that it sees; both may be null. */
json_t *access_list(const struct access *a, const struct http_exchange *x);

#endif
