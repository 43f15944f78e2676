/* What the agent's requests cost, and what follows when a budget is spent (agent.h,
 * control/ledger/ledger.h). */
#include "control/agent/inside.h"
#include "control/media/media.h"
#include "control/settings/prices.h"
#include "control/settings/settings.h"
#include "ipc/env.h"

uint64_t agent_spend(struct agent *a, const struct roles_event *ev)
{
	const struct media_want *where = media_call_want(a->call);
	const uint64_t *n = ev->engine->usage->n;
	struct bus_event out = {
		.type = EVENT_ENGINE_USED, .at_ms = env_wall_ms(a->env), .guild = where->guild};

	out.usage = (struct event_usage){
		.role = role_name(roles_role(ev->use)),
		.provider = ev->provider->name,
		.model = settings_billed_model(a->settings, roles_role(ev->use), ev->provider),
		.turn = ev->use == ENGINE_USE_WORKER ? 0 : ev->turn,
		.text_in = n[PRICE_TEXT_IN],
		.text_cached = n[PRICE_TEXT_CACHED],
		.text_out = n[PRICE_TEXT_OUT],
		.audio_in = n[PRICE_AUDIO_IN],
		.audio_cached = n[PRICE_AUDIO_CACHED],
		.audio_out = n[PRICE_AUDIO_OUT],
		.image_in = n[PRICE_IMAGE_IN],
		.characters = n[PRICE_CHARACTERS],
		.seconds = n[PRICE_SECONDS],
		.session = turns_session(a->turns),
		.channel = where->channel,
		.estimated = ev->engine->usage->estimated};
	out.usage.nano =
		ledger_cost(a->settings, out.usage.model, ev->engine->usage, &out.usage.priced);
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
