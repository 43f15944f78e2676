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
	ended = poll(&p, 1, 1000);
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
