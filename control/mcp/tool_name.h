/* Names of servers' tools as models know them. Pure. */
#ifndef CONTROL_MCP_TOOL_NAME_H
#define CONTROL_MCP_TOOL_NAME_H

#include <stddef.h>

enum { TOOL_NAME_KEPT = 55 };

/* SERVER__TOOL in [a-z_][a-z0-9_]*: other characters become '_'. Behind TOOL_NAME_KEPT characters,
 * and where characters were replaced, '_' and eight digits of a hash of both names follow, so that
 * two names of a server do not become one. size: at least 65. */
void tool_name_make(char *to, size_t size, const char *server, const char *tool);

#endif
