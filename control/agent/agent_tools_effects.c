#include "control/agent/agent_tools_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/media/media.h"
#include "control/room/answer/tool_results.h"
#include "control/store/store.h"
#include "control/tools/untrusted.h"
#include "ipc/env.h"
#include "ipc/log.h"

/* The call is over. */
static uint64_t count_cost(struct agent_tools *t, const struct tool_output *o)
{
	uint64_t nano = 0;

	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		if (t->spent[i].id == o->id && o->id) {
			nano += agent_spend_tool(t->a, o->turn, o->tool, &t->spent[i].cost);
			t->spent[i].id = 0;
		}
	return nano;
}

static void start_call(struct agent_tools *t, const struct tool_output *o)
{
	const struct tool *tool = tools_registry_find(t->registry, o->tool);
	const struct room_turn *turn = room_active(t->a->room);
	const struct tool_start call = {.id = o->id,
					.turn = o->turn,
					.words =
						turn && turn->id == o->turn ? turn->transcript : "",
					.user = o->user,
					.shared = o->shared,
					.tainted = o->tainted,
					.tool = o->tool,
					.arguments = o->arguments};
	int err = tool ? tool->shell->start(&call, tool->arg) : ENOENT;

	if (err)
		agent_tools_output(o->id, false, slice_str(strerror(err)), t);
}

/* Its row may be gone: a server can take a tool from its list while a call of it runs. */
void agent_tools_cancel(const struct tool_output *o)
{
	if (o->shell && o->shell->cancel)
		o->shell->cancel(o->id, o->shell_arg);
}

static void tell_room(struct agent_tools *t, const struct tool_output *o, bool begins)
{
	agent_feed(t->a, &(struct room_event){.type = ROOM_TOOL,
					      .user = o->user,
					      .turn = o->turn,
					      .yes = begins,
					      .follow = o->silent   ? ROOM_TOOL_SILENCE
							: o->follow ? ROOM_TOOL_GOES_ON
								    : ROOM_TOOL_QUIET,
					      .text = slice_str(o->text)});
}

void agent_tools_publish(struct agent_tools *t, const struct tool_output *o, enum event_type type)
{
	agent_tools_publish_cost(t, o, type, type == EVENT_TOOL_CALLED ? count_cost(t, o) : 0);
}

/* Operators see an output, and the store keeps it: not for somebody who has not agreed to be
 * remembered, and nothing of a memory, which may be somebody's own. */
static bool may_tell_output(const struct agent *a, const struct tool_output *o)
{
	const struct room_turn *turn = room_active(a->room);

	return agent_may_keep(a, o->user) && strncmp(o->tool, "memory_", 7) != 0 &&
	       !(turn && turn->id == o->turn && turn->told_private);
}

void agent_tools_publish_cost(struct agent_tools *t, const struct tool_output *o,
			      enum event_type type, uint64_t nano)
{
	const struct media_want *where = media_call_want(t->a->call);
	struct bus_event ev = {.type = type,
			       .at_ms = env_wall_ms(t->a->env),
			       .guild = where->guild,
			       .user = o->user};
	char hash[20], bare[TOOL_SUMMARY_MAX];

	tool_envelope_bare_summary(o->tool, o->code, bare, sizeof bare);
	snprintf(hash, sizeof hash, "%016llx", (unsigned long long)o->hash);
	ev.tool = (struct event_tool){.session = turns_session(t->a->turns),
				      .channel = where->channel,
				      .turn = o->turn,
				      .call = o->id,
				      .name = o->tool,
				      .code = tool_code_name(o->code),
				      .arguments = hash,
				      .tainted = o->tainted,
				      .lasted_ms = o->ms,
				      .summary =
					      !o->text || may_tell_output(t->a, o) ? o->text : bare,
				      .nano = nano};

	bus_publish(t->a->bus, &ev);
}

/* Its row is on the disk, or shed. */
static void take_written(int err, void *arg)
{
	struct written *w = arg;
	struct agent_tools *t = w->t;
	uint32_t id = w->id;

	w->t = NULL;
	agent_tools_feed(t, &(struct tool_input){.type = TOOL_IN_WRITTEN, .id = id, .ok = !err});
}

static struct written *find_written(struct agent_tools *t)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		if (!t->written[i].t)
			return &t->written[i];
	return NULL;
}

/* Without a store there is no crash after which it could be made again. */
static void record_call(struct agent_tools *t, const struct tool_output *o)
{
	struct written *w = o->await && t->a->store ? find_written(t) : NULL;
	int err = o->await && t->a->store && !w ? ENOSPC : 0;

	agent_tools_publish(t, o, EVENT_TOOL_BEGAN);
	if (!o->await)
		return;
	if (w) {
		*w = (struct written){.t = t, .id = o->id};
		err = store_sync(t->a->store, take_written, w);
		if (!err)
			return;
		w->t = NULL;
	}
	agent_tools_feed(t, &(struct tool_input){.type = TOOL_IN_WRITTEN, .id = o->id, .ok = !err});
}

static void tell_late(struct agent_tools *t, const struct tool_output *o)
{
	char line[ROOM_RESULT_MAX], *cut;
	enum tool_how how = tool_late_how(o->late);

	log_info("tool_late", "call=%u tool=%s late=%s", o->id, o->tool, tool_late_name(o->late));
	if (how == TOOL_LATE_DROP)
		return;
	cut = tool_envelope_cut(o->text, sizeof line - strlen(o->tool) - 3);
	snprintf(line, sizeof line, "%s: %s", o->tool, cut ? cut : "");
	free(cut);
	agent_feed(t->a, &(struct room_event){.type = ROOM_TOOL_RESULT,
					      .user = o->user,
					      .tainted = o->taints,
					      .yes = how == TOOL_LATE_SPEAK,
					      .text = slice_str(line)});
}

static void tell_progress(struct agent_tools *t, const struct tool_output *o)
{
	char line[ROOM_TEXT_MAX], *doing = NULL;
	uint8_t mark[UNTRUSTED_MARK];

	env_random(t->a->env, mark, sizeof mark);
	if (untrusted_wrap(&doing, mark, o->tool, o->text))
		return;
	snprintf(line, sizeof line, "%s is still at work, not done. It is doing: %s", o->tool,
		 doing);
	free(doing);
	agent_feed(t->a, &(struct room_event){.type = ROOM_TOOL_RESULT,
					      .user = o->user,
					      .tainted = o->taints,
					      .yes = true,
					      .text = slice_str(line)});
}

void agent_tools_perform(struct agent_tools *t, const struct tool_output *o)
{
	switch (o->type) {
	case TOOL_DO_BEGIN:
		tell_room(t, o, true);
		break;
	case TOOL_DO_END:
		tell_room(t, o, false);
		break;
	case TOOL_DO_START:
		start_call(t, o);
		break;
	case TOOL_DO_CANCEL:
		agent_tools_cancel(o);
		break;
	case TOOL_DO_SETTLE:
		agent_tools_publish(t, o, EVENT_TOOL_CALLED);
		break;
	case TOOL_DO_JOURNAL:
		record_call(t, o);
		break;
	case TOOL_DO_LATE:
		tell_late(t, o);
		break;
	case TOOL_DO_LINE:
		agent_feed(t->a, &(struct room_event){
					 .type = ROOM_TOOL_WAIT, .turn = o->turn, .chunk = o->n});
		break;
	case TOOL_DO_PROGRESS:
		tell_progress(t, o);
		break;
	case TOOL_DO_JOBS:
		agent_feed(t->a, &(struct room_event){
					 .type = ROOM_TOOL_JOBS, .user = o->user, .chunk = o->n});
		break;
	case TOOL_DO_ANSWER:
		break;
	}
}
