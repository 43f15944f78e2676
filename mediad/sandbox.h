/* What mediad may still ask of the kernel once it has started: allow-lists by seccomp, one a kind
 * of thread.
 *
 * Everything that opens files (certificates, resolver, journal, Opus' and TLS' own) is done before;
 * from then on no thread may open a file, start a program or another thread, map executable memory,
 * trace, or change who it is. The audio threads may make no socket and map no memory either. What
 * is not listed fails with EPERM (a call unknown to us with ENOSYS, so that libraries fall back),
 * which is logged by whoever asked; the process lives on.
 *
 * A filter holds for the calling thread and those it would make; it cannot be taken back. */
#ifndef MEDIAD_SANDBOX_H
#define MEDIAD_SANDBOX_H

enum sandbox_role { SANDBOX_LOOP = 1, SANDBOX_WORKER = 2, SANDBOX_AUDIO = 4 };

/* For the whole process, first, before there is a thread: no new privileges by exec, no core dumps
 * with keys in them, no supplementary groups and no capabilities when it runs as root but
 * CAP_SYS_NICE, which each thread keeps until its sandbox_enter. errno of what failed. */
int sandbox_drop(void);
/* The calling thread's filter, and its last capability gone. Without sandbox_drop before it nothing
 * happens (tests, replay, --no-sandbox). ENOTSUP: this kernel has no seccomp filters. */
int sandbox_enter(enum sandbox_role role);

#endif
