#include "mediad/engine/priority.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLICE_NS = 100000 };

static _Thread_local atomic_bool *lost_real_time;

uint64_t priority_limit(uint64_t hard)
{
	if (hard < PRIORITY_LEAST_US)
		return 0;
	/* At the hard limit the kernel kills, and it compares that one first. */
	return hard / 2 < PRIORITY_LIMIT_US ? hard / 2 : PRIORITY_LIMIT_US;
}

/* SIGXCPU reaches the thread that exceeded the soft limit. */
static void give_up_priority(int sig)
{
	struct sched_param normal = {0};
	int err = errno;

	(void)sig;
	syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &normal);
	if (lost_real_time)
		atomic_store(lost_real_time, true);
	errno = err;
}

/* Returns false when this process must not use real time. */
static bool limit_real_time(void)
{
	struct sigaction act = {.sa_handler = give_up_priority, .sa_flags = SA_RESTART};
	struct rlimit limit;

	if (getrlimit(RLIMIT_RTTIME, &limit) || !priority_limit(limit.rlim_max))
		return false;
	limit.rlim_cur = priority_limit(limit.rlim_max);
	sigaction(SIGXCPU, &act, NULL);
	return !setrlimit(RLIMIT_RTTIME, &limit);
}

void priority_raise(atomic_bool *lost)
{
	struct sched_param first = {.sched_priority = 1};
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		/* For SCHED_OTHER the runtime is the slice, in ns. */
		uint64_t runtime, deadline, period;
	} slice = {.size = sizeof slice,
		   .policy = SCHED_OTHER,
		   .nice = getpriority(PRIO_PROCESS, 0),
		   .runtime = SLICE_NS};

	lost_real_time = lost;
	if (!limit_real_time() || pthread_setschedparam(pthread_self(), SCHED_RR, &first))
		syscall(SYS_sched_setattr, 0, &slice, 0);
}
