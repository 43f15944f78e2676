/* Starts a program as a child process in a process group of its own, and finds programs.
 *
 * The kernel sends the child SIGTERM when this process dies, however that comes. It inherits no
 * descriptor but stdin, stdout, stderr and those that it is passed, and runs no signal handler of
 * ours. ipc/child.h runs
 * programs with this. */
#ifndef IPC_SPAWN_H
#define IPC_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct env;

enum { SPAWN_PASSED = 2 };

/* Arrays are NULL-terminated; everything is borrowed. */
struct spawn_conf {
	const char *const *argv;
	const char *const
		*hide; /* names of variables of our environment that it does not inherit; or NULL */
	const char *const *environment; /* "NAME=value", exactly these instead of ours; or NULL */
	const char *dir;		/* working directory; NULL: ours */
	bool input;			/* a pipe to its stdin; else /dev/null */
	bool errors;			/* a pipe from its stderr; else ours */
	int pass[SPAWN_PASSED]; /* the first n_pass: descriptors that it gets as 3, 4, … */
	unsigned n_pass;
};

/* The pid is also the process group. Descriptors are non-blocking, close-on-exec and the caller's;
 * -1 where there is none. */
struct spawned {
	pid_t pid;
	int pidfd; /* readable when it has ended */
	int in, out, err;
};

enum {
	SPAWN_CANNOT_RUN = 127
}; /* exit status of a child whose directory or program could not be used */

/* ENOMEM, errors of pipe2, fork and pidfd_open. */
int spawn_program(struct spawned *out, const struct spawn_conf *conf);
/* Closes the descriptors; NULL is not accepted. */
void spawn_close(struct spawned *s);
/* Nobody there. */
void spawn_init(struct spawned *s);

/* Path of a program that can be run: as given when it has a slash, else beside our own executable,
 * else in PATH. ENOENT when there is none; buf is undefined then. */
int spawn_find(const char *name, char *buf, size_t size);
/* The same as an answer of the system; on replay buf is only the name. */
int spawn_locate(struct env *env, const char *name, char *buf, size_t size);

#endif
