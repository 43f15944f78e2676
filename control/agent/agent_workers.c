#include "control/agent/agent_workers.h"

#include <errno.h>

#include "control/agent/inside.h"
#include "control/delegate/delegates.h"

int agent_worker_ask(const struct engine_ask *ask, void *arg)
{
	struct agent *a = arg;
	struct engine_ask limited = *ask;

	if (!agent_may_spend(a, &limited.output_tokens))
		return EDQUOT;
	roles_ask(a->roles, ENGINE_USE_WORKER, 0, &limited);
	return 0;
}

void agent_worker_stop(uint32_t turn, void *arg)
{
	const struct agent *a = arg;

	roles_cancel(a->roles, ENGINE_USE_WORKER, turn);
}

void agent_worker_event(struct delegate_seat *seat, const struct roles_event *ev, uint64_t cost)
{
	const struct engine_event *e = ev->engine;
	struct delegate_event out = {.turn = ev->turn,
				     .call = e->call,
				     .tool = e->tool,
				     .text = e->data,
				     .cost = cost,
				     .end = e->end};

	switch (e->type) {
	case ENGINE_WORDS:
		out.type = DELEGATE_WORDS;
		break;
	case ENGINE_TOOL_CALL:
		out.type = DELEGATE_CALL;
		break;
	case ENGINE_USAGE:
		out.type = DELEGATE_COST;
		break;
	case ENGINE_DONE:
		out.type = DELEGATE_DONE;
		break;
	case ENGINE_FAILED:
		out.type = DELEGATE_FAILED;
		break;
	default:
		return;
	}
	delegate_seat_event(seat, &out);
}
