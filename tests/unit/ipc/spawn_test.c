#include "ipc/spawn.h"

#include "tests/test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int told[2];

/* As libevent's: it tells the loop by a pipe, which a new process shares until its program runs. */
static void on_signal(int sig)
{
	const char one = (char)sig;

	(void)!write(told[1], &one, 1);
}

/* The signal that ended it, or 0 if it ignored SIGTERM. */
static int end_at_once(void)
{
	static const char *const argv[] = {"/bin/sleep", "100", NULL};
	struct spawned s;
	struct pollfd p;
	int status = 0, ended;

	if (spawn_program(&s, &(struct spawn_conf){.argv = argv}))
		return -1;
	kill(s.pid, SIGTERM);
	p = (struct pollfd){.fd = s.pidfd, .events = POLLIN};
	ended = poll(&p, 1, 20000);
	kill(s.pid, SIGKILL);
	waitpid(s.pid, &status, 0);
	spawn_close(&s);
	return ended == 1 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A signal that comes before the program runs is the child's, not ours. */
TEST(spawn_runs_none_of_our_signal_handlers)
{
	const struct sigaction ours = {.sa_handler = on_signal};
	struct sigaction before;
	unsigned unheeded = 0;
	char byte;

	CHECK_INT(pipe2(told, O_NONBLOCK | O_CLOEXEC), 0);
	CHECK_INT(sigaction(SIGTERM, &ours, &before), 0);
	for (unsigned i = 0; i < 20 && !unheeded; i++)
		unheeded += end_at_once() != SIGTERM;
	sigaction(SIGTERM, &before, NULL);
	CHECK_INT(read(told[0], &byte, 1), -1);
	CHECK_INT(unheeded, 0);
	close(told[0]);
	close(told[1]);
}

/* The second is passed under the number that the first has here. */
TEST(spawn_passes_descriptors_as_3_and_4)
{
	static const char *const argv[] = {
		"/bin/sh", "-c", "echo one >&3; echo two >&4; ls /proc/self/fd | wc -l", NULL};
	struct spawn_conf conf = {.argv = argv, .n_pass = 2};
	struct spawned s;
	char first[8] = "", second[8] = "", count[8] = "";
	int one[2], two[2], status;

	CHECK_INT(pipe2(one, O_CLOEXEC), 0);
	CHECK_INT(pipe2(two, O_CLOEXEC), 0);
	conf.pass[0] = one[1];
	conf.pass[1] = two[1];
	CHECK_INT(spawn_program(&s, &conf), 0);
	waitpid(s.pid, &status, 0);
	CHECK(read(one[0], first, sizeof first - 1) > 0);
	CHECK(read(two[0], second, sizeof second - 1) > 0);
	CHECK(read(s.out, count, sizeof count - 1) > 0);
	CHECK_STR(first, "one\n");
	CHECK_STR(second, "two\n");
	CHECK_INT(atoi(count), 6); /* five, and the folder that ls reads */
	spawn_close(&s);
	for (int i = 0; i < 2; i++) {
		close(one[i]);
		close(two[i]);
	}
}
