/* A program that runs as a child: lines to its stdin, lines from its stdout, its stderr in our log,
 * started again when it ends or run once.
 *
 * The child has a process group of its own, which is ended as a whole: SIGTERM, and SIGKILL after 3
 * s; whatever is left of the group when the child has ended is killed. See ipc/spawn.h for what it
 * inherits. It is restarted at once, then with a backoff of 0.25 s … 10 s; from the beginning again
 * when it lived a minute.
 *
 * Everything the child does arrives by env_deliver; data written to it is reported to env_output. A
 * replay starts no process. The program must ignore SIGPIPE. Everything runs on env's thread.
 * Handlers must not free the child; child_stop is allowed. */
#ifndef IPC_CHILD_H
#define IPC_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct child;
struct env;

enum { CHILD_LINE_MAX = 1 << 20, CHILD_INPUT_MAX = 1 << 20 };

/* A line of its stdout without the newline, NUL-terminated (it may hold further NULs). Borrowed
 * until return. */
typedef void(child_line_h)(const char *line, size_t len, void *arg);
/* It runs (up, status 0) or has ended: status is its exit status, or 128 and the signal, as a shell
 * has it; 127 when it could not be started. */
typedef void(child_state_h)(bool up, int status, void *arg);

/* Arrays are NULL-terminated; everything but arg is copied. */
struct child_conf {
	const char *const *argv; /* program path and arguments */
	const char *const *hide; /* names of variables that it must not inherit: secrets it has no
				    use for; or NULL */
	const char *const *environment; /* "NAME=value", exactly these instead of ours; or NULL */
	const char *dir;		/* working directory; NULL: ours */
	bool input;			/* child_write is used; else its stdin is /dev/null */
	bool log_errors;  /* its stderr goes to our log line by line, 50 lines in 10 s; else it has
			     ours */
	bool once;	  /* it is not started again */
	size_t line_max;  /* bytes; longer lines are dropped. 0: CHILD_LINE_MAX */
	size_t input_max; /* bytes that wait to be written. 0: CHILD_INPUT_MAX */
	/* The size of each read of its stdout, before its lines; counts what is no line, too. Or
	 * NULL. */
	void (*readh)(size_t n, void *arg);
	child_line_h *lineh;   /* or NULL */
	child_line_h *errorh;  /* each line of its stderr, cut at 1000 bytes; or NULL */
	child_state_h *stateh; /* or NULL */
	void *arg;
};

/* The program is started in the background. EINVAL, ENOMEM. Caller owns *out; frees it before env.
 */
int child_alloc(struct child **out, struct env *env, const struct child_conf *conf);
/* Ends the group and waits for it, at most 3 s before SIGKILL. No handler is called. NULL accepted.
 */
struct child *child_free(struct child *c);
/* The same, but waits at most *left_ms, from which it takes the time that it waited: one limit for
 * several children. */
struct child *child_free_within(struct child *c, unsigned *left_ms);
/* Ends the group without waiting; stateh tells when it has ended, and it is not started again. */
void child_stop(struct child *c);
/* The same, and stops reading its stdout, because it may write faster than it dies. */
void child_cut(struct child *c);

/* Its lines go nowhere from now on, its states to stateh. */
void child_hand_over(struct child *c, child_state_h *stateh, void *arg);
/* Between the two states, also in a replay. */
bool child_runs(const struct child *c);

/* Queues bytes for its stdin. ENOTCONN while it does not run, EPIPE after child_end_input or when
 * it closed its end, ENOBUFS when input_max would wait, ENOMEM; nothing is queued then. */
int child_write(struct child *c, const void *data, size_t len);
/* The same for a line: the bytes and a newline, both or neither. */
int child_write_line(struct child *c, const void *data, size_t len);
/* Closes the stdin of the process that runs when all queued bytes are written. */
void child_end_input(struct child *c);

/* Other arguments from the next start on. ENOMEM. */
int child_set_argv(struct child *c, const char *const *argv);
/* 0 while it does not run, and on replay. */
pid_t child_pid(const struct child *c);
/* Lines that were dropped so far because they were longer than line_max. */
uint64_t child_dropped(const struct child *c);

#endif
