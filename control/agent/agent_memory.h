/* The memory of a room: asks the store for the tools of memory (control/tools/builtin/memory.c),
 * and tells of its answers what the settings and the consent of the speakers allow now. */
#ifndef CONTROL_AGENT_AGENT_MEMORY_H
#define CONTROL_AGENT_AGENT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/cursor.h"

struct agent;
struct agent_memory;
struct tool_memory;
struct tool_said;

/* The output of a call (control/tools/builtin/host.h). */
typedef void(agent_memory_h)(uint32_t id, bool ok, struct slice text, void *arg);

/* a is borrowed. ENOMEM. Caller owns *out. */
int agent_memory_alloc(struct agent_memory **out, struct agent *a, agent_memory_h *h, void *arg);
/* No handler is called any more. NULL accepted. */
struct agent_memory *agent_memory_free(struct agent_memory *m);

/* Looks for lines of this voice channel; the handler gets them, perhaps from inside. ENOTSUP
 * without a store, ENOSPC: too many searches are out. */
int agent_memory_search(struct agent_memory *m, uint32_t id, const struct tool_said *what);
/* True if facts can be kept: there is a store, and the settings keep words. */
bool agent_memory_keeps(const struct agent_memory *m);
/* Writes, finds or deletes facts of this server. EACCES: the speaker has not agreed to be
 * remembered; otherwise as agent_memory_search. */
int agent_memory_facts(struct agent_memory *m, uint32_t id, const struct tool_memory *what);
/* Publishes that so many facts, which a model was to write, were refused before the store knew. */
void agent_memory_unwritten(const struct agent_memory *m, unsigned facts);

#endif
