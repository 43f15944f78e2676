/* Longer tasks that models hand to workers, agents of the Agent Client Protocol: the tools ask,
 * ask_status and ask_list in each room's registry.
 *
 * A room has one process of each worker, started by its first task and kept for the next ones,
 * which it does one after another; what was said in one task is known in the next. The same task
 * given again while it waits or runs is joined: both calls get the one result. A long answer is
 * written into the text channel, and the model gets it fenced as text of strangers. Everything runs
 * on env's thread. */
#ifndef CONTROL_DELEGATE_DELEGATES_H
#define CONTROL_DELEGATE_DELEGATES_H

#include "control/tools/builtin/seats.h"

struct delegate_seat;
struct delegates;
struct settings;

/* The workers that the settings name, none while their `tools` is off. env and settings are
 * borrowed. ENOMEM. Caller owns *out. */
int delegates_alloc(struct delegates **out, struct env *env, const struct settings *settings,
		    const char *version);
/* All seats are gone before. Waits at most 3 s for the workers' programs. */
struct delegates *delegates_free(struct delegates *d);
/* The settings changed: other workers than before end all tasks. */
void delegates_update(struct delegates *d);

/* A room takes part. d is borrowed, room is copied. ENOMEM, ENOSPC. Caller owns *out, and frees it
 * before the room's registry. */
int delegate_seat_alloc(struct delegate_seat **out, struct delegates *d,
			const struct tool_room *room);
/* Cancels its tasks and ends its workers without waiting for them. No handler is called. NULL
 * accepted. */
struct delegate_seat *delegate_seat_free(struct delegate_seat *seat);

#endif
