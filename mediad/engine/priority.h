/* Real-time priority of an audio thread, and its limit.
 *
 * A frame must leave at its 20 ms deadline whatever else the machine does. Where real time is
 * allowed (RLIMIT_RTPRIO or CAP_SYS_NICE), the thread runs before all normal threads; elsewhere a
 * short slice makes the scheduler return to it soon (Linux 6.12; ignored before). The kernel counts
 * how long a real-time thread computes without waiting (RLIMIT_RTTIME, getrlimit(2)). A thread that
 * reaches the limit, in an endless loop for example, loses real time and keeps running at normal
 * priority. Its seccomp filter does not let it return, so the loss is reported.
 *
 * A busy audio thread makes no such loss happen: it rests for PRIORITY_REST_NS at least every
 * PRIORITY_REST_EVERY_NS, which restarts the kernel's count. */
#ifndef MEDIAD_ENGINE_PRIORITY_H
#define MEDIAD_ENGINE_PRIORITY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	PRIORITY_LIMIT_US = 1000000, /* of computing without waiting */
	/* Under a hard limit below this one, no thread asks for real time: the kernel kills at the
	 * hard limit, and a rest may come too late. */
	PRIORITY_LEAST_US = 200000,
	PRIORITY_REST_NS = 100000,
	PRIORITY_REST_EVERY_NS = 50000000,
};

/* Returns the soft limit for this hard limit of RLIMIT_RTTIME, both in µs; 0: real time is too
 * dangerous under it. */
uint64_t priority_limit(uint64_t hard);

/* Raises the priority of the calling thread. A failure is not handled: a thread that misses
 * deadlines degrades its encoders. *lost becomes true when the thread loses real time; it is
 * borrowed until the thread ends, and may be NULL. */
void priority_raise(atomic_bool *lost);

#endif
