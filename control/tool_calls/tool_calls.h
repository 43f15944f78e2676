/* The calls of tools in one conversation, be it a voice session or a channel of text: the shell
 * around control/tools/run.h. It starts and cancels the shells of the tools, writes down each call,
 * waits for the row of one that acts outside, and keeps the time; its owner performs the rest.
 *
 * Everything runs on env's loop thread. What the conf names is borrowed. */
#ifndef CONTROL_TOOL_CALLS_TOOL_CALLS_H
#define CONTROL_TOOL_CALLS_TOOL_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/events/events.h"
#include "control/tools/builtin/host.h"
#include "control/tools/run.h"

struct env;
struct settings;
struct store;
struct tool_calls;

struct tool_calls_conf {
	struct env *env;
	struct store *store; /* where calls are kept; NULL: nowhere */
	const struct settings *settings;
	/* The asker's words in this turn; "": none. Borrowed until the call has started. */
	const char *(*wordsh)(uint32_t turn, void *arg);
	/* An output of the run that concerns the conversation: all but START, CANCEL, SETTLE and
	 * JOURNAL. Borrowed until return. */
	void (*outputh)(const struct tool_output *o, void *arg);
	/* Tells the bus of the call, TOOL_BEGAN or TOOL_CALLED, which cost this much, in billionths
	 * of a dollar. Borrowed until return. */
	void (*publishh)(const struct tool_output *o, enum event_type type, uint64_t nano,
			 void *arg);
	/* Counts what a call cost. Returns billionths of a dollar. */
	uint64_t (*spendh)(uint32_t turn, const char *tool, const struct tool_cost *cost,
			   void *arg);
	/* The turn is over: results that no ask took may be given to the provider. May be NULL. */
	void (*overh)(uint32_t turn, void *arg);
	void *arg;
};

/* ENOMEM. Caller owns *out. */
int tool_calls_alloc(struct tool_calls **out, const struct tool_calls_conf *conf);
/* Cancels the calls under way and settles their rows; of the outputs the owner gets none. NULL
 * accepted. */
void tool_calls_end(struct tool_calls *c);
/* After tool_calls_end, and after all that adds rows to its registry. NULL accepted. */
struct tool_calls *tool_calls_free(struct tool_calls *c);

/* The rows and the run are its own; borrowed for its life. The run is stepped by tool_calls_feed
 * alone. */
struct tools_registry *tool_calls_registry(struct tool_calls *c);
struct tools_run *tool_calls_run(struct tool_calls *c);

/* One input into the run, and whatever performing its outputs causes after it. in is borrowed; its
 * strings, except the text, must outlive the performing of the running step. */
void tool_calls_feed(struct tool_calls *c, const struct tool_input *in);
/* True while an input is performed: c and what adds rows to its registry must not be freed. */
bool tool_calls_performs(const struct tool_calls *c);
/* A call that runs, or gets its output now, cost this. */
void tool_calls_cost(struct tool_calls *c, uint32_t id, const struct tool_cost *cost);

#endif
