/* The event that tells what a request used: priced for the ledger and the history. */
#ifndef CONTROL_AGENT_USAGE_EVENT_H
#define CONTROL_AGENT_USAGE_EVENT_H

struct event_usage;
struct roles_event;
struct settings;
struct tool_cost;

/* Fills in what the provider tells (ENGINE_USAGE) and its price. The caller adds where it belongs.
 * Strings are borrowed from ev and s. */
void usage_event_fill(struct event_usage *out, const struct settings *s,
		      const struct roles_event *ev);
/* The same of a call of a tool. */
void usage_event_fill_tool(struct event_usage *out, const struct settings *s, const char *tool,
			   const struct tool_cost *cost);

#endif
