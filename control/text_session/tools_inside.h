/* Shared by the files of a channel's tools. For control/text_session/tool*.c only. */
#ifndef CONTROL_TEXT_SESSION_TOOLS_INSIDE_H
#define CONTROL_TEXT_SESSION_TOOLS_INSIDE_H

#include "control/text_session/inside.h"
#include "control/tool_calls/tool_calls.h"
#include "control/tools/builtin/host.h"

struct builtins;
struct mcp_seat;

enum {
	TEXT_MEMORY_ASKS = 8,
	TEXT_LOOKS = 4, /* pictures that are looked at for calls, of a channel */
};

/* A call that waits for the store. */
struct text_memory_ask {
	struct text_seat *seat; /* NULL: free */
	uint32_t id;
	uint64_t user;
	json_t *skipped; /* of a write */
	unsigned most;	 /* facts that may be told */
};

/* A call that waits for a picture. */
struct text_look {
	struct text_seat *seat; /* NULL: free */
	uint32_t id;
	uint64_t message, user, at;
	char name[ATTACHED_NAME], by[INCOMING_NAME];
	struct view *view;
};

/* The tools of one channel. */
struct text_seat {
	struct text_seat *next;
	struct text_guild *g;
	uint64_t channel, used_at;
	uint64_t numbers; /* to which the numbers of its calls are added in the journal */
	struct tool_calls *calls;
	struct builtins *builtins;
	struct mcp_seat *mcp; /* NULL: no servers */
	struct text_memory_ask ask[TEXT_MEMORY_ASKS];
	struct text_look look[TEXT_LOOKS];
};

/* ---- tool_host.c ---- */
/* The interface of the tools' shells to this channel. */
struct tool_host text_tool_host(struct text_seat *seat);
void text_tool_memory_free(struct text_seat *seat);

/* ---- lookup.c ---- */
/* Of struct tool_host; arg: the seat. id 0 cancels all. */
int text_lookup(uint32_t id, const struct tool_look *what, void *arg);
void text_lookup_cancel(uint32_t id, void *arg);

#endif
