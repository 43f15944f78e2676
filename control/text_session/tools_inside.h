/* Shared by the files of a channel's tools. For control/text_session/tool*.c only. */
#ifndef CONTROL_TEXT_SESSION_TOOLS_INSIDE_H
#define CONTROL_TEXT_SESSION_TOOLS_INSIDE_H

#include "control/text_session/inside.h"
#include "control/tool_calls/tool_calls.h"

struct builtins;
struct mcp_seat;

enum { TEXT_MEMORY_ASKS = 8 };

/* A call that waits for the store. */
struct text_memory_ask {
	struct text_seat *seat; /* NULL: free */
	uint32_t id;
	uint64_t user;
	json_t *skipped; /* of a write */
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
};

/* ---- tool_host.c ---- */
/* The interface of the tools' shells to this channel. */
struct tool_host text_tool_host(struct text_seat *seat);
void text_tool_memory_free(struct text_seat *seat);

#endif
