#include "control/tool_calls/tool_calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/store.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/media.h"

/* An input that came while another one was performed. */
struct later {
	struct later *next;
	struct tool_input in;
	uint8_t text[];
};

/* A call whose row is being written. */
struct written {
	struct tool_calls *c; /* NULL: free */
	uint32_t id;
};

/* Costs of calls that are not over. */
struct spent {
	uint32_t id; /* 0: a free place */
	struct tool_cost cost;
	char service[64];
};

struct tool_calls {
	struct tool_calls_conf conf;
	struct tools_registry *registry;
	struct tools_run *run;
	struct tmr *timer;
	struct tool_outputs *out;
	bool performing;
	struct later *first, **last;
	struct written written[TOOLS_CALLS];
	struct spent spent[TOOLS_CALLS];
};

static void take_output(struct tool_calls *c, uint32_t id, bool ok, struct slice text)
{
	tool_calls_feed(
		c, &(struct tool_input){.type = TOOL_IN_OUTPUT, .id = id, .ok = ok, .text = text});
}

/* ---- what the run decides ---- */

/* The call is over. */
static uint64_t count_cost(struct tool_calls *c, const struct tool_output *o)
{
	uint64_t nano = 0;

	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		if (c->spent[i].id == o->id && o->id) {
			nano += c->conf.spendh(o->turn, o->tool, &c->spent[i].cost, c->conf.arg);
			c->spent[i].id = 0;
		}
	return nano;
}

void tool_calls_cost(struct tool_calls *c, uint32_t id, const struct tool_cost *cost)
{
	unsigned i = 0;

	while (i < TOOLS_CALLS && c->spent[i].id)
		i++;
	if (i == TOOLS_CALLS)
		return;
	c->spent[i] = (struct spent){.id = id, .cost = *cost};
	snprintf(c->spent[i].service, sizeof c->spent[i].service, "%s", cost->service);
	c->spent[i].cost.service = c->spent[i].service;
}

static void start_call(struct tool_calls *c, const struct tool_output *o)
{
	const struct tool *tool = tools_registry_find(c->registry, o->tool);
	const struct tool_start call = {.id = o->id,
					.turn = o->turn,
					.words = c->conf.wordsh(o->turn, c->conf.arg),
					.user = o->user,
					.shared = o->shared,
					.tainted = o->tainted,
					.quoted = o->quoted,
					.titled = o->titled,
					.agreed = o->agreed,
					.tool = o->tool,
					.arguments = o->arguments};
	int err = tool ? tool->shell->start(&call, tool->arg) : ENOENT;

	if (err)
		take_output(c, o->id, false, slice_str(strerror(err)));
}

/* Its row may be gone: a server can take a tool from its list while a call of it runs. */
static void cancel_call(const struct tool_output *o)
{
	if (o->shell && o->shell->cancel)
		o->shell->cancel(o->id, o->shell_arg);
}

static void settle_call(struct tool_calls *c, const struct tool_output *o)
{
	c->conf.publishh(o, EVENT_TOOL_CALLED, count_cost(c, o), c->conf.arg);
}

/* Its row is on the disk, or shed. */
static void take_written(int err, void *arg)
{
	struct written *w = arg;
	struct tool_calls *c = w->c;
	uint32_t id = w->id;

	w->c = NULL;
	tool_calls_feed(c, &(struct tool_input){.type = TOOL_IN_WRITTEN, .id = id, .ok = !err});
}

static struct written *find_written(struct tool_calls *c)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		if (!c->written[i].c)
			return &c->written[i];
	return NULL;
}

/* Without a store there is no crash after which it could be made again. */
static void record_call(struct tool_calls *c, const struct tool_output *o)
{
	struct store *store = c->conf.store;
	struct written *w = o->await && store ? find_written(c) : NULL;
	int err = o->await && store && !w ? ENOSPC : 0;

	c->conf.publishh(o, EVENT_TOOL_BEGAN, 0, c->conf.arg);
	if (!o->await)
		return;
	if (w) {
		*w = (struct written){.c = c, .id = o->id};
		err = store_sync(store, take_written, w);
		if (!err)
			return;
		w->c = NULL;
	}
	tool_calls_feed(c, &(struct tool_input){.type = TOOL_IN_WRITTEN, .id = o->id, .ok = !err});
}

static void perform(struct tool_calls *c, const struct tool_output *o)
{
	switch (o->type) {
	case TOOL_DO_START:
		start_call(c, o);
		break;
	case TOOL_DO_CANCEL:
		cancel_call(o);
		break;
	case TOOL_DO_SETTLE:
		settle_call(c, o);
		break;
	case TOOL_DO_JOURNAL:
		record_call(c, o);
		break;
	default:
		c->conf.outputh(o, c->conf.arg);
		break;
	}
}

/* ---- stepping ---- */

static void step(struct tool_calls *c, const struct tool_input *in)
{
	uint64_t at;

	tools_run_step(c->run, in, env_now(c->conf.env), c->out);
	for (size_t i = 0; i < c->out->n; i++)
		perform(c, &c->out->v[i]);
	if (in->type == TOOL_IN_END && c->conf.overh)
		c->conf.overh(in->turn, c->conf.arg);
	at = tools_run_deadline(c->run);
	if (at == UINT64_MAX)
		tmr_stop(c->timer);
	else
		tmr_start_at(c->timer, at);
}

static int defer_input(struct tool_calls *c, const struct tool_input *in)
{
	struct later *l = calloc(1, sizeof *l + in->text.n);

	if (!l)
		return ENOMEM;
	l->in = *in;
	if (in->text.n)
		memcpy(l->text, in->text.p, in->text.n);
	l->in.text.p = l->text;
	*c->last = l;
	c->last = &l->next;
	return 0;
}

void tool_calls_feed(struct tool_calls *c, const struct tool_input *in)
{
	if (c->performing) {
		if (defer_input(c, in))
			log_warn("tool_input_lost", "type=%d", in->type);
		return;
	}
	c->performing = true;
	step(c, in);
	while (c->first) {
		struct later *l = c->first;

		c->first = l->next;
		if (!c->first)
			c->last = &c->first;
		step(c, &l->in);
		free(l);
	}
	c->performing = false;
}

bool tool_calls_performs(const struct tool_calls *c)
{
	return c->performing;
}

static void timer_fired(void *arg)
{
	tool_calls_feed(arg, &(struct tool_input){.type = TOOL_IN_TIME});
}

/* ---- coming and going ---- */

struct tools_registry *tool_calls_registry(struct tool_calls *c)
{
	return c->registry;
}

struct tools_run *tool_calls_run(struct tool_calls *c)
{
	return c->run;
}

int tool_calls_alloc(struct tool_calls **out, const struct tool_calls_conf *conf)
{
	struct tool_calls *c = calloc(1, sizeof *c);
	int err;

	if (!c)
		return ENOMEM;
	c->conf = *conf;
	c->last = &c->first;
	err = tools_registry_alloc(&c->registry);
	if (!err)
		err = tools_run_alloc(&c->run, c->registry, conf->settings);
	if (!err)
		err = tmr_alloc(&c->timer, conf->env, timer_fired, c);
	c->out = calloc(1, sizeof *c->out);
	if (!err && !c->out)
		err = ENOMEM;
	if (err)
		tool_calls_free(c);
	else
		*out = c;
	return err;
}

void tool_calls_end(struct tool_calls *c)
{
	if (!c)
		return;
	tools_run_step(c->run, &(struct tool_input){.type = TOOL_IN_ABORT}, env_now(c->conf.env),
		       c->out);
	for (size_t i = 0; i < c->out->n; i++) {
		const struct tool_output *o = &c->out->v[i];

		if (o->type == TOOL_DO_CANCEL)
			cancel_call(o);
		else if (o->type == TOOL_DO_SETTLE)
			settle_call(c, o);
	}
}

struct tool_calls *tool_calls_free(struct tool_calls *c)
{
	if (!c)
		return NULL;
	for (unsigned i = 0; i < TOOLS_CALLS && c->conf.store; i++)
		store_forget(c->conf.store, &c->written[i]);
	while (c->first) {
		struct later *l = c->first;

		c->first = l->next;
		free(l);
	}
	tmr_free(c->timer);
	tools_run_free(c->run);
	tools_registry_free(c->registry);
	free(c->out);
	free(c);
	return NULL;
}
