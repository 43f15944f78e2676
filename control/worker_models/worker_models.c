#include "control/worker_models/worker_models.h"

#include <errno.h>
#include <stdlib.h>

#include "control/agent/agent_workers.h"
#include "control/agent/usage_event.h"
#include "control/delegate/delegates.h"
#include "control/engine/roles.h"
#include "control/events/events.h"
#include "control/ledger/ledger.h"
#include "control/settings/settings.h"
#include "ipc/env.h"

struct worker_models {
	struct worker_models_conf conf;
	struct delegate_seat *seat;
	struct roles *roles; /* NULL until a model is asked */
};

int worker_models_alloc(struct worker_models **out, const struct worker_models_conf *conf)
{
	struct worker_models *m = calloc(1, sizeof *m);

	if (!m)
		return ENOMEM;
	m->conf = *conf;
	*out = m;
	return 0;
}

struct worker_models *worker_models_free(struct worker_models *m)
{
	if (!m)
		return NULL;
	roles_free(m->roles);
	free(m);
	return NULL;
}

void worker_models_serve(struct worker_models *m, struct delegate_seat *seat)
{
	m->seat = seat;
}

/* ---- money ---- */

bool worker_models_may_spend(struct worker_models *m, uint32_t *tokens)
{
	const struct worker_models_conf *c = &m->conf;
	bool spent = c->ledger && ledger_state(c->ledger, c->settings, c->guild,
					       env_wall_ms(c->env)) == LEDGER_SPENT;
	bool saves = spent && c->settings->cost_at_limit == SETTINGS_COST_DEGRADE;

	if (m->roles)
		roles_save(m->roles, saves);
	*tokens = saves ? c->settings->cost_degraded_tokens : 0;
	return !spent || c->settings->cost_at_limit != SETTINGS_COST_STOP;
}

static void count(const struct worker_models *m, struct event_usage usage)
{
	const struct worker_models_conf *c = &m->conf;
	struct bus_event out = {.type = EVENT_ENGINE_USED,
				.at_ms = env_wall_ms(c->env),
				.guild = c->guild,
				.usage = usage};

	out.usage.channel = c->channel;
	if (c->ledger)
		ledger_add(c->ledger, c->guild, usage.nano, out.at_ms);
	bus_publish(c->bus, &out);
}

void worker_models_cost(struct worker_models *m, const struct tool_cost *cost)
{
	if (!cost->counted)
		count(m, (struct event_usage){.role = "tool",
					      .provider = "worker",
					      .model = cost->service,
					      .nano = cost->nano,
					      .priced = true});
}

/* ---- models ---- */

static void take_event(const struct roles_event *ev, void *arg)
{
	const struct worker_models *m = arg;
	struct event_usage usage = {0};

	if (ev->engine->type == ENGINE_USAGE) {
		usage_event_fill(&usage, m->conf.settings, ev);
		count(m, usage);
	}
	agent_worker_event(m->seat, ev, usage.nano / 1000);
}

static int open_roles(struct worker_models *m)
{
	const struct roles_conf conf = {.env = m->conf.env,
					.ws = m->conf.ws,
					.http = m->conf.http,
					.settings = m->conf.settings,
					.idle = true,
					.h = take_event,
					.arg = m};

	return m->roles ? 0 : roles_alloc(&m->roles, &conf);
}

int worker_models_ask(const struct engine_ask *ask, void *arg)
{
	struct worker_models *m = arg;
	struct engine_ask limited = *ask;
	int err = open_roles(m);

	if (err)
		return err;
	if (!worker_models_may_spend(m, &limited.output_tokens))
		return EDQUOT;
	roles_ask(m->roles, ENGINE_USE_WORKER, 0, &limited);
	return 0;
}

void worker_models_stop(uint32_t turn, void *arg)
{
	const struct worker_models *m = arg;

	if (m->roles)
		roles_cancel(m->roles, ENGINE_USE_WORKER, turn);
}

void worker_models_settings(struct worker_models *m, bool busy)
{
	if (m->roles && busy)
		roles_settings(m->roles);
	else
		m->roles = roles_free(m->roles);
}
