/* The built-in tools of one room (control/tools/registry.def): each is a shell, known to the
 * registry by its name. */
#ifndef CONTROL_TOOLS_BUILTIN_BUILTINS_H
#define CONTROL_TOOLS_BUILTIN_BUILTINS_H

#include "control/tools/builtin/host.h"

struct builtins;
struct tools_registry;

/* host is copied, what it names is borrowed. ENOMEM. Caller owns *out, and frees it after the
 * registry. */
int builtins_alloc(struct builtins **out, const struct tool_host *host);
struct builtins *builtins_free(struct builtins *b);
/* Adds the rows of registry.def. Errors of tools_registry_add. */
int builtins_add(struct builtins *b, struct tools_registry *registry);

#endif
