/* Real-time priority and its limit. Each test runs in a child, because the limit belongs to the
 * whole process. */
#include "mediad/engine/priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ipc/env_replay.h"
#include "mediad/engine/audio_thread.h"
#include "proto/base/time.h"
#include "tests/test.h"

TEST(priority_limit_stays_below_the_hard_limit)
{
	CHECK_INT(priority_limit(RLIM_INFINITY), PRIORITY_LIMIT_US);
	CHECK_INT(priority_limit(2 * PRIORITY_LIMIT_US), PRIORITY_LIMIT_US);
	CHECK_INT(priority_limit(600000), 300000);
	CHECK_INT(priority_limit(PRIORITY_LEAST_US - 1), 0);
	/* A busy thread rests often enough for the lowest limit. */
	CHECK(priority_limit(PRIORITY_LEAST_US) * 1000 >= 2 * PRIORITY_REST_EVERY_NS);
}

/* Under ThreadSanitizer a handler runs at the next blocking call only, which these threads never
 * make. */
#ifndef __SANITIZE_THREAD__
enum { NO_REAL_TIME = 77, ALARM_S = 20 };

static uint64_t cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ns_of_timespec(&ts);
}

static bool limit_hard(rlim_t us)
{
	struct rlimit limit = {.rlim_cur = us, .rlim_max = us};

	return !setrlimit(RLIMIT_RTTIME, &limit);
}

static int compute_in_real_time(rlim_t hard)
{
	static atomic_bool lost;

	if (hard != RLIM_INFINITY && !limit_hard(hard))
		return 2;
	priority_raise(&lost);
	if (sched_getscheduler(0) != SCHED_RR)
		return NO_REAL_TIME;
	/* The alarm ends a child that keeps its priority. */
	alarm(ALARM_S);
	while (sched_getscheduler(0) == SCHED_RR)
		;
	return sched_getscheduler(0) == SCHED_OTHER && atomic_load(&lost) ? 0 : 1;
}

static void check_child(pid_t pid)
{
	int status = 0;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_REAL_TIME)
		test_skip("real-time priority is not permitted here: a container without "
			  "CAP_SYS_NICE");
	else
		CHECK_INT(WEXITSTATUS(status), 0);
}

TEST(priority_of_a_thread_that_never_waits_is_lost)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(compute_in_real_time(RLIM_INFINITY));
	check_child(pid);
}

/* The kernel sends SIGKILL at the hard limit, without SIGXCPU where the soft limit is the same. */
TEST(priority_under_a_low_hard_limit_does_not_kill)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(compute_in_real_time(600000));
	check_child(pid);
}

static struct {
	struct audio_thread *t;
	struct call_stream *stream;
	bool wakes;
} busy;

/* Each look at the clock takes a while, and another command arrives meanwhile. */
static uint64_t look_slowly(void *arg)
{
	struct cmd c = {.type = CMD_SET, .stream = busy.stream, .set = {.bitrate = 64000}};
	struct timespec ts;

	(void)arg;
	for (uint64_t end = cpu_time() + 200000; cpu_time() < end;)
		;
	audio_thread_push(busy.t, &c);
	if (busy.wakes)
		audio_thread_wake(busy.t);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

static int be_busy(void)
{
	struct cmd c = {.type = CMD_STREAM_ADD};

	if (!limit_hard(400000) || audio_thread_alloc(&busy.t, 1, false, NULL) ||
	    call_stream_alloc(&busy.stream, NULL, 64000))
		return 2;
	c.stream = busy.stream;
	audio_thread_push(busy.t, &c);
	env_replay_clock(audio_thread_env(busy.t), look_slowly, NULL);
	priority_raise(NULL);
	if (sched_getscheduler(0) != SCHED_RR)
		return NO_REAL_TIME;
	alarm(ALARM_S);
	for (uint64_t end = cpu_time() + 800 * NS_PER_MS; cpu_time() < end;)
		audio_thread_turn(busy.t);
	return sched_getscheduler(0) == SCHED_RR ? 0 : 1;
}

/* A thread that always has another command to run computes four times as long as the limit. */
TEST(priority_of_a_busy_audio_thread_is_kept)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(be_busy());
	check_child(pid);
}

/* The loop thread wakes the thread after each command. */
TEST(priority_of_a_busy_audio_thread_that_is_woken_is_kept)
{
	pid_t pid = fork();

	busy.wakes = pid == 0;
	if (pid == 0)
		_exit(be_busy());
	check_child(pid);
}
#endif
