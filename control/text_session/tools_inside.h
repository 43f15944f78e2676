/* Shared by the files of a channel's tools. For control/text_session/tool*.c only. */
#ifndef CONTROL_TEXT_SESSION_TOOLS_INSIDE_H
#define CONTROL_TEXT_SESSION_TOOLS_INSIDE_H

#include "control/memory/last_told.h"
#include "control/text_session/inside.h"
#include "control/tool_calls/tool_calls.h"
#include "control/tools/builtin/host.h"

struct builtins;
struct delegate_seat;
struct mcp_seat;
struct worker_models;

enum {
	TEXT_MEMORY_ASKS = 8,
	TEXT_LOOKS = 4, /* pictures that are looked at for calls, of a channel */
};

/* A call that waits for the store. */
struct text_memory_ask {
	struct text_seat *seat; /* NULL: free */
	uint32_t id, reply;	/* reply: whose model asks */
	uint64_t user;
	json_t *skipped; /* of a write */
	/* of a search: */
	json_t *request;
	uint64_t owner;
	bool any;
	unsigned most; /* facts that may be told */
	unsigned rounds;
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
	/* NULL: no workers; models: the providers of those that are models */
	struct delegate_seat *delegate;
	struct worker_models *models;
	uint64_t worker_numbers; /* as numbers, of the calls that workers make */
	struct text_memory_ask ask[TEXT_MEMORY_ASKS];
	struct last_told told;
	struct text_look look[TEXT_LOOKS];
};

/* ---- tools.c ---- */
/* Audits a call whose number in the journal is `call`; of a pass of a model (o->turn), or 0. */
void text_tools_publish(const struct text_seat *seat, const struct tool_output *o,
			enum event_type type, uint64_t call, uint64_t nano);
/* Of struct tool_room. */
void text_tools_changed(void *seat);
/* True if tools of MCP servers and workers may be called there: in every server, and in direct
 * messages if the settings allow it. */
bool text_tools_reach_out(const struct text_seat *seat);
/* The first number of a series for the journal: no other series begins with it. */
uint64_t text_tools_numbers(struct text_session *ts);

/* ---- tool_host.c ---- */
/* The interface of the tools' shells to this channel. */
struct tool_host text_tool_host(struct text_seat *seat);
void text_tool_memory_free(struct text_seat *seat);

/* ---- workers.c ---- */
/* The channel takes part in tasks for workers. */
void text_workers_open(struct text_seat *seat);
void text_workers_free(struct text_seat *seat);
void text_workers_settings(const struct text_seat *seat);
/* False: these are not of a worker's call. */
bool text_workers_output(const struct text_seat *seat, uint32_t id, bool ok, struct slice text);
bool text_workers_cost(const struct text_seat *seat, uint32_t id, const struct tool_cost *cost);
bool text_workers_progress(uint32_t id);

/* ---- lookup.c ---- */
/* Of struct tool_host; arg: the seat. id 0 cancels all. */
int text_lookup(uint32_t id, const struct tool_look *what, void *arg);
/* tool_host.writtenh of a seat. */
bool text_lookup_written(const char *url, void *arg);
void text_lookup_cancel(uint32_t id, void *arg);

#endif
