/* Log lines whose pairs are written already (ipc/log.h has the others): they become fields where
 * lines are JSON. */
#ifndef IPC_LOG_PAIRS_H
#define IPC_LOG_PAIRS_H

#include "ipc/log.h"

/* pairs: KEY=VALUE with blanks between them, values with blanks, quotes or '=' in quotes, where a
 * backslash stands before a quote and a backslash. No control characters. */
void log_write_pairs(enum log_level level, const char *event, const char *pairs);

#endif
