/* What control's HTTP API shows of the program as a whole. */
#include "control/control_inside.h"
#include "control/mcp/servers.h"
#include "control/media/media.h"
#include "control/metrics/metrics.h"
#include "control/settings/settings.h"
#include "control/web/web.h"
#include "ipc/env.h"
#include "proto/base/time.h"

static json_t *tell_mcp(void *arg)
{
	const struct control *c = arg;

	return mcp_servers_status(c->mcp);
}

/* The answer of /readyz. */
static json_t *tell_ready(void *arg)
{
	const struct control *c = arg;
	bool discord = !c->gateway || gateway_state(c->gateway) == GATEWAY_UP, mediad;
	unsigned there, all;

	media_count(c->media, &there, &all);
	mediad = there > 0;
	return json_pack("{s:b,s:{s:s,s:s,s:s}}", "ready", discord && mediad && !c->disk_full,
			 "parts", "discord",
			 !c->gateway ? "unused"
			 : discord   ? "up"
				     : "down",
			 "mediad", mediad ? "up" : "down", "store",
			 !c->store	? "unused"
			 : c->disk_full ? "disk full"
					: "up");
}

static char *tell_metrics(void *arg)
{
	const struct control *c = arg;
	struct metrics_now now = {.voice_sessions = c->n_voice_sessions,
				  .discord = c->gateway && gateway_state(c->gateway) == GATEWAY_UP,
				  .started_ms = env_wall_ms(c->env) -
						(env_now(c->env) - c->started_at) / NS_PER_MS};

	media_count(c->media, &now.mediads, &now.mediads_expected);
	return metrics_write(c->metrics, &c->state.counters, &now);
}

int control_make_web(struct control *c)
{
	struct web_conf conf = {.env = c->env,
				.listen = c->settings->web_listen,
				.token = c->conf.web_token,
				.recorded = c->conf.recorded,
				.live = c->live,
				.bus = c->bus,
				.mcph = tell_mcp,
				.readyh = tell_ready,
				.metricsh = tell_metrics,
				.arg = c};

	return web_alloc(&c->web, &conf);
}
