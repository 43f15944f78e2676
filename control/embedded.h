/* The embedded engine: runs offlined as a child of control, on a free loopback port.
 *
 * When offlined dies it is restarted on the same port, so that its address stays valid; if that
 * port is taken, on another. */
#ifndef CONTROL_EMBEDDED_H
#define CONTROL_EMBEDDED_H

#include <sys/types.h>

#include "control/report/faults.h"

struct embedded;
struct env;

/* Called at every start: offlined listens at url ("ws://127.0.0.1:41234/v1/realtime"). */
typedef void(embedded_ready_h)(const char *url, void *arg);
/* It ended before it printed its address; it is started again. */
typedef void(embedded_failed_h)(enum embedded_fault fault, void *arg);

/* Looks for offlined beside our own executable, then in PATH. ENOENT when it is in neither, EINVAL,
 * ENOMEM. Caller owns *out. */
int embedded_alloc(struct embedded **out, struct env *env, embedded_ready_h *h,
		   embedded_failed_h *failedh, void *arg);
/* True if offlined, at this path, has its speech model. Runs it and waits. */
enum embedded_fault embedded_check(const char *program);
struct embedded *embedded_free(struct embedded *e);
/* For tests and /status; 0 while it does not run. */
pid_t embedded_pid(const struct embedded *e);

/* {"url":"ws://127.0.0.1:P/…"} → url and port. EBADMSG. */
int embedded_parse(const char *line, char *url, size_t size, unsigned *port);

#endif
