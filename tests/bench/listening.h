/* A listener (listener.c) beside a plane whose conf says `apart`: the bench measures mediad and its
 * control as two processes. */
#ifndef TESTS_BENCH_LISTENING_H
#define TESTS_BENCH_LISTENING_H

#include "tests/bench/plane.h"

struct listening;

/* Starts it; returns when all its calls are up and encrypted, and every speaker has been announced
 * by op 5. */
void listening_alloc(struct listening **out, struct plane *p, unsigned first, unsigned calls,
		     unsigned speakers);
struct listening *listening_free(struct listening *l);
pid_t listening_pid(const struct listening *l);
/* CPU time of its process in ns. */
uint64_t listening_cpu(const struct listening *l);
/* Frames that its handler got so far. */
uint64_t listening_heard(struct listening *l);
/* Speaks endlessly in all calls, or stops. */
void listening_say(struct listening *l, bool on);

/* Counts the system calls that a process makes. Needs the right to read tracepoints
 * (CAP_PERFMON, or kernel.perf_event_paranoid <= -1) and a mounted tracefs. */
struct syscalls;
/* Returns EACCES or ENOENT when the system does not let us count. Threads that the process starts
 * later are not counted. */
int syscalls_alloc(struct syscalls **out, pid_t pid);
struct syscalls *syscalls_free(struct syscalls *s);
uint64_t syscalls_count(const struct syscalls *s);

#endif
