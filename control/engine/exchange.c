#include "control/engine/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai_http.h"
#include "ipc/http.h"
#include "ipc/unreachable.h"

static void free_exchange(struct exchange *x)
{
	struct exchanges *list = x->list;

	for (struct exchange **at = &list->first; *at; at = &(*at)->next)
		if (*at == x) {
			*at = x->next;
			break;
		}
	if (!x->over)
		list->n--;
	if (list->clearh)
		list->clearh(x);
	free(x);
}

/* Frees its place for the next exchange, though its handler may still run. */
static void end(struct exchange *x)
{
	if (!x->over)
		x->list->n--;
	x->over = true;
}

int exchange_post(struct exchanges *list, struct exchange *x, struct endpoint *endpoint,
		  struct endpoint_call *call)
{
	int err = list->n >= list->most && !x->list ? EBUSY : 0;

	if (!x->list) {
		x->list = list;
		x->next = list->first;
		list->first = x;
		list->n++;
	}
	call->arg = x;
	if (!err)
		err = endpoint_post(endpoint, call, &x->req);
	if (err && !x->inside)
		free_exchange(x);
	return err;
}

void exchange_tell(struct exchange *x, const struct engine_event *ev)
{
	struct engine_event out = *ev;

	if (x->over)
		return;
	out.ask = x->ask;
	if (ev->type == ENGINE_DONE || ev->type == ENGINE_FAILED)
		end(x);
	if (ev->type == ENGINE_FAILED)
		out.trouble = engine_trouble(ev->data.p, ev->data.n);
	x->list->h(&out, x->list->arg);
}

/* A connection that broke, and one on which nothing came in time, had been given the request. */
void exchange_fail_response(struct exchange *x, const struct http_resp *resp)
{
	bool lost = resp->err && !unreachable_told(resp->errtext, strlen(resp->errtext));
	char why[OPENAI_WHY_MAX];

	endpoint_why(resp, why, sizeof why);
	exchange_tell(x, &(struct engine_event){.type = ENGINE_FAILED,
						.lost = lost,
						.data = {(const uint8_t *)why, strlen(why)}});
}

void exchange_fail(struct exchange *x, const char *why, size_t n)
{
	exchange_tell(x, &(struct engine_event){.type = ENGINE_FAILED,
						.data = {(const uint8_t *)why, n}});
}

/* Closes its connection; no further event of it comes. */
static void stop(struct exchange *x)
{
	end(x);
	if (x->req)
		http_req_cancel(x->req);
	x->req = NULL;
	if (!x->inside)
		free_exchange(x);
}

void exchange_enter(struct exchange *x)
{
	x->inside = true;
}

void exchange_leave(struct exchange *x)
{
	x->inside = false;
	if (x->over)
		stop(x);
}

void exchange_enter_last(struct exchange *x)
{
	x->req = NULL;
	x->inside = true;
}

void exchange_leave_last(struct exchange *x)
{
	x->inside = false;
	if (x->over || !x->req)
		stop(x);
}

bool exchange_cancel(struct exchanges *list, uint32_t ask)
{
	struct exchange *next;
	bool found = false;

	for (struct exchange *x = list->first; x; x = next) {
		next = x->next;
		if (x->ask != ask || x->over)
			continue;
		found = true;
		stop(x);
	}
	return found;
}

void exchanges_clear(struct exchanges *list)
{
	struct exchange *next;

	for (struct exchange *x = list->first; x; x = next) {
		next = x->next;
		x->inside = false;
		stop(x);
	}
}
