/* The jail of a decoder process: no network, no files, no other process.
 *
 * A child of decoderd enters it before it reads the first byte of a source. From then on it can
 * use its open descriptors, anonymous memory and the clock. Calls that libav makes when it meets
 * damaged files (open, ioctl, fstat) fail with EPERM; every other call kills the process. Where the
 * kernel has Landlock, that forbids files a second time. */
#ifndef MEDIAD_DECODER_JAIL_H
#define MEDIAD_DECODER_JAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { JAIL_CPU_S = 120 }; /* CPU time that a new child may use */

/* For any child: it dies with its parent, which must be `parent`, gains no privileges, has nice
 * value 10, and cannot use much memory, write files or leave a core. errno of a failure. */
int jail_limit(pid_t parent);
/* Forks a child that calls run with its parent's id; run does not return. Errors of fork. */
typedef void(jail_child)(const void *start, pid_t parent);
int jail_fork(pid_t *out, jail_child *run, const void *start);
/* Adds a rule with this action for each of the calls, unless *err is set already. */
void jail_add_rules(void *filter, uint32_t action, const int *calls, size_t n, int *err);
/* Loads a filter of libseccomp unless err is set, and frees it. Returns an errno. */
int jail_load(void *filter, int err);
/* Installs the filters and the limits on CPU time, descriptors and processes. errno of a failure;
 * ENOTSUP where the kernel has no seccomp. */
int jail_enter(void);
/* Tries in a child if the jail holds. */
bool jail_works(void);

#endif
