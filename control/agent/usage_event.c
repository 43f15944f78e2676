#include "control/agent/usage_event.h"

#include "control/engine/roles.h"
#include "control/events/events.h"
#include "control/ledger/ledger.h"
#include "control/settings/prices.h"
#include "control/settings/settings.h"
#include "control/tools/builtin/host.h"

void usage_event_fill(struct event_usage *out, const struct settings *s,
		      const struct roles_event *ev)
{
	const uint64_t *n = ev->engine->usage->n;

	*out = (struct event_usage){
		.role = role_name(roles_role(ev->use)),
		.provider = ev->provider->name,
		.model = settings_billed_model(s, roles_role(ev->use), ev->provider),
		.text_in = n[PRICE_TEXT_IN],
		.text_cached = n[PRICE_TEXT_CACHED],
		.text_out = n[PRICE_TEXT_OUT],
		.audio_in = n[PRICE_AUDIO_IN],
		.audio_cached = n[PRICE_AUDIO_CACHED],
		.audio_out = n[PRICE_AUDIO_OUT],
		.image_in = n[PRICE_IMAGE_IN],
		.characters = n[PRICE_CHARACTERS],
		.seconds = n[PRICE_SECONDS],
		.estimated = ev->engine->usage->estimated};
	out->nano = ledger_cost(s, out->model, ev->engine->usage, &out->priced);
}

void usage_event_fill_tool(struct event_usage *out, const struct settings *s, const char *tool,
			   const struct tool_cost *cost)
{
	const struct usage usage = {.n = {[PRICE_REQUESTS] = 1}};

	*out = (struct event_usage){.role = "tool",
				    .provider = tool,
				    .model = cost->service,
				    .nano = cost->nano,
				    .priced = true};
	if (cost->nano)
		return;
	out->requests = 1;
	out->nano = ledger_cost(s, cost->service, &usage, &out->priced);
}
