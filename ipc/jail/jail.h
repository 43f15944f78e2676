/* The jail of a process that decodes bytes of strangers: no network, no files, no other process.
 *
 * A child of decoderd or imaged enters it before it reads the first of those bytes. From then on it
 * can use its open descriptors, anonymous memory and the clock. Calls that decoders make when they
 * meet damaged files (open, ioctl, fstat) fail with EPERM; every other call kills the process.
 * Where the kernel has Landlock, that forbids files a second time. */
#ifndef IPC_JAIL_JAIL_H
#define IPC_JAIL_JAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { JAIL_CPU_S = 120 }; /* CPU time that a new child of decoderd may use */

/* For any child: it dies with its parent, which must be `parent`, gains no privileges, has no
 * higher priority than a normal process, and cannot use much memory, write files or leave a core.
 * errno of a failure. */
int jail_limit(pid_t parent);
/* Bounds further what this process and its later children may map for themselves to write to, in
 * bytes. What is mapped by then counts, and shared memory does not. errno of a failure. */
int jail_limit_data(size_t bytes);
/* Where memory is short, this process and its later children are killed before the service that
 * they belong to. */
void jail_die_first(void);
/* Lets other processes run before this one, or (pid 0) the caller: nice value 10. Nothing depends
 * on it, so a system that forbids it is no failure. */
void jail_give_way(pid_t pid);
/* Forks a child that calls run with its parent's id; run does not return. Errors of fork. */
typedef void(jail_child)(const void *start, pid_t parent);
int jail_fork(pid_t *out, jail_child *run, const void *start);
/* Adds a rule with this action for each of the calls, unless *err is set already. */
void jail_add_rules(void *filter, uint32_t action, const int *calls, size_t n, int *err);
/* Loads a filter of libseccomp unless err is set, and frees it. Returns an errno. */
int jail_load(void *filter, int err);
/* Installs the filters and the limits on descriptors, processes and CPU time: cpu_s, a soft limit
 * that the parent may raise. errno of a failure; ENOTSUP where the kernel has no seccomp. */
int jail_enter(unsigned cpu_s);
/* Adds to a filter of libseccomp that memory may be mapped which is not executable and no file. A
 * negative errno of libseccomp. */
int jail_allow_memory(void *filter);
/* Tries in a child if the jail holds. */
bool jail_works(void);

#endif
