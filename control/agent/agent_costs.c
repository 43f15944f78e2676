/* Costs of the agent's requests, and the end of a spent budget (agent.h, control/ledger/ledger.h).
 * */
#include "control/agent/inside.h"
#include "control/agent/usage_event.h"
#include "control/media/media.h"
#include "control/settings/settings.h"
#include "control/tools/builtin/host.h"
#include "ipc/env.h"

uint64_t agent_spend(struct agent *a, const struct roles_event *ev)
{
	const struct media_want *where = media_call_want(a->call);
	struct bus_event out = {
		.type = EVENT_ENGINE_USED, .at_ms = env_wall_ms(a->env), .guild = where->guild};

	usage_event_fill(&out.usage, a->settings, ev);
	out.usage.turn = ev->use == ENGINE_USE_WORKER || ev->use == ENGINE_USE_SEE ? 0 : ev->turn;
	out.usage.session = turns_session(a->turns);
	out.usage.channel = where->channel;
	a->spent_nano += out.usage.nano;
	if (a->ledger)
		ledger_add(a->ledger, where->guild, out.usage.nano, out.at_ms);
	bus_publish(a->bus, &out);
	return out.usage.nano;
}

uint64_t agent_spend_tool(struct agent *a, uint32_t turn, const char *tool,
			  const struct tool_cost *cost)
{
	const struct media_want *where = media_call_want(a->call);
	struct bus_event out = {
		.type = EVENT_ENGINE_USED, .at_ms = env_wall_ms(a->env), .guild = where->guild};

	if (cost->counted)
		return cost->nano;
	usage_event_fill_tool(&out.usage, a->settings, tool, cost);
	out.usage.turn = turn;
	out.usage.session = turns_session(a->turns);
	out.usage.channel = where->channel;
	a->spent_nano += out.usage.nano;
	if (a->ledger)
		ledger_add(a->ledger, where->guild, out.usage.nano, out.at_ms);
	bus_publish(a->bus, &out);
	return out.usage.nano;
}

bool agent_may_spend(struct agent *a, uint32_t *tokens)
{
	uint32_t limit = a->settings->cost_at_limit;
	enum ledger_state is =
		!a->ledger ? LEDGER_FREE
			   : ledger_state(a->ledger, a->settings, media_call_want(a->call)->guild,
					  env_wall_ms(a->env));
	bool saves = is == LEDGER_SPENT && limit == SETTINGS_COST_DEGRADE;
	bool stops = is == LEDGER_SPENT && limit == SETTINGS_COST_STOP;

	if (is > a->budget && !saves && !stops)
		agent_fault(a, FAULT_COST, FAULT_IS_ONCE);
	a->budget = is;
	agent_fault(a, FAULT_THRIFT, saves ? FAULT_IS_THERE : FAULT_IS_OVER);
	agent_fault(a, FAULT_BUDGET, stops ? FAULT_IS_THERE : FAULT_IS_OVER);
	roles_save(a->roles, saves);
	*tokens = saves ? a->settings->cost_degraded_tokens : 0;
	return !stops;
}
