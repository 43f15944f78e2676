/* What hostile code in a fetcher tries: each promise of mediad/decoder/fence.h, and what a fetcher
 * needs. */
#include "mediad/decoder/fence.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/jail/jail.h"
#include "tests/escape/attempts.h"

enum { SUCCESS = 1, FAILURE = 2 };

/* The kernel looks at the lower half alone. */
#define WIDE(x) ((1L << 32) | (x))

static const struct surroundings *around;
static uint16_t open_port, other_port; /* of listeners on 127.0.0.1; the fetcher may reach one */

static int open_planted(const char *name, int flags)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%s", around->dir, name);
	return open(path, flags, 0600);
}

static bool create_for_reading(void)
{
	return open_planted("made_to_read", O_RDONLY | O_CREAT) >= 0;
}

static bool empty_for_reading(void)
{
	return open_planted("planted", O_RDONLY | O_TRUNC) >= 0;
}

static bool write_file(void)
{
	return open_planted("planted", O_WRONLY) >= 0;
}

static bool change_mode_of_descriptor(void)
{
	return fchmod(open_planted("planted", O_RDONLY), 0644) == 0;
}

static bool read_planted(void)
{
	char byte;

	return read(open_planted("planted", O_RDONLY), &byte, 1) == 1;
}

static bool read_users(void)
{
	return open("/etc/passwd", O_RDONLY) >= 0;
}

static bool read_own_process(void)
{
	return open("/proc/self/maps", O_RDONLY) >= 0 || open("/proc/self/environ", O_RDONLY) >= 0;
}

static bool list_folder(void)
{
	return open("/", O_RDONLY | O_DIRECTORY) >= 0 ||
	       open(around->dir, O_RDONLY | O_DIRECTORY) >= 0;
}

static bool make_pipe_file(void)
{
	char path[128];

	snprintf(path, sizeof path, "%s/pipe", around->dir);
	return mkfifo(path, 0600) == 0;
}

static bool open_unix_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static bool open_wide_unix_socket(void)
{
	return syscall(SYS_socket, WIDE(AF_UNIX), SOCK_STREAM, 0) >= 0;
}

static bool open_other_socket(void)
{
	return socket(AF_ALG, SOCK_SEQPACKET, 0) >= 0 || socket(AF_VSOCK, SOCK_STREAM, 0) >= 0;
}

static bool open_other_netlink(void)
{
	return socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC) >= 0 ||
	       socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT) >= 0 ||
	       socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG) >= 0;
}

static void name_datagrams(struct sockaddr_un *un)
{
	*un = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(un->sun_path, sizeof un->sun_path, "%s/datagrams", around->dir);
}

/* Datagram sockets of a pair take any other address. */
static bool send_from_datagram_pair(void)
{
	struct sockaddr_un to;
	int fds[2];

	name_datagrams(&to);
	return socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) == 0 &&
	       sendto(fds[0], "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1;
}

static bool signal_thread(void)
{
	return syscall(SYS_tgkill, around->parent, around->parent, SIGCONT) == 0;
}

static bool queue_signal(void)
{
	siginfo_t info = {.si_code = SI_QUEUE};

	return syscall(SYS_rt_sigqueueinfo, around->parent, SIGCONT, &info) == 0;
}

/* The kernel sends the signal when the socket gets something to read. */
static bool signal_by_descriptor(void)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 &&
	       fcntl(fds[0], F_SETOWN, around->parent) == 0;
}

static bool signal_by_owner(void)
{
	struct f_owner_ex owner = {F_OWNER_PID, around->parent};
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 &&
	       syscall(SYS_fcntl, fds[0], WIDE(F_SETOWN_EX), &owner) == 0;
}

static bool signal_by_ioctl(void)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 &&
	       ioctl(fds[0], FIOSETOWN, &around->parent) == 0;
}

static bool choose_signal(void)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 &&
	       fcntl(fds[0], F_SETSIG, SIGKILL) == 0;
}

/* fchmodat2, which a kernel of before 6.6 lacks. */
static bool change_mode_anew(void)
{
	char path[128];

	snprintf(path, sizeof path, "%s/planted", around->dir);
	return syscall(452, AT_FDCWD, path, 0600, 0) == 0;
}

static bool limit_parent(void)
{
	struct rlimit limit;

	return prlimit((pid_t)around->parent, RLIMIT_CORE, NULL, &limit) == 0 &&
	       prlimit((pid_t)around->parent, RLIMIT_CORE, &limit, NULL) == 0;
}

static bool move_parent(void)
{
	cpu_set_t set;

	return sched_getaffinity((pid_t)around->parent, sizeof set, &set) == 0 &&
	       sched_setaffinity((pid_t)around->parent, sizeof set, &set) == 0;
}

static bool end_child(long pid)
{
	if (pid == 0)
		_exit(0);
	return pid > 0 && waitpid((pid_t)pid, NULL, __WALL) > 0;
}

static bool clone_process(void)
{
	return end_child(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
}

static bool clone_process_anew(void)
{
	uint64_t args[8] = {0}; /* struct clone_args */

	args[4] = SIGCHLD;
	return end_child(syscall(SYS_clone3, args, sizeof args));
}

/* ---- what a fetcher needs ---- */

static bool make_stream_pair(void)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0;
}

static void *run_thread(void *arg)
{
	return arg;
}

static bool start_thread(void)
{
	pthread_t t;

	return pthread_create(&t, NULL, run_thread, NULL) == 0 && pthread_join(t, NULL) == 0;
}

static bool can_read(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY);

	return fd >= 0 && read(fd, &byte, 1) == 1;
}

static bool read_host_names(void)
{
	return can_read("/etc/hosts") && can_read("/etc/nsswitch.conf");
}

static bool resolve_name(void)
{
	struct addrinfo *found;

	return getaddrinfo("localhost", "80", NULL, &found) == 0;
}

static bool read_certificates(void)
{
	return can_read("/etc/ssl/certs/ca-certificates.crt");
}

static bool connect_to(int fd, uint16_t port)
{
	const struct sockaddr_in to = {.sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr = {htonl(INADDR_LOOPBACK)}};

	return connect(fd, (const struct sockaddr *)&to, sizeof to) == 0;
}

static bool reach(uint16_t port)
{
	return connect_to(socket(AF_INET, SOCK_STREAM, 0), port);
}

static bool reach_other_port(void)
{
	return reach(other_port);
}

static bool reach_other_port_by_mptcp(void)
{
	return connect_to(socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP), other_port) ||
	       connect_to((int)syscall(SYS_socket, AF_INET, SOCK_STREAM, WIDE(IPPROTO_MPTCP)),
			  other_port);
}

/* The connection is made by the data. */
static bool reach_other_port_by_fast_open(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(other_port),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct iovec data = {"x", 1};
	const struct msghdr msg = {
		.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &data, .msg_iovlen = 1};
	struct mmsghdr many = {.msg_hdr = msg};

	return sendto(socket(AF_INET, SOCK_STREAM, 0), "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL,
		      (struct sockaddr *)&to, sizeof to) == 1 ||
	       sendmsg(socket(AF_INET, SOCK_STREAM, 0), &msg, MSG_FASTOPEN) == 1 ||
	       sendmmsg(socket(AF_INET, SOCK_STREAM, 0), &many, 1, MSG_FASTOPEN) == 1;
}

static bool open_other_protocol(void)
{
	return socket(AF_INET, SOCK_SEQPACKET, 0) >= 0 ||
	       socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP) >= 0 ||
	       socket(AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE) >= 0;
}

/* It would outlive the process, with what was left in it. */
static bool make_message_queue(void)
{
	int id = msgget(IPC_PRIVATE, 0600);

	if (id >= 0)
		msgctl(id, IPC_RMID, NULL);
	return id >= 0;
}

static bool make_semaphores(void)
{
	int id = semget(IPC_PRIVATE, 1, 0600);

	if (id >= 0)
		semctl(id, 0, IPC_RMID);
	return id >= 0;
}

static bool outlive_parent(void)
{
	return prctl(PR_SET_PDEATHSIG, 0) == 0 ||
	       syscall(SYS_prctl, WIDE(PR_SET_PDEATHSIG), 0) == 0;
}

static bool reach_its_port(void)
{
	return reach(open_port);
}

static bool open_internet_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) >= 0 && socket(AF_NETLINK, SOCK_RAW, 0) >= 0;
}

static bool read_own_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_STACK, &limit) == 0;
}

/* landlock: the version without which the kernel cannot forbid it. */
static const struct {
	const char *name;
	bool (*run)(void);
	bool needed;
	long landlock;
} tries[] = {
#define L(f, needed, landlock)                                                                     \
	{                                                                                          \
#f, f, needed, landlock                                                            \
	}
#define T(f, needed) L(f, needed, 0)
	T(create_for_reading, false),
	T(empty_for_reading, false),
	T(write_file, false),
	T(change_mode_of_descriptor, false),
	L(read_planted, false, 1),
	L(read_users, false, 1),
	L(read_own_process, false, 1),
	L(list_folder, false, 1),
	L(reach_other_port, false, 4),
	T(reach_other_port_by_mptcp, false),
	T(reach_other_port_by_fast_open, false),
	T(open_other_protocol, false),
	T(make_message_queue, false),
	T(make_semaphores, false),
	T(outlive_parent, false),
	T(make_pipe_file, false),
	T(open_unix_socket, false),
	T(open_wide_unix_socket, false),
	T(open_other_socket, false),
	T(open_other_netlink, false),
	T(send_from_datagram_pair, false),
	T(signal_thread, false),
	T(queue_signal, false),
	T(signal_by_descriptor, false),
	T(signal_by_owner, false),
	T(signal_by_ioctl, false),
	T(choose_signal, false),
	T(change_mode_anew, false),
	T(limit_parent, false),
	T(move_parent, false),
	T(clone_process, false),
	T(clone_process_anew, false),
	T(start_thread, true),
	T(read_host_names, true),
	T(resolve_name, true),
	T(read_certificates, true),
	T(reach_its_port, true),
	T(open_internet_socket, true),
	T(make_stream_pair, true),
	T(read_own_limit, true),
#undef T
#undef L
};

static void run_try(const void *start, pid_t parent)
{
	const size_t *i = start;

	if (fence_enter(parent, &open_port, 1))
		_exit(EXIT_SUCCESS);
	_exit(tries[*i].run() ? SUCCESS : FAILURE);
}

/* Returns a descriptor, or -1. */
static int open_listener(uint16_t *port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof in;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(fd, (struct sockaddr *)&in, sizeof in) || listen(fd, 8) ||
	    getsockname(fd, (struct sockaddr *)&in, &n))
		return -1;
	*port = ntohs(in.sin_port);
	return fd;
}

unsigned fence_faults(const struct surroundings *s)
{
	const long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	int datagrams = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
	    listeners[] = {open_listener(&open_port), open_listener(&other_port)};
	struct sockaddr_un un;
	unsigned faults = 0;

	around = s;
	name_datagrams(&un);
	if (listeners[0] < 0 || listeners[1] < 0 ||
	    bind(datagrams, (struct sockaddr *)&un, sizeof un))
		return 1;
	for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
		int status = 0;
		pid_t pid;
		bool ok;

		if (tries[i].landlock > version)
			continue;
		ok = jail_fork(&pid, run_try, &i) == 0 && waitpid(pid, &status, 0) == pid &&
		     WIFEXITED(status) &&
		     WEXITSTATUS(status) == (tries[i].needed ? SUCCESS : FAILURE);

		if (!ok)
			fprintf(stderr, "%s %s in the fence\n", tries[i].name,
				tries[i].needed ? "fails" : "succeeds");
		faults += !ok;
	}
	close(listeners[0]);
	close(listeners[1]);
	close(datagrams);
	unlink(un.sun_path);
	return faults;
}
