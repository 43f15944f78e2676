/* The embedded brain: offlined as a child of control, on a loopback port of its own choosing.
 *
 * It is restarted on the same port when it dies, so that whoever knows its address need not be told
 * again; on another when it cannot have that one any more. */
#ifndef CONTROL_EMBEDDED_H
#define CONTROL_EMBEDDED_H

#include <sys/types.h>

struct embedded;
struct env;

/* It listens at url ("ws://127.0.0.1:41234/v1/realtime"); called at every start. */
typedef void(embedded_ready_h)(const char *url, void *arg);

/* Looks for offlined beside our own executable, then in PATH. ENOENT when it is in neither, EINVAL,
 * ENOMEM. Caller owns *out. */
int embedded_alloc(struct embedded **out, struct env *env, embedded_ready_h *h, void *arg);
struct embedded *embedded_free(struct embedded *e);
/* For tests and /status; 0 while it does not run. */
pid_t embedded_pid(const struct embedded *e);

/* {"url":"ws://127.0.0.1:P/…"} → url and port. EBADMSG. */
int embedded_parse(const char *line, char *url, size_t size, unsigned *port);

#endif
