/* Rooms that take part in tools which come at run time, those of MCP servers and of workers: the
 * room's side, and the list of the rooms that take part. */
#ifndef CONTROL_TOOLS_BUILTIN_SEATS_H
#define CONTROL_TOOLS_BUILTIN_SEATS_H

#include "control/tools/builtin/host.h"

struct tools_registry;

enum { TOOL_SEATS_MAX = 128 };

/* registry and all that host points to are borrowed while the room takes part. */
struct tool_room {
	struct tools_registry *registry; /* rows are added to it and removed from it */
	struct tool_host host;		 /* outputs go to its outputh */
	void (*changedh)(void *arg);	 /* the rows changed; arg: host.arg */
};

/* Seats belong to their owners; NULL is a free place. */
struct tool_seats {
	void *seat[TOOL_SEATS_MAX];
};

/* ENOSPC. */
int tool_seats_add(struct tool_seats *seats, void *seat);
void tool_seats_remove(struct tool_seats *seats, const void *seat);

#endif
