/* Each kind of thread's filter, tried in a child: what is refused, and that what is needed still
 * works. */
#include "mediad/sandbox/sandbox.h"

#include "tests/test.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77 };

/* Each gives an errno; 0 when the kernel did it. */
static int try_open(void)
{
	return open("/etc/passwd", O_RDONLY) < 0 ? errno : 0;
}

static int try_exec(void)
{
	char *const argv[] = {"true", NULL};

	execve("/bin/true", argv, NULL);
	return errno;
}

static int try_fork(void)
{
	long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	return pid < 0 ? errno : 0;
}

static int try_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM, 0) < 0 ? errno : 0;
}

static int try_map(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? errno
		       : 0;
}

static int try_map_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? errno
		       : 0;
}

static int try_listen(void)
{
	return listen(0, 1) < 0 ? errno : 0;
}

/* As ipc/ws_adopt.c hands a connected socket to lws. */
static int try_replace(void)
{
	return dup3(5, 7, O_CLOEXEC) < 0 ? errno : 0;
}

static int try_unknown(void)
{
	return syscall(SYS_io_uring_setup, 1, NULL) < 0 ? errno : 0;
}

static int works(void)
{
	uint64_t one = 1;
	struct epoll_event ev;
	int e = 5, ep = 6; /* made beforehand */

	if (write(e, &one, sizeof one) != sizeof one || epoll_wait(ep, &ev, 1, 0) != 1 ||
	    read(e, &one, sizeof one) != sizeof one)
		return errno ? errno : EIO;
	return 0;
}

static const struct {
	const char *what;
	int (*f)(void);
	int loop, worker, audio; /* errno wanted */
} tries[] = {
	{"open a file", try_open, EPERM, EPERM, EPERM},
	{"run a program", try_exec, EPERM, EPERM, EPERM},
	{"make a process", try_fork, EPERM, EPERM, EPERM},
	{"make a socket", try_socket, 0, EPERM, EPERM},
	{"map memory", try_map, 0, 0, EPERM},
	{"map code", try_map_code, ENOSYS, ENOSYS, EPERM},
	{"listen", try_listen, EPERM, EPERM, EPERM},
	{"replace a descriptor", try_replace, 0, ENOSYS, ENOSYS},
	{"call something else", try_unknown, ENOSYS, ENOSYS, ENOSYS},
};

/* In the child: 0 when all went as wanted, else 1 + the number of the first that did not. */
static int in_child(enum sandbox_role role)
{
	int e = eventfd(0, EFD_NONBLOCK), ep = epoll_create1(0), err;
	struct epoll_event ev = {.events = EPOLLIN};

	if (dup2(e, 5) < 0 || dup2(ep, 6) < 0 || epoll_ctl(6, EPOLL_CTL_ADD, 5, &ev))
		return 98;
	err = sandbox_drop();
	if (!err && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 97;
	if (!err)
		err = sandbox_enter(role);
	if (err)
		return err == ENOTSUP ? SKIPPED : 96;
	for (int i = 0; i < (int)(sizeof tries / sizeof tries[0]); i++) {
		int want = role == SANDBOX_LOOP	    ? tries[i].loop
			   : role == SANDBOX_WORKER ? tries[i].worker
						    : tries[i].audio;

		if (tries[i].f() != want)
			return i + 1;
	}
	return role == SANDBOX_WORKER || works() == 0 ? 0 : 95;
}

static int run(enum sandbox_role role)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(in_child(role));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 99;
	return WEXITSTATUS(status);
}

static void check_role(enum sandbox_role role)
{
	int got = run(role);

	if (got == SKIPPED) {
		test_skip("this kernel has no seccomp filters");
		return;
	}
	if (got > 0 && got <= (int)(sizeof tries / sizeof tries[0]))
		test_fail(__FILE__, __LINE__, "role %d: %s", role, tries[got - 1].what);
	else
		CHECK_INT(got, 0);
}

TEST(sandbox_loop)
{
	check_role(SANDBOX_LOOP);
}

TEST(sandbox_worker)
{
	check_role(SANDBOX_WORKER);
}

TEST(sandbox_audio)
{
	check_role(SANDBOX_AUDIO);
}
