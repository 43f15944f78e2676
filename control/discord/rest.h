/* Discord's REST API over ipc/http.h: one queue that keeps the rate limits of
 * control/discord/rate.h.
 *
 * A 429 is retried after its delay; idempotent calls are retried seven times in half a minute after
 * a 5xx or a timeout, interactions three times. After a 401 nothing is sent any more, because
 * Cloudflare bans addresses that continue. The token is sent in a header only.
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
	const char
		*file_name; /* a file that goes with the body, as multipart/form-data; NULL: none */
	const char *file;   /* its text; copied */
	const char *file_type; /* its media type, a constant; NULL: application/json */
	bool idempotent;       /* may be repeated after a timeout or 5xx */
	bool ordered;	  /* after all earlier calls of this kind with its major, one at a time */
	bool spare;	  /* refused (ENOBUFS) while a fifth of the queue waits: nobody misses it */
	bool interaction; /* an interaction endpoint: no Authorization, exempt from the global limit
			   */
};
/* err: 0 when an HTTP answer arrived (status, body or NULL); otherwise ETIMEDOUT, ECONNREFUSED …,
 * EACCES after a 401, ECANCELED. body is borrowed until return. */
typedef void(rest_h)(int err, int status, const json_t *body, void *arg);

/* base "https://discord.com/api/v10"; base and token are copied, env and http borrowed. EINVAL,
 * ENOMEM. Caller owns *out. */
int rest_alloc(struct rest **out, struct env *env, struct http *http, const char *base,
	       const char *token);
struct rest *rest_free(struct rest *r);
/* h may be NULL. On ENOMEM, ENOBUFS (1000 calls wait; of spare ones 200) and EACCES (after a 401) h
 * is not called. */
int rest_request(struct rest *r, const struct rest_call *call, rest_h *h, void *arg);
/* Takes back a call that waits to be sent, or to be sent again after a limit: h is not called.
 * Returns false if Discord may have it already, as after a timeout. */
bool rest_withdraw(struct rest *r, rest_h *h, const void *arg);
/* True if a 401 arrived. */
bool rest_refused(const struct rest *r);

#endif
