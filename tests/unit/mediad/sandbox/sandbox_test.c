/* Each kind of thread's filter, tried in a child: what is refused, and that what is needed still
 * works. */
#include "mediad/sandbox/sandbox.h"

#include "tests/test.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
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
	return dup3(30, 32, O_CLOEXEC) < 0 ? errno : 0;
}

static int try_unknown(void)
{
	return syscall(SYS_io_uring_setup, 1, NULL) < 0 ? errno : 0;
}

static int try_normal_priority(void)
{
	return syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &(struct sched_param){0}) ? errno
											 : 0;
}

static int try_priority_of_another(void)
{
	return syscall(SYS_sched_setscheduler, getpid(), SCHED_OTHER, &(struct sched_param){0})
		       ? errno
		       : 0;
}

static int try_real_time(void)
{
	return syscall(SYS_sched_setscheduler, 0, SCHED_RR,
		       &(struct sched_param){.sched_priority = 1})
		       ? errno
		       : 0;
}

static int try_bind(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};

	return bind(21, (struct sockaddr *)&sa, sizeof sa) ? errno : 0;
}

static int try_connect(void)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};

	return connect(21, (struct sockaddr *)&sa, sizeof sa) ? errno : 0;
}

static int try_connect_unix(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = "/run/nobody"};

	return connect(21, (struct sockaddr *)&sa, sizeof sa) ? errno : 0;
}

static int try_send_to(void)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};

	return sendto(22, "", 1, MSG_DONTWAIT, (struct sockaddr *)&sa, sizeof sa) < 0 ? errno : 0;
}

static int try_send_to_unix(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = "/run/nobody"};

	return sendto(22, "", 1, MSG_DONTWAIT, (struct sockaddr *)&sa, sizeof sa) < 0 ? errno : 0;
}

/* An address in a message header cannot be seen by a filter. */
static int try_send_messages(void)
{
	struct iovec iov = {"", 1};
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct mmsghdr m = {.msg_hdr = {.msg_name = &sa,
					.msg_namelen = sizeof sa,
					.msg_iov = &iov,
					.msg_iovlen = 1}};

	return sendmmsg(22, &m, 1, MSG_DONTWAIT) < 0 ? errno : 0;
}

static int try_send(void)
{
	return send(23, "", 1, MSG_DONTWAIT) < 0 ? errno : 0;
}

static int try_unlink(void)
{
	return unlink("/nobody/nothing") ? errno : 0;
}

static int try_unlink_here(void)
{
	return unlinkat(AT_FDCWD, "nothing", 0) ? errno : 0;
}

static int try_unlink_own(void)
{
	return unlinkat(20, "own", 0) ? errno : 0;
}

static int try_unlink_directory(void)
{
	return unlinkat(20, "nothing", AT_REMOVEDIR) ? errno : 0;
}

/* Landlock, where the kernel has it, sees to what a path leads. */
static int try_unlink_above(void)
{
	int err = unlinkat(20, "../above", 0) ? errno : 0;

	return err == 0 && !sandbox_has_landlock() ? EACCES : err;
}

static int wait_for_one(enum sandbox_role role, int ep, struct epoll_event *ev)
{
	struct timespec none = {0};

	return role == SANDBOX_AUDIO ? epoll_pwait2(ep, ev, 1, &none, NULL)
				     : epoll_wait(ep, ev, 1, 0);
}

static int works(enum sandbox_role role)
{
	uint64_t one = 1;
	struct epoll_event ev;
	int e = 30, ep = 31; /* made beforehand */

	if (write(e, &one, sizeof one) != sizeof one || wait_for_one(role, ep, &ev) != 1 ||
	    read(e, &one, sizeof one) != sizeof one)
		return errno ? errno : EIO;
	return 0;
}

/* Descriptor 30 and our parent stand for what a stranger could reach. */
static int try_signal(void)
{
	return syscall(SYS_tgkill, getppid(), getppid(), 0) ? errno : 0;
}

static int try_own_signal(void)
{
	return syscall(SYS_tgkill, getpid(), gettid(), 0) ? errno : 0;
}

static int try_signal_by_descriptor(void)
{
	return fcntl(30, F_SETOWN, getppid()) ? errno : 0;
}

static int try_type(void)
{
	return ioctl(30, TIOCSTI, "x") ? errno : 0;
}

static int try_limits(void)
{
	struct rlimit limit = {0, 0};

	return prlimit(getppid(), RLIMIT_CORE, NULL, &limit) ? errno : 0;
}

static int try_flags(void)
{
	int flags = fcntl(30, F_GETFL);

	return flags < 0 || fcntl(30, F_SETFL, flags | O_NONBLOCK) ? errno : 0;
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
	{"give up real time", try_normal_priority, ENOSYS, ENOSYS, 0},
	{"lower another one's priority", try_priority_of_another, ENOSYS, ENOSYS, ENOSYS},
	{"take real time", try_real_time, ENOSYS, ENOSYS, ENOSYS},
	{"bind a socket", try_bind, EPERM, EPERM, EPERM},
	{"connect", try_connect, 0, EPERM, EPERM},
	{"connect to a Unix socket", try_connect_unix, ENOSYS, EPERM, EPERM},
	{"send to an address", try_send_to, 0, ENOSYS, ENOSYS},
	{"send to a Unix socket", try_send_to_unix, ENOSYS, ENOSYS, ENOSYS},
	{"send messages with addresses", try_send_messages, ENOSYS, ENOSYS, ENOSYS},
	{"send on a connected socket", try_send, 0, ENOSYS, 0},
	{"remove a file by its path", try_unlink, EPERM, EPERM, EPERM},
	{"remove a file of the working directory", try_unlink_here, ENOSYS, EPERM, EPERM},
	{"remove a directory", try_unlink_directory, ENOSYS, EPERM, EPERM},
	{"remove a file above its own directory", try_unlink_above, EACCES, EPERM, EPERM},
	{"remove its own socket", try_unlink_own, 0, EPERM, EPERM},
	{"signal another process", try_signal, ENOSYS, ENOSYS, ENOSYS},
	{"signal itself", try_own_signal, 0, 0, 0},
	{"signal another process by a descriptor", try_signal_by_descriptor, ENOSYS, ENOSYS,
	 ENOSYS},
	{"type into a terminal", try_type, ENOSYS, ENOSYS, ENOSYS},
	{"limit another process", try_limits, ENOSYS, ENOSYS, ENOSYS},
	{"change flags", try_flags, 0, ENOSYS, ENOSYS},
};

/* In the child: 0 when all went as wanted, else 1 + the number of the first that did not. */
static char place[] = "/tmp/parley-sandbox-XXXXXX"; /* holds above, dir, dir/own */

/* Descriptors that exist before the sandbox: 20 is our directory, 21 a socket, 22 another one that
 * stays unconnected, 23 is connected. */
static bool prepare(void)
{
	int top = open(place, O_PATH | O_DIRECTORY), s = socket(AF_INET, SOCK_DGRAM, 0), d;
	int pair[2], u = socket(AF_INET, SOCK_DGRAM, 0);

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) || dup2(u, 22) != 22 ||
	    dup2(pair[0], 23) != 23)
		return false;

	if (openat(top, "above", O_CREAT | O_WRONLY, 0600) < 0 || mkdirat(top, "dir", 0700))
		return false;
	d = openat(top, "dir", O_PATH | O_DIRECTORY);
	return openat(d, "own", O_CREAT | O_WRONLY, 0600) >= 0 && dup2(d, 20) == 20 &&
	       dup2(s, 21) == 21;
}

static int in_child(enum sandbox_role role)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int e, ep, err;

	/* Of tests before this one: the numbers below must be free. */
	close_range(3, ~0U, 0);
	e = eventfd(0, EFD_NONBLOCK);
	ep = epoll_create1(0);

	if (dup2(e, 30) < 0 || dup2(ep, 31) < 0 || epoll_ctl(31, EPOLL_CTL_ADD, 30, &ev))
		return 98;
	if (!prepare())
		return 94;
	sandbox_keep_directory(20);
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
	return role == SANDBOX_WORKER || works(role) == 0 ? 0 : 95;
}

static void remove_place(void)
{
	int d = open(place, O_PATH | O_DIRECTORY);

	unlinkat(d, "dir/own", 0);
	unlinkat(d, "dir", AT_REMOVEDIR);
	unlinkat(d, "above", 0);
	close(d);
	rmdir(place);
}

static int run(enum sandbox_role role)
{
	int status = 0;
	pid_t pid;

	strcpy(place, "/tmp/parley-sandbox-XXXXXX");
	if (!mkdtemp(place))
		return 98;
	pid = fork();
	if (pid == 0)
		_exit(in_child(role));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 99;
	remove_place();
	return WEXITSTATUS(status);
}

/* A sanitizer maps memory for stacks that it has not seen before, which an audio thread may not. A
 * new process has seen few and has room for more. */
void __asan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));

static int run_alone(const char *test)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		setenv("PARLEY_SANDBOX_ALONE", "1", 1);
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execl("/proc/self/exe", "unit", test, NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 99;
	return WEXITSTATUS(status);
}

static void check_role(enum sandbox_role role, const char *test)
{
	int got;

	if ((__asan_init || __tsan_init) && !getenv("PARLEY_SANDBOX_ALONE")) {
		CHECK_INT(run_alone(test), 0);
		return;
	}
	got = run(role);
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
	check_role(SANDBOX_LOOP, "sandbox_loop");
}

/* A short Unix path is as long as an IPv4 address, so no filter can tell them apart. */
TEST(sandbox_refuses_a_process_with_an_unconnected_unix_socket)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		int fd = socket(AF_UNIX, SOCK_DGRAM, 0), err = sandbox_drop();

		err = err ? err : sandbox_enter(SANDBOX_LOOP);
		_exit(fd < 0 ? 98 : err == ENOTSUP ? SKIPPED : err);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		test_skip("this kernel has no seccomp filters");
	else
		CHECK_INT(WEXITSTATUS(status), EBUSY);
}

TEST(sandbox_worker)
{
	check_role(SANDBOX_WORKER, "sandbox_worker");
}

/* A filter that cannot be installed ends the process: here one for which seccomp is refused. */
static int in_child_without_seccomp(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {.len = 4, .filter = code};

	if (sandbox_drop() || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return SKIPPED;
	sandbox_require(SANDBOX_AUDIO);
	return 92;
}

TEST(sandbox_a_thread_refuses_to_run_without_its_filter)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(in_child_without_seccomp());
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		test_skip("this kernel has no seccomp filters");
	else
		CHECK_INT(WEXITSTATUS(status), EXIT_FAILURE);
}

TEST(sandbox_audio)
{
	check_role(SANDBOX_AUDIO, "sandbox_audio");
}
