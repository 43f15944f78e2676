/* The desks of /work (control_work.h): the seats among the workers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/control_work.h"
#include "control/delegate/delegates.h"
#include "control/tools/builtin/seats.h"
#include "control/tools/registry.h"
#include "control/worker_models/worker_models.h"

bool work_may_spend(struct work_desk *d, uint32_t *tokens)
{
	return worker_models_may_spend(d->models, tokens);
}

/* ---- the seat ---- */

/* The desk has no tools that a model could call. */
static enum tool_verdict refuse_call(const struct tool_request *request, void *arg)
{
	(void)request;
	(void)arg;
	return TOOL_OFF;
}

static void pass_over(const struct tool_output *call, void *arg)
{
	(void)call;
	(void)arg;
}

/* No model calls a tool here, so no call has an output. */
static void drop_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	(void)id;
	(void)ok;
	(void)text;
	(void)arg;
}

static void take_cost(uint32_t id, const struct tool_cost *cost, void *arg)
{
	const struct work_desk *d = arg;

	(void)id;
	worker_models_cost(d->models, cost);
}

static void pass_over_change(void *arg)
{
	(void)arg;
}

static void take_told(const struct delegate_told *told, void *arg)
{
	struct work_desk *d = arg;

	for (unsigned i = 0; i < WORK_TASKS; i++)
		if (d->task[i].state == WORK_GIVEN && d->task[i].number == told->call) {
			work_task_ended(d, &d->task[i], told);
			return;
		}
}

static int take_seat(struct work_desk *d)
{
	const struct tool_room room = {.registry = d->registry,
				       .host = {.env = d->c->env,
						.http = d->c->http,
						.settings = d->c->settings,
						.outputh = drop_output,
						.costh = take_cost,
						.arg = d},
				       .changedh = pass_over_change};
	const struct delegate_model model = {.askh = worker_models_ask,
					     .stoph = worker_models_stop,
					     .model_arg = d->models,
					     .judgeh = refuse_call,
					     .calledh = pass_over,
					     .arg = d};
	int err = delegate_seat_alloc(&d->seat, d->c->delegates, &room, &model);

	if (!err) {
		delegate_seat_listen(d->seat, take_told, d);
		worker_models_serve(d->models, d->seat);
	}
	return err;
}

static int open_models(struct work_desk *d)
{
	return worker_models_alloc(&d->models,
				   &(struct worker_models_conf){.env = d->c->env,
								.ws = d->c->ws,
								.http = d->c->http,
								.settings = d->c->settings,
								.ledger = d->c->ledger,
								.bus = d->c->bus,
								.guild = d->guild});
}

/* ---- desks ---- */

struct work_desk *work_desk_find(const struct control *c, uint64_t guild)
{
	struct work_desk *d = c->work_desks;

	while (d && d->guild != guild)
		d = d->next;
	return d;
}

struct work_desk *work_desk_free(struct work_desk *d)
{
	if (!d)
		return NULL;
	for (struct work_desk **at = &d->c->work_desks; *at; at = &(*at)->next)
		if (*at == d) {
			*at = d->next;
			break;
		}
	delegate_seat_free(d->seat);
	worker_models_free(d->models);
	tools_registry_free(d->registry);
	for (unsigned i = 0; i < WORK_TASKS; i++) {
		free(d->task[i].text);
		free(d->task[i].worker);
		free(d->task[i].result);
	}
	free(d);
	return NULL;
}

/* Results that nobody has asked for go when places are scarce. */
static void free_idle_desk(struct control *c)
{
	struct work_desk *last = NULL;

	for (struct work_desk *d = c->work_desks; d; d = d->next)
		if (!work_desk_count(d, 0))
			last = d;
	work_desk_free(last);
}

struct work_desk *work_desk_open(struct control *c, uint64_t guild)
{
	struct work_desk *d = work_desk_find(c, guild);
	int err;

	if (d)
		return d;
	d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	d->c = c;
	d->guild = guild;
	err = tools_registry_alloc(&d->registry);
	if (!err)
		err = open_models(d);
	if (!err)
		err = take_seat(d);
	if (err == ENOSPC) {
		free_idle_desk(c);
		err = take_seat(d);
	}
	if (err)
		return work_desk_free(d);
	d->next = c->work_desks;
	c->work_desks = d;
	return d;
}

void work_desk_update(struct work_desk *d)
{
	worker_models_settings(d->models, work_desk_count(d, 0) > 0);
}

/* ---- tasks ---- */

unsigned work_desk_count(const struct work_desk *d, uint64_t user)
{
	unsigned n = 0;

	for (unsigned i = 0; i < WORK_TASKS; i++)
		n += (d->task[i].state == WORK_ASKED || d->task[i].state == WORK_GIVEN) &&
		     (!user || d->task[i].user == user);
	return n;
}

void work_task_drop(struct work_desk *d, struct work_task *t)
{
	if (t->state == WORK_GIVEN)
		delegate_seat_leave(d->seat, t->number);
	free(t->text);
	free(t->worker);
	free(t->result);
	*t = (struct work_task){0};
}

struct work_task *work_desk_place(struct work_desk *d)
{
	struct work_task *best = NULL;

	for (unsigned i = 0; i < WORK_TASKS; i++) {
		struct work_task *t = &d->task[i];

		if ((t->state == WORK_FREE || t->state == WORK_ENDED) &&
		    (!best || t->number < best->number))
			best = t;
	}
	if (best)
		work_task_drop(d, best);
	return best;
}

int work_task_give(struct work_desk *d, struct work_task *t)
{
	int err = delegate_seat_give(d->seat, t->number, t->user, t->text, t->worker);

	if (!err)
		t->state = WORK_GIVEN;
	return err;
}
