/* Shared by the files of a room's tools (agent_tools.h). For control/agent/agent_tools*.c only.
 *
 * The agent owns its struct agent_tools, which owns everything it points to except the agent. */
#ifndef CONTROL_AGENT_AGENT_TOOLS_INSIDE_H
#define CONTROL_AGENT_AGENT_TOOLS_INSIDE_H

#include "control/agent/agent_tools.h"
#include "control/agent/inside.h"
#include "control/tools/arguments_mac.h"
#include "control/tools/builtin/host.h"
#include "control/tool_calls/tool_calls.h"

enum { SAID_MAX = 4096 };

struct agent_tools {
	struct agent *a;
	struct tool_calls *calls;
	struct tools_registry *registry; /* of the calls, like the run; borrowed */
	struct tools_run *run;
	struct builtins *builtins;
	struct agent_memory *memory;
	struct mcp_seat *mcp;		/* NULL: no servers */
	struct delegate_seat *delegate; /* NULL: no workers */
	uint64_t up_at;
	/* Once this turn is over: goes, to the channel of this name or altogether. 0: neither. */
	uint32_t leaves_after;
	char joins[128];
	uint64_t joins_for; /* the user who asked for it */
	/* Links that the searches of this turn found, for the text channel. */
	uint32_t found_turn;
	unsigned n_found;
	struct words found;
	bool provider_search; /* the settings want the provider's own search */
	uint32_t held;	      /* a turn whose answer was speculative when it was asked; 0: none */
	uint32_t told_words;  /* the last turn whose words the run has */
	/* The last calls that began in a turn whose words may be kept; turn 0: free. A worker's
	 * calls have numbers of their own. */
	struct kept_call {
		uint32_t id, turn;
		uint64_t hash; /* of its arguments */
	} kept[TOOLS_CALLS];
	unsigned n_kept; /* of all: the next one's place is its remainder */
	bool keyed;
	uint8_t arguments_key[ARGUMENTS_KEY]; /* made when the first arguments are told */
	/* Words of this turn's answer: those that its next ask repeats, and all of them. */
	struct said {
		uint32_t turn;
		size_t n;
		char text[SAID_MAX];
	} said, lead;
};

/* ---- agent_tools.c ---- */
/* One input into the run, and whatever performing its outputs causes after it. in is borrowed. */
void agent_tools_feed(struct agent_tools *t, const struct tool_input *in);
/* Their rank for this tool. */
enum tool_rank agent_tools_rank(const struct agent *a, uint64_t user, const char *tool);

/* The speakers of a turn as the asker of a call. */
struct tool_asker {
	uint64_t user;	     /* the first one; 0: nobody */
	bool shared;	     /* there are several */
	enum tool_rank rank; /* the lowest of theirs */
};
/* turn is borrowed; NULL: nobody's. */
struct tool_asker agent_tools_asker(const struct agent *a, const struct room_turn *turn,
				    const char *tool);

/* ---- agent_tools_effects.c ---- */
/* Of its calls (control/tool_calls/tool_calls.h). */
void agent_tools_take(const struct tool_output *o, void *arg);
void agent_tools_tell(const struct tool_output *o, enum event_type type, uint64_t nano, void *arg);
uint64_t agent_tools_spend(uint32_t turn, const char *tool, const struct tool_cost *cost,
			   void *arg);
const char *agent_tools_words_of(uint32_t turn, void *arg);
/* Publishes the call, EVENT_TOOL_BEGAN or EVENT_TOOL_CALLED, which cost this. */
void agent_tools_publish(struct agent_tools *t, const struct tool_output *o, enum event_type type,
			 uint64_t nano);

/* ---- agent_tools_host.c ---- */
/* The interface of the tools' shells to this room. http is borrowed. */
struct tool_host agent_tools_host(struct agent_tools *t, struct http *http);

#endif
