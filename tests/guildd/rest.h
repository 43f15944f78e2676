/* REST, version 10, over plain HTTP: routes, tokens, rate limits, and the interactions that are
 * answered over it
 * ("API Reference", "Rate Limits", "Interactions"). */
#ifndef GUILDD_REST_H
#define GUILDD_REST_H

#include "tests/guildd/guildd.h"

struct gd_rest;

/* Opens the server. Caller owns *out. */
int gd_rest_alloc(struct gd_rest **out, struct guildd *g);
struct gd_rest *gd_rest_free(struct gd_rest *r);
/* "http://IP:PORT/api/v10". Borrowed. */
const char *gd_rest_url(const struct gd_rest *r);

/* After `after` such requests the next `times` requests of this method (NULL = any) whose path
 * contains `contains` get this answer instead. */
struct gd_fault {
	char method[8], contains[96], scope[16];
	unsigned after, times;
	int status;	   /* 429, 500, … */
	uint32_t retry_ms; /* of a 429 */
	bool global;
};
int gd_rest_fault(struct gd_rest *r, const struct gd_fault *f);
/* Keeps the files of a message's body; the attachment objects, which the caller owns. */
json_t *gd_rest_files(struct gd_rest *r, uint64_t channel, const json_t *given);
/* The last requests, oldest first: method, path, status, body. Borrowed. */
const json_t *gd_rest_log(const struct gd_rest *r);
/* Forgets faults, limits, interactions and the log. */
void gd_rest_reset(struct gd_rest *r);

/* A user uses a command (or a button, …) of a bot. spec: user_id, channel_id, name, options, type,
 * data, application_id as POST /interactions takes them. 0 and its id and token in *out (caller
 * owns it); EINVAL, ENOENT, ENOTCONN when the bot has no session. */
int gd_interaction_send(struct guildd *g, const json_t *spec, json_t **out);
/* What became of it; NULL when unknown. Caller owns it. */
json_t *gd_interaction_json(const struct gd_rest *r, uint64_t id);

#endif
