/* Tasks that models of a channel hand to workers (inside.h): the channel's seat among them. A
 * result comes as that of any call that takes long, and is told in the channel. */
#include "control/delegate/delegates.h"
#include "control/events/events.h"
#include "control/text_session/tools_inside.h"
#include "control/tools/registry.h"
#include "control/tools/run.h"
#include "control/worker_models/worker_models.h"
#include "ipc/env.h"

/* ---- calls that workers make ---- */

static enum tool_verdict judge_call(const struct tool_request *request, void *arg)
{
	const struct text_seat *seat = arg;
	struct tool_request ranked = *request;

	ranked.rank = text_member_rank(seat->g, request->user, request->row->name);
	return tools_run_judge(tool_calls_run(seat->calls), &ranked,
			       env_now(seat->g->ts->conf.env));
}

static void audit_call(const struct tool_output *o, void *arg)
{
	const struct text_seat *seat = arg;

	text_tools_publish(seat, o,
			   o->type == TOOL_DO_JOURNAL ? EVENT_TOOL_BEGAN : EVENT_TOOL_CALLED,
			   seat->worker_numbers + (o->id & ~DELEGATE_NUMBER), 0);
}

bool text_workers_output(const struct text_seat *seat, uint32_t id, bool ok, struct slice text)
{
	if (!(id & DELEGATE_NUMBER))
		return false;
	delegate_seat_output(seat->delegate, id, ok, text);
	return true;
}

bool text_workers_cost(const struct text_seat *seat, uint32_t id, const struct tool_cost *cost)
{
	if (!(id & DELEGATE_NUMBER))
		return false;
	worker_models_cost(seat->models, cost);
	return true;
}

bool text_workers_progress(uint32_t id)
{
	return id & DELEGATE_NUMBER;
}

/* ---- the seat ---- */

static int take_seat(struct text_seat *seat)
{
	const struct text_session_conf *c = &seat->g->ts->conf;
	const struct worker_models_conf models = {.env = c->env,
						  .ws = c->ws,
						  .http = c->http,
						  .settings = seat->g->settings,
						  .ledger = c->ledger,
						  .bus = c->bus,
						  .guild = seat->g->id,
						  .channel = seat->channel};
	const struct tool_room room = {tool_calls_registry(seat->calls), text_tool_host(seat),
				       text_tools_changed};
	int err = worker_models_alloc(&seat->models, &models);

	if (!err)
		err = delegate_seat_alloc(&seat->delegate, c->delegates, &room,
					  &(struct delegate_model){.askh = worker_models_ask,
								   .stoph = worker_models_stop,
								   .model_arg = seat->models,
								   .judgeh = judge_call,
								   .calledh = audit_call,
								   .arg = seat});
	if (err)
		return err;
	seat->worker_numbers = text_tools_numbers(seat->g->ts);
	worker_models_serve(seat->models, seat->delegate);
	return 0;
}

void text_workers_open(struct text_seat *seat)
{
	if (seat->g->ts->conf.delegates && !seat->delegate && take_seat(seat))
		text_workers_free(seat);
}

void text_workers_settings(const struct text_seat *seat)
{
	if (seat->models)
		worker_models_settings(seat->models,
				       tools_run_open(tool_calls_run(seat->calls)) > 0);
}

void text_workers_free(struct text_seat *seat)
{
	seat->delegate = delegate_seat_free(seat->delegate);
	seat->models = worker_models_free(seat->models);
}
