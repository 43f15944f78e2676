/* Searches that the provider of the answers makes by itself (agent_tools.h): the room waits for
 * them as for a tool, each is a row of the audit, and cited pages become links. */
#include "control/agent/agent_tools_inside.h"

#include <string.h>

#include "control/tools/builtin/web.h"
#include "proto/base/fnv.h"

static const char name[] = "web_search";

enum { URL_SIZE = 512 };

/* The price is that of a request to the provider, where the settings have one. */
static uint64_t count_search(struct agent_tools *t, const struct roles_event *ev)
{
	if (!ev->provider)
		return 0;
	return agent_spend_tool(t->a, ev->turn, name,
				&(struct tool_cost){.service = ev->provider->name});
}

static void settle_search(struct agent_tools *t, const struct roles_event *ev, uint64_t user)
{
	const struct engine_event *e = ev->engine;
	enum tool_code code = e->failed ? TOOL_CODE_FAILED : TOOL_CODE_OK;
	char summary[TOOL_SUMMARY_MAX];
	const struct tool_output o = {.turn = ev->turn,
				      .user = user,
				      .tool = name,
				      .code = code,
				      .hash = fnv_bytes(FNV_BEGIN, e->data.p, e->data.n),
				      .tainted = true,
				      .text = summary};

	tool_envelope_bare_summary(name, code, summary, sizeof summary);
	agent_tools_publish(t, &o, EVENT_TOOL_CALLED, count_search(t, ev));
}

/* The output is in the provider's answer already, so nothing follows. */
static void tell_room(struct agent_tools *t, uint32_t turn, uint64_t user, bool begins)
{
	agent_feed(t->a, &(struct room_event){.type = ROOM_TOOL,
					      .user = user,
					      .turn = turn,
					      .yes = begins,
					      .follow = ROOM_TOOL_QUIET});
}

static void give_source(struct agent_tools *t, const struct roles_event *ev)
{
	const struct tool_host host = agent_tools_host(t, NULL);
	struct slice data = ev->engine->data;
	char url[URL_SIZE];

	if (data.n >= sizeof url)
		return;
	memcpy(url, data.p, data.n);
	url[data.n] = '\0';
	if (t->found_turn != ev->turn || !strstr(t->found.text, url))
		builtin_web_link(&host, ev->turn, ev->engine->title, url);
}

void agent_tools_search(struct agent_tools *t, const struct roles_event *ev)
{
	const struct room_turn *turn;
	uint64_t user;

	if (!t)
		return;
	turn = room_active(t->a->room);
	user = agent_tools_asker(t->a, turn && turn->id == ev->turn ? turn : NULL, name).user;
	tools_run_searched(t->run, ev->turn);
	switch (ev->engine->type) {
	case ENGINE_SEARCH_BEGAN:
		tell_room(t, ev->turn, user, true);
		break;
	case ENGINE_SEARCHED:
		settle_search(t, ev, user);
		tell_room(t, ev->turn, user, false);
		break;
	default:
		give_source(t, ev);
		break;
	}
}
