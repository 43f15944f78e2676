/* A program of ours run as a child: started again when it dies, ended with us.
 *
 * Backoff 0.25 s … 10 s, back to the start when it lived a minute. The kernel sends it SIGTERM when
 * this process dies, however that comes. It inherits stdin and stderr and no other descriptor.
 * Everything runs on env's loop thread. */
#ifndef CONTROL_CHILD_H
#define CONTROL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct child;
struct env;

/* Variables that hold secrets none of our children has a use for: for `hide`. */
extern const char *const child_secrets[];

/* A line the child printed on stdout, without its newline. Borrowed until return. */
typedef void(child_line_h)(const char *line, void *arg);
/* It runs (true) or ended (false). */
typedef void(child_state_h)(bool up, void *arg);

/* argv: program path and arguments, NULL-terminated, copied. hide: names of environment variables
 * that the child must not inherit (secrets it has no use for), NULL-terminated, or NULL. Handlers
 * may be NULL. It is started in the background. EINVAL, ENOMEM. Caller owns *out. */
int child_alloc(struct child **out, struct env *env, const char *const *argv,
		const char *const *hide, child_line_h *lineh, child_state_h *stateh, void *arg);
/* SIGTERM, and SIGKILL when it is still there after 3 s (waits for it). NULL accepted. */
struct child *child_free(struct child *c);
/* Other arguments from the next start on. ENOMEM. */
int child_set_argv(struct child *c, const char *const *argv);
/* 0 while it does not run. */
pid_t child_pid(const struct child *c);

/* Path of a program that can be run: as given when it has a slash, else beside our own executable,
 * else in PATH. ENOENT when there is none; buf is undefined then. */
int child_find(const char *name, char *buf, size_t size);
/* The same as an answer of the system; on replay buf is only the name. */
int child_locate(struct env *env, const char *name, char *buf, size_t size);

#endif
