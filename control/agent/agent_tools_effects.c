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

const char *agent_tools_words_of(uint32_t id, void *arg)
{
	const struct agent_tools *t = arg;
	const struct room_turn *turn = room_active(t->a->room);

	return turn && turn->id == id ? turn->transcript : "";
}

uint64_t agent_tools_spend(uint32_t turn, const char *tool, const struct tool_cost *cost, void *arg)
{
	const struct agent_tools *t = arg;

	return agent_spend_tool(t->a, turn, tool, cost);
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

static struct kept_call *find_kept(struct agent_tools *t, const struct tool_output *o)
{
	for (unsigned i = 0; o->turn && i < TOOLS_CALLS; i++)
		if (t->kept[i].turn == o->turn && t->kept[i].id == o->id &&
		    t->kept[i].hash == o->hash)
			return &t->kept[i];
	return NULL;
}

/* Operators see an output, and the store keeps it: as the words of its turn, and nothing of the
 * memory. A call can outlive its turn: the one that began is judged then. */
static bool may_tell_output(struct agent_tools *t, const struct tool_output *o,
			    enum event_type type)
{
	const struct room_turn *turn = room_active(t->a->room);
	bool active = turn && turn->id == o->turn;
	bool may = active && turns_may_keep(t->a->turns, turn);
	struct kept_call *kept = find_kept(t, o);

	if (type == EVENT_TOOL_BEGAN && may && !kept)
		t->kept[t->n_kept++ % TOOLS_CALLS] =
			(struct kept_call){.id = o->id, .turn = o->turn, .hash = o->hash};
	if (type == EVENT_TOOL_CALLED && kept) {
		*kept = (struct kept_call){0};
		may = may || !active;
	}
	return may && agent_may_keep(t->a, o->user) && !tool_output_is_of_memory(o);
}

static void write_mac(struct agent_tools *t, uint64_t hash, char out[ARGUMENTS_MAC])
{
	if (!t->keyed)
		env_random(t->a->env, t->arguments_key, sizeof t->arguments_key);
	t->keyed = true;
	arguments_mac(t->arguments_key, hash, out);
}

void agent_tools_publish(struct agent_tools *t, const struct tool_output *o, enum event_type type,
			 uint64_t nano)
{
	const struct media_want *where = media_call_want(t->a->call);
	struct bus_event ev = {.type = type,
			       .at_ms = env_wall_ms(t->a->env),
			       .guild = where->guild,
			       .user = o->user};
	char mac[ARGUMENTS_MAC], bare[TOOL_SUMMARY_MAX];
	bool may = may_tell_output(t, o, type);

	tool_envelope_bare_summary(tool_output_name(o), o->code, bare, sizeof bare);
	if (may)
		write_mac(t, o->hash, mac);
	ev.tool = (struct event_tool){.session = turns_session(t->a->turns),
				      .channel = where->channel,
				      .turn = o->turn,
				      .call = o->id,
				      .name = tool_output_name(o),
				      .code = tool_code_name(o->code),
				      .arguments = may ? mac : NULL,
				      .tainted = o->tainted,
				      .lasted_ms = o->ms,
				      .summary = !o->text || may ? o->text : bare,
				      .nano = nano};

	bus_publish(t->a->bus, &ev);
}

void agent_tools_tell(const struct tool_output *o, enum event_type type, uint64_t nano, void *arg)
{
	agent_tools_publish(arg, o, type, nano);
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

void agent_tools_take(const struct tool_output *o, void *arg)
{
	struct agent_tools *t = arg;

	switch (o->type) {
	case TOOL_DO_BEGIN:
		tell_room(t, o, true);
		break;
	case TOOL_DO_END:
		tell_room(t, o, false);
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
	default:
		break;
	}
}
