/* The sandbox of mediad: seccomp allow-lists of system calls, one per kind of thread.
 *
 * Everything that opens files (certificates, resolver, journal, Opus, TLS) happens before it.
 * Afterwards no thread may open a file, start a program or another thread, map executable memory,
 * trace, or change its user. The audio threads may open no socket and map no memory either. A call
 * that is not listed fails with EPERM (an unknown one with ENOSYS, so that libraries fall back),
 * which its caller logs; the process continues.
 *
 * Threads create sockets for IPv4 and IPv6 alone and bind nothing. connect and sendto take the
 * address lengths of IPv4 and IPv6 alone; a Unix address with a short path has the same lengths, so
 * sandbox_enter also refuses to run with an unconnected Unix socket open. The loop thread may
 * remove one file: the socket on which it listens. Where the kernel has Landlock, no thread reaches
 * any file, but for the removal of files in that socket's directory.
 *
 * A filter holds for the calling thread and its later threads, and cannot be removed. */
#ifndef MEDIAD_SANDBOX_SANDBOX_H
#define MEDIAD_SANDBOX_SANDBOX_H

#include <stdbool.h>

enum sandbox_role { SANDBOX_LOOP = 1, SANDBOX_WORKER = 2, SANDBOX_AUDIO = 4 };

/* For the whole process, before any thread: no new privileges by exec, no core dumps (they would
 * hold keys), no supplementary groups, and as root no capabilities but CAP_SYS_NICE, which each
 * thread keeps until its sandbox_enter. Returns errno of a failure. */
int sandbox_drop(void);
/* The directory in which the loop thread may remove files, by a descriptor that stays open. */
void sandbox_keep_directory(int dirfd);
/* Installs the calling thread's filter and drops its last capability. Does nothing without a
 * sandbox_drop before it (tests, replay, --no-sandbox). Returns ENOTSUP when this kernel has no
 * seccomp filters, EBUSY with an unconnected Unix socket open; a kernel without Landlock is no
 * error. */
int sandbox_enter(enum sandbox_role role);
/* The same. A thread must not run without its filter, so the process ends when it cannot be
 * installed. */
void sandbox_require(enum sandbox_role role);
/* True if the newest sandbox_enter used Landlock as well. */
bool sandbox_has_landlock(void);

#endif
