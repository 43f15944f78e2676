#include "tests/escape/attempts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mediad/music/track_ring.h"

#define UNUSED(s) ((void)(s))

/* ---- files ---- */

static bool read_passwords(const struct surroundings *s)
{
	UNUSED(s);
	return syscall(SYS_open, "/etc/passwd", O_RDONLY) >= 0;
}

static bool read_passwords_at(const struct surroundings *s)
{
	UNUSED(s);
	return openat(AT_FDCWD, "/etc/passwd", O_RDONLY) >= 0;
}

static bool read_passwords_at2(const struct surroundings *s)
{
	struct open_how how = {.flags = O_RDONLY};

	UNUSED(s);
	return syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &how, sizeof how) >= 0;
}

static bool create_file(const struct surroundings *s)
{
	char path[128];

	snprintf(path, sizeof path, "%s/created", s->dir);
	return syscall(SYS_creat, path, 0600) >= 0;
}

static bool remove_file(const struct surroundings *s)
{
	char path[128];

	snprintf(path, sizeof path, "%s/planted", s->dir);
	return unlink(path) == 0;
}

static bool rename_folder(const struct surroundings *s)
{
	char to[128];

	snprintf(to, sizeof to, "%s.renamed", s->dir);
	return rename(s->dir, to) == 0 && rename(to, s->dir) == 0;
}

static bool make_folder(const struct surroundings *s)
{
	char path[128];

	snprintf(path, sizeof path, "%s/folder", s->dir);
	return mkdir(path, 0700) == 0;
}

static bool make_link(const struct surroundings *s)
{
	char path[128];

	snprintf(path, sizeof path, "%s/link", s->dir);
	return symlink("/etc/passwd", path) == 0;
}

static bool change_mode(const struct surroundings *s)
{
	char path[128];

	snprintf(path, sizeof path, "%s/mode", s->dir);
	return chmod(path, 0644) == 0;
}

static bool list_folder(const struct surroundings *s)
{
	char entries[1024];
	int fd = open(s->dir, O_RDONLY | O_DIRECTORY);

	return syscall(SYS_getdents64, fd, entries, sizeof entries) > 0;
}

static bool leave_folder(const struct surroundings *s)
{
	return chdir(s->dir) == 0;
}

static bool watch_files(const struct surroundings *s)
{
	int fd = inotify_init1(0);

	return fd >= 0 && inotify_add_watch(fd, s->dir, IN_CREATE) >= 0;
}

static bool read_own_environment(const struct surroundings *s)
{
	UNUSED(s);
	return open("/proc/self/environ", O_RDONLY) >= 0;
}

static bool read_own_maps(const struct surroundings *s)
{
	UNUSED(s);
	return open("/proc/self/maps", O_RDONLY) >= 0;
}

static bool read_parent_memory_file(const struct surroundings *s)
{
	char path[64], text[sizeof SECRET_TEXT] = "";
	int fd;

	snprintf(path, sizeof path, "/proc/%d/mem", s->parent);
	fd = open(path, O_RDONLY);
	return pread(fd, text, sizeof text, (off_t)(uintptr_t)s->parent_text) > 0 &&
	       strcmp(text, SECRET_TEXT) == 0;
}

static bool read_parent_command(const struct surroundings *s)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/cmdline", s->parent);
	return open(path, O_RDONLY) >= 0;
}

static bool read_process_link(const struct surroundings *s)
{
	char path[128];

	UNUSED(s);
	return readlink("/proc/self/exe", path, sizeof path) > 0;
}

/* ---- network ---- */

static bool send_datagram(const struct surroundings *s)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(s->udp_port),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	return sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1;
}

static bool open_tcp_socket(const struct surroundings *s)
{
	UNUSED(s);
	return socket(AF_INET6, SOCK_STREAM, 0) >= 0;
}

static bool listen_on_port(const struct surroundings *s)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	UNUSED(s);
	return bind(fd, (struct sockaddr *)&any, sizeof any) == 0 && listen(fd, 1) == 0;
}

static bool connect_to_unix_socket(const struct surroundings *s)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(to.sun_path, sizeof to.sun_path, "%s", s->socket);
	return connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
}

static bool make_socket_pair(const struct surroundings *s)
{
	int fds[2];

	UNUSED(s);
	return socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0;
}

/* ---- other processes ---- */

static bool trace_parent(const struct surroundings *s)
{
	return ptrace(PTRACE_SEIZE, s->parent, NULL, NULL) == 0;
}

static bool read_parent_memory(const struct surroundings *s)
{
	char text[sizeof SECRET_TEXT];
	struct iovec to = {text, sizeof text},
		     from = {(void *)(uintptr_t)s->parent_text, sizeof text};

	return process_vm_readv(s->parent, &to, 1, &from, 1, 0) == sizeof text &&
	       strcmp(text, SECRET_TEXT) == 0;
}

static bool write_parent_memory(const struct surroundings *s)
{
	char text[] = SECRET_TEXT;
	struct iovec from = {text, sizeof text},
		     to = {(void *)(uintptr_t)s->parent_text, sizeof text};

	return process_vm_writev(s->parent, &from, 1, &to, 1, 0) == sizeof text;
}

static bool signal_parent(const struct surroundings *s)
{
	return kill(s->parent, SIGCONT) == 0;
}

static bool signal_parent_thread(const struct surroundings *s)
{
	return syscall(SYS_tgkill, s->parent, s->parent, SIGCONT) == 0;
}

static bool take_parent_descriptor(const struct surroundings *s)
{
	int pidfd = (int)syscall(SYS_pidfd_open, s->parent, 0);

	return syscall(SYS_pidfd_getfd, pidfd, SECRET_FD, 0) >= 0;
}

static bool start_process(const struct surroundings *s)
{
	long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	UNUSED(s);
	if (pid == 0)
		_exit(0);
	return pid > 0 && waitpid((pid_t)pid, NULL, 0) > 0;
}

/* The program says whether it ran by its exit status, which is that of this attempt. */
static bool start_program(const struct surroundings *s)
{
	char *const argv[] = {"sh", "-c", "exit 1", NULL};
	char *const none[] = {NULL};

	UNUSED(s);
	execve("/bin/sh", argv, none);
	return false;
}

static bool raise_priority(const struct surroundings *s)
{
	UNUSED(s);
	return setpriority(PRIO_PROCESS, 0, -1) == 0;
}

static bool choose_processor(const struct surroundings *s)
{
	cpu_set_t set;

	UNUSED(s);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	return sched_setaffinity(0, sizeof set, &set) == 0;
}

/* ---- what was left open, and memory ---- */

static bool read_secret_descriptor(const struct surroundings *s)
{
	char text[sizeof SECRET_TEXT] = "";

	UNUSED(s);
	return lseek(SECRET_FD, 0, SEEK_SET) == 0 && read(SECRET_FD, text, sizeof text) > 0 &&
	       strcmp(text, SECRET_TEXT) == 0;
}

static bool find_secret_descriptor(const struct surroundings *s)
{
	char text[sizeof SECRET_TEXT];

	UNUSED(s);
	for (int fd = 2; fd < 1024; fd++)
		if (lseek(fd, 0, SEEK_SET) == 0 && read(fd, text, sizeof text) > 0)
			return true;
	return false;
}

static bool write_to_stderr(const struct surroundings *s)
{
	UNUSED(s);
	return write(STDERR_FILENO, "", 0) == 0;
}

static bool read_environment(const struct surroundings *s)
{
	UNUSED(s);
	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, SECRET_NAME "=", sizeof SECRET_NAME) == 0)
			return true;
	return false;
}

static bool read_neighbour_ring(const struct surroundings *s)
{
	return *s->neighbour == NEIGHBOUR_TEXT;
}

static bool write_neighbour_ring(const struct surroundings *s)
{
	*s->neighbour = NEIGHBOUR_TEXT;
	return true;
}

/* The memory behind one's own ring, by a second mapping of it that is longer: an old length of 0
 * leaves the first one where it is. */
static bool grow_into_neighbour_ring(const struct surroundings *s)
{
	void *p = mremap((void *)(uintptr_t)s->ring, 0, 2L * TRACK_RING_MEMORY, MREMAP_MAYMOVE);

	return p != MAP_FAILED && ((volatile uint8_t *)p)[TRACK_RING_MEMORY] == NEIGHBOUR_TEXT;
}

/* So that the ring would look full for ever, and nobody missed the sound. */
static bool write_reader_index(const struct surroundings *s)
{
	s->ring[TRACK_RING_READER] = 1;
	return true;
}

/* The same by way of a page that reads as zeros once it is removed. */
static bool remove_reader_index(const struct surroundings *s)
{
	return madvise((void *)(uintptr_t)(s->ring + TRACK_RING_READER), 4096, MADV_REMOVE) == 0;
}

/* The parent looks if it is taken in. */
static bool set_false_index(const struct surroundings *s)
{
	const uint64_t n = (uint64_t)TRACK_RING_FRAMES * 3;

	memcpy((void *)(uintptr_t)s->ring, &n, sizeof n);
	return true;
}

static bool map_code(const struct surroundings *s)
{
	UNUSED(s);
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0) != MAP_FAILED;
}

static bool make_memory_code(const struct surroundings *s)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	UNUSED(s);
	return mprotect(p, 4096, PROT_READ | PROT_EXEC) == 0;
}

static bool map_source(const struct surroundings *s)
{
	UNUSED(s);
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 0, 0) != MAP_FAILED;
}

static bool make_memory_file(const struct surroundings *s)
{
	UNUSED(s);
	return memfd_create("escape", 0) >= 0;
}

static bool attach_shared_memory(const struct surroundings *s)
{
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);

	UNUSED(s);
	return id >= 0 && shmctl(id, IPC_RMID, NULL) == 0;
}

static bool duplicate_descriptor(const struct surroundings *s)
{
	UNUSED(s);
	return dup(0) >= 0;
}

/* ---- this process ---- */

static bool raise_limits(const struct surroundings *s)
{
	struct rlimit limit = {64, 64};

	UNUSED(s);
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static bool catch_signals(const struct surroundings *s)
{
	UNUSED(s);
	return signal(SIGXCPU, SIG_IGN) != SIG_ERR;
}

static bool outlive_parent(const struct surroundings *s)
{
	UNUSED(s);
	return prctl(PR_SET_PDEATHSIG, 0) == 0;
}

static bool become_traceable(const struct surroundings *s)
{
	UNUSED(s);
	return prctl(PR_SET_DUMPABLE, 1) == 0;
}

static bool read_host_name(const struct surroundings *s)
{
	struct utsname name;

	UNUSED(s);
	return uname(&name) == 0;
}

static bool leave_session(const struct surroundings *s)
{
	UNUSED(s);
	return setsid() >= 0;
}

static bool wait_for_events(const struct surroundings *s)
{
	UNUSED(s);
	return epoll_create1(0) >= 0;
}

static bool make_event(const struct surroundings *s)
{
	UNUSED(s);
	return eventfd(0, 0) >= 0;
}

static bool set_timer(const struct surroundings *s)
{
	const struct itimerval never = {0};

	UNUSED(s);
	return setitimer(ITIMER_REAL, &never, NULL) == 0;
}

const struct attempt attempts[] = {
#define A(f)                                                                                       \
	{                                                                                          \
#f, f                                                                              \
	}
	A(read_passwords),
	A(read_passwords_at),
	A(read_passwords_at2),
	A(create_file),
	A(remove_file),
	A(rename_folder),
	A(make_folder),
	A(make_link),
	A(change_mode),
	A(list_folder),
	A(leave_folder),
	A(watch_files),
	A(read_own_environment),
	A(read_own_maps),
	A(read_parent_memory_file),
	A(read_parent_command),
	A(read_process_link),
	A(send_datagram),
	A(open_tcp_socket),
	A(listen_on_port),
	A(connect_to_unix_socket),
	A(make_socket_pair),
	A(trace_parent),
	A(read_parent_memory),
	A(write_parent_memory),
	A(signal_parent),
	A(signal_parent_thread),
	A(take_parent_descriptor),
	A(start_process),
	A(start_program),
	A(raise_priority),
	A(choose_processor),
	A(read_secret_descriptor),
	A(find_secret_descriptor),
	A(write_to_stderr),
	A(read_environment),
	A(read_neighbour_ring),
	A(write_neighbour_ring),
	A(grow_into_neighbour_ring),
	A(write_reader_index),
	A(remove_reader_index),
	A(set_false_index),
	A(map_code),
	A(make_memory_code),
	A(map_source),
	A(make_memory_file),
	A(attach_shared_memory),
	A(duplicate_descriptor),
	A(raise_limits),
	A(catch_signals),
	A(outlive_parent),
	A(become_traceable),
	A(read_host_name),
	A(leave_session),
	A(wait_for_events),
	A(make_event),
	A(set_timer),
#undef A
};
const unsigned n_attempts = sizeof attempts / sizeof attempts[0];
