/* Requests of an engine that are under way over HTTP, in one list: what the engines of text and of
 * speech have in common.
 *
 * An engine embeds struct exchange as the first member of its own job, which it allocates with
 * calloc and which this module frees. A handler may cancel any exchange, its own too: between
 * exchange_enter and exchange_leave nothing is freed. Cancelling closes the connection, on which
 * servers stop generating. */
#ifndef CONTROL_ENGINE_EXCHANGE_H
#define CONTROL_ENGINE_EXCHANGE_H

#include "control/engine/endpoint.h"
#include "control/engine/engine.h"

struct exchanges;

struct exchange {
	struct exchange *next;
	struct exchanges *list;
	uint32_t ask;
	bool over;	      /* no further event of it */
	bool inside;	      /* of a handler: freed when that returns */
	struct http_req *req; /* NULL: answered or cancelled */
};

struct exchanges {
	struct exchange *first;
	unsigned n, most; /* n: of those that are not over */
	engine_h *h;
	void *arg;
	void (*clearh)(struct exchange *x); /* frees what the job holds besides itself; or NULL */
};

/* Starts x's request and puts it into the list; call->arg becomes x. Frees x on failure. EBUSY too
 * many are under way, errors of endpoint_post. */
int exchange_post(struct exchanges *list, struct exchange *x, struct endpoint *endpoint,
		  struct endpoint_call *call);
/* Tells an event of it; DONE and FAILED are the last. */
void exchange_tell(struct exchange *x, const struct engine_event *ev);
/* Tells FAILED. */
void exchange_fail(struct exchange *x, const char *why, size_t n);
/* Tells FAILED of a response that is an error or a refusal. */
void exchange_fail_response(struct exchange *x, const struct http_resp *resp);

/* A part of the response came. */
void exchange_enter(struct exchange *x);
/* Frees x when it is over. */
void exchange_leave(struct exchange *x);
/* The response came. */
void exchange_enter_last(struct exchange *x);
/* x is freed, unless it was posted again. */
void exchange_leave_last(struct exchange *x);

/* True: there was one of that ask. */
bool exchange_cancel(struct exchanges *list, uint32_t ask);
void exchanges_clear(struct exchanges *list);

#endif
