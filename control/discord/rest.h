/* Discord's REST API over ipc/http.h: one queue, held to the rate limits of control/discord/rate.h.
 *
 * A 429 waits and tries again; 5xx and timeouts of idempotent calls are tried three times more;
 * after a 401 nothing is sent any more, because Cloudflare bans addresses that go on. The token
 * goes into a header and nowhere else.
 *
 * Every accepted call is answered exactly once, also when the object is freed (ECANCELED). */
#ifndef CONTROL_DISCORD_REST_H
#define CONTROL_DISCORD_REST_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct env;
struct http;
struct rest;

struct rest_call {
	const char *method; /* "GET", "POST", "PUT", "PATCH", "DELETE" */
	const char *route;  /* template, a constant: "/channels/{}/messages" */
	const char *path;   /* after the base, e.g. "/channels/1/messages"; copied */
	const char *major;  /* channel, guild or webhook id; NULL for none; copied */
	json_t *body;	    /* borrowed; NULL for none */
	bool idempotent;    /* may be sent again after a timeout or 5xx */
	bool interaction;   /* an interaction endpoint: no Authorization, not under the global limit
			     */
};
/* err: 0 when an HTTP answer came (status, body or NULL); else ETIMEDOUT, ECONNREFUSED …, EACCES
 * after a 401, ECANCELED. body borrowed until return. */
typedef void(rest_h)(int err, int status, const json_t *body, void *arg);

/* base "https://discord.com/api/v10"; base and token are copied, env and http borrowed. EINVAL,
 * ENOMEM. Caller owns *out. */
int rest_alloc(struct rest **out, struct env *env, struct http *http, const char *base,
	       const char *token);
struct rest *rest_free(struct rest *r);
/* h may be NULL. ENOMEM, ENOBUFS (1000 calls wait), EACCES after a 401: then h is not called. */
int rest_request(struct rest *r, const struct rest_call *call, rest_h *h, void *arg);
/* A 401 came. */
bool rest_refused(const struct rest *r);

#endif
