#include "ipc/tmr.h"

#include "ipc/env.h"
#include "proto/base/time.h"

#include <errno.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdlib.h>

struct tmr {
	struct env *env;
	struct event *ev; /* NULL on replay */
	uint32_t source;
	tmr_h *h;
	void *arg;
};

static void input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct tmr *t = arg;

	(void)kind;
	(void)data;
	(void)len;
	t->h(t->arg);
}

static void fired(evutil_socket_t fd, short what, void *arg)
{
	struct tmr *t = arg;

	(void)fd;
	(void)what;
	env_deliver(t->env, t->source, 0, NULL, 0);
}

int tmr_alloc(struct tmr **out, struct env *env, tmr_h *h, void *arg)
{
	struct tmr *t;
	int err;

	if (!out || !env || !h)
		return EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->env = env;
	t->h = h;
	t->arg = arg;
	if (env_base(env))
		t->ev = evtimer_new(env_base(env), fired, t);
	err = env_base(env) && !t->ev ? ENOMEM : env_source_add(env, &t->source, input, t);
	if (err) {
		tmr_free(t);
		return err;
	}
	*out = t;
	return 0;
}

struct tmr *tmr_free(struct tmr *t)
{
	if (t) {
		env_source_del(t->env, t->source);
		if (t->ev)
			event_free(t->ev);
		free(t);
	}
	return NULL;
}

void tmr_start(struct tmr *t, uint64_t delay_ns)
{
	struct timeval tv = {
		.tv_sec = (time_t)(delay_ns / NS_PER_S),
		.tv_usec = (suseconds_t)((delay_ns % NS_PER_S + NS_PER_US - 1) / NS_PER_US)};

	if (tv.tv_usec == (suseconds_t)US_PER_S) {
		tv.tv_sec++;
		tv.tv_usec = 0;
	}
	if (t->ev)
		event_add(t->ev, &tv);
}

void tmr_start_at(struct tmr *t, uint64_t when_ns)
{
	uint64_t now = env_now(t->env);

	tmr_start(t, when_ns > now ? when_ns - now : 0);
}

void tmr_stop(struct tmr *t)
{
	if (t->ev)
		event_del(t->ev);
}
