/* Shared by the handlers of control/web. */
#ifndef CONTROL_WEB_INSIDE_H
#define CONTROL_WEB_INSIDE_H

#include <stddef.h>

#include <jansson.h>

#include "control/web/access.h"
#include "control/web/problems.def"
#include "control/web/roles.h"
#include "control/web/routes.def"
#include "control/web/web.h"
#include "ipc/http_server.h"

/* A request that may be answered. */
struct web_request {
	struct http_exchange *x;
	const struct http_head *head;
	const json_t *body; /* NULL without one */
	enum web_role role;
	char actor[ACCESS_ACTOR_SIZE]; /* as access_actor */
	uint64_t id;		       /* in a path with :id */
};
typedef void(web_handle_h)(struct web *w, const struct web_request *r);

#define HANDLE_(METHOD, path, role, handler, body, ms, text) web_handle_h web_##handler;
WEB_ROUTES(HANDLE_)
#undef HANDLE_

struct live_turns;
struct store;

struct live_settings *web_live(const struct web *w);
struct env *web_env(const struct web *w);
struct access *web_access(const struct web *w);
const struct web_conf *web_shown(const struct web *w);
struct live_turns *web_turns(const struct web *w);
/* Keeps the exchange of the change of settings that waits to be saved: one at a time. */
void web_keep_change(struct web *w, struct http_exchange *x);
/* That exchange, which is the caller's to answer; NULL when its client is gone. */
struct http_exchange *web_take_change(struct web *w);
/* Who waits for the store (control/web/history_api.c). */
struct reads;
struct reads *web_reads(const struct web *w);
int reads_alloc(struct reads **out, struct store *store);
/* Nobody is answered any more. */
struct reads *reads_free(struct reads *r);
/* Answers with the object, which it takes; NULL is a problem of memory. */
void web_json(struct http_exchange *x, int status, json_t *body);
enum web_refusal {
#define REFUSAL_(NAME, status, code, text) WEB_##NAME,
	WEB_PROBLEMS(REFUSAL_)
#undef REFUSAL_
};
/* Answers with that problem. */
void web_refuse(struct http_exchange *x, enum web_refusal refusal);
/* application/problem+json: code is the word that clients compare; more (may be NULL, is taken) has
 * further members. */
void web_problem(struct http_exchange *x, int status, const char *code, const char *text,
		 json_t *more);

#endif
