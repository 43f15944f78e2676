#include "mediad/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/jail/jail.h"
#include "ipc/jail/landlock.h"
#include "ipc/log.h"

enum { L = SANDBOX_LOOP, W = SANDBOX_WORKER, A = SANDBOX_AUDIO, ALL = L | W | A };

/* S(call, roles). The calls of the audio threads' loop come first, then those that any thread needs
 * to end, to abort with a message, or for the C library. */
#define CALLS(S)                                                                                   \
	S(recvmmsg, L | A)                                                                         \
	S(epoll_pwait2, A)                                                                         \
	S(epoll_wait, L | A)                                                                       \
	S(epoll_pwait, L | A)                                                                      \
	S(epoll_ctl, L | A)                                                                        \
	S(read, ALL)                                                                               \
	S(write, ALL)                                                                              \
	S(timerfd_settime, L)                                                                      \
	S(clock_gettime, ALL)                                                                      \
	S(futex, ALL)                                                                              \
	S(exit, ALL)                                                                               \
	S(exit_group, ALL)                                                                         \
	S(rt_sigreturn, ALL)                                                                       \
	S(rt_sigaction, ALL)                                                                       \
	S(rt_sigprocmask, ALL)                                                                     \
	S(sigaltstack, ALL)                                                                        \
	S(getpid, ALL)                                                                             \
	S(gettid, ALL)                                                                             \
	S(madvise, ALL)                                                                            \
	S(munmap, ALL)                                                                             \
	S(restart_syscall, ALL)                                                                    \
	S(sched_yield, ALL)                                                                        \
	S(rseq, ALL)                                                                               \
	S(set_robust_list, ALL)                                                                    \
	S(brk, L | W)                                                                              \
	S(mremap, L | W)                                                                           \
	S(getrandom, L | W)                                                                        \
	S(gettimeofday, L | W)                                                                     \
	S(clock_nanosleep, L | W)                                                                  \
	S(nanosleep, L | W)                                                                        \
	S(sched_getaffinity, L | W)                                                                \
	S(sysinfo, L | W)                                                                          \
	S(uname, L)                                                                                \
	S(readv, L)                                                                                \
	S(writev, L)                                                                               \
	S(pwrite64, L)                                                                             \
	S(lseek, L)                                                                                \
	S(fsync, L)                                                                                \
	S(fdatasync, L)                                                                            \
	S(close, L)                                                                                \
	S(fstat, L)                                                                                \
	S(dup, L)                                                                                  \
	S(dup3, L) /* ipc/ws_adopt.c */                                                            \
	S(pipe2, L)                                                                                \
	S(eventfd2, L)                                                                             \
	S(timerfd_create, L)                                                                       \
	S(timerfd_gettime, L)                                                                      \
	S(epoll_create1, L)                                                                        \
	S(poll, L)                                                                                 \
	S(ppoll, L | A)                                                                            \
	S(select, L)                                                                               \
	S(pselect6, L)                                                                             \
	S(accept4, L)                                                                              \
	S(getsockname, L)                                                                          \
	S(getpeername, L)                                                                          \
	S(getsockopt, L)                                                                           \
	S(setsockopt, L)                                                                           \
	S(shutdown, L)                                                                             \
	S(recvfrom, L)                                                                             \
	S(recvmsg, L)                                                                              \
	S(sendmsg, L)                                                                              \
	S(getuid, L)                                                                               \
	S(geteuid, L)                                                                              \
	S(getgid, L)                                                                               \
	S(getegid, L)

/* Calls that are refused for good, with EPERM instead of ENOSYS. */
#define REFUSED(R)                                                                                 \
	R(open)                                                                                    \
	R(openat)                                                                                  \
	R(openat2)                                                                                 \
	R(creat)                                                                                   \
	R(execve)                                                                                  \
	R(execveat)                                                                                \
	R(fork)                                                                                    \
	R(vfork)                                                                                   \
	R(clone)                                                                                   \
	R(ptrace)                                                                                  \
	R(process_vm_readv)                                                                        \
	R(process_vm_writev)                                                                       \
	R(setuid)                                                                                  \
	R(setgid)                                                                                  \
	R(mount)                                                                                   \
	R(kill)                                                                                    \
	R(bind)                                                                                    \
	R(unlink)                                                                                  \
	R(socketpair)                                                                              \
	R(listen)

enum { DESCRIPTORS_CHECKED = 65536 };

/* sandbox_drop was called: by the first thread before any other, since what it drops holds for the
 * calling thread and those that it starts. */
static bool dropped;
static int directory = -1;
static _Thread_local bool landlocked;

struct allowed {
	int call;
	unsigned roles;
};

static const struct allowed allowed[] = {
#define S(name, roles) {SCMP_SYS(name), roles},
	CALLS(S)
#undef S
};

static const int refused[] = {
#define R(name) SCMP_SYS(name),
	REFUSED(R)
#undef R
};

/* Allows what would reach beyond this process, or into a terminal that it was started from, with
 * these values of an argument alone. */
static int allow_narrowed(scmp_filter_ctx f, enum sandbox_role role)
{
	const struct {
		int call;
		unsigned roles, arg;
		scmp_datum_t value;
	} rules[] = {
		{SCMP_SYS(tgkill), ALL, 0, (scmp_datum_t)getpid()},
		{SCMP_SYS(prlimit64), L, 0, 0},
		/* Not F_SETOWN and F_SETSIG, by which the kernel sends signals. */
		{SCMP_SYS(fcntl), L, 1, F_GETFD},
		{SCMP_SYS(fcntl), L, 1, F_SETFD},
		{SCMP_SYS(fcntl), L, 1, F_GETFL},
		{SCMP_SYS(fcntl), L, 1, F_SETFL},
		{SCMP_SYS(fcntl), L, 1, F_DUPFD_CLOEXEC},
		/* Not TIOCSTI, which types. */
		{SCMP_SYS(ioctl), L, 1, FIONBIO},
		{SCMP_SYS(ioctl), L, 1, FIONREAD},
		{SCMP_SYS(ioctl), L, 1, TCGETS},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof rules / sizeof rules[0] && !err; i++) {
		struct scmp_arg_cmp is = {
			.arg = rules[i].arg, .op = SCMP_CMP_EQ, .datum_a = rules[i].value};

		if (rules[i].roles & role)
			err = seccomp_rule_add_array(f, SCMP_ACT_ALLOW, rules[i].call, 1, &is);
	}
	return err;
}

static int allow_sockets(scmp_filter_ctx f)
{
	static const unsigned families[] = {AF_INET, AF_INET6};
	int err = 0;

	for (unsigned i = 0; i < 2 && !err; i++) {
		struct scmp_arg_cmp is = {.arg = 0, .op = SCMP_CMP_EQ, .datum_a = families[i]};

		err = seccomp_rule_add_array(f, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, &is);
	}
	return err;
}

/* A socket that could still be connected to a Unix address: neither listening nor connected. */
static bool is_loose_unix_socket(int fd)
{
	struct sockaddr_storage peer;
	socklen_t n = sizeof(int), peer_n = sizeof peer;
	int family = 0, listening = 0;

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &n) && family == AF_UNIX &&
	       !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &n) && !listening &&
	       getpeername(fd, (struct sockaddr *)&peer, &peer_n) && errno == ENOTCONN;
}

/* Filters cannot read an address, so they cannot tell a short Unix path from IPv4. The boundary is
 * that no thread has a socket which would take one. */
static int refuse_loose_unix_sockets(void)
{
	struct rlimit limit;
	int most = getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > DESCRIPTORS_CHECKED
			   ? DESCRIPTORS_CHECKED
			   : (int)limit.rlim_cur;

	for (int fd = 0; fd < most; fd++)
		if (is_loose_unix_socket(fd)) {
			log_warn("sandbox_unix_socket", "fd=%d", fd);
			return EBUSY;
		}
	return 0;
}

/* Allows connect, and sendto as the resolver uses it, with addresses of the length of IPv4 and
 * IPv6. */
static int allow_addresses(scmp_filter_ctx f)
{
	static const size_t lengths[] = {sizeof(struct sockaddr_in), sizeof(struct sockaddr_in6)};
	int err = 0;

	for (unsigned i = 0; i < 2 && !err; i++) {
		struct scmp_arg_cmp is = {.arg = 2, .op = SCMP_CMP_EQ, .datum_a = lengths[i]};

		err = seccomp_rule_add_array(f, SCMP_ACT_ALLOW, SCMP_SYS(connect), 1, &is);
		is.arg = 5;
		if (!err)
			err = seccomp_rule_add_array(f, SCMP_ACT_ALLOW, SCMP_SYS(sendto), 1, &is);
	}
	return err;
}

/* Allows sending on connected sockets. An audio thread can neither connect nor name an address, so
 * its datagrams reach nobody but the voice servers that the loop thread has chosen. */
static int allow_sending(scmp_filter_ctx f)
{
	struct scmp_arg_cmp is = {.arg = 4, .op = SCMP_CMP_EQ, .datum_a = 0};

	return seccomp_rule_add_array(f, SCMP_ACT_ALLOW, SCMP_SYS(sendto), 1, &is);
}

/* Allows the removal of a file, not of a directory, by a name beside our own socket. */
static int allow_removal(scmp_filter_ctx f)
{
	struct scmp_arg_cmp is[] = {
		{.arg = 0, .op = SCMP_CMP_EQ, .datum_a = (scmp_datum_t)directory},
		{.arg = 2, .op = SCMP_CMP_EQ, .datum_a = 0},
	};

	return directory < 0 ? 0
			     : seccomp_rule_add_array(f, SCMP_ACT_ALLOW, SCMP_SYS(unlinkat), 2, is);
}

/* A thread gives up its own real-time priority (audio_thread.c), and may not take any. */
static int allow_normal_priority(scmp_filter_ctx f)
{
	struct scmp_arg_cmp is[] = {
		{.arg = 0, .op = SCMP_CMP_EQ, .datum_a = 0},
		{.arg = 1, .op = SCMP_CMP_EQ, .datum_a = SCHED_OTHER},
	};

	return seccomp_rule_add_array(f, SCMP_ACT_ALLOW, SCMP_SYS(sched_setscheduler), 2, is);
}

/* Allows changes of the protection of memory, unless they make it executable. */
static int allow_protection(scmp_filter_ctx f)
{
	struct scmp_arg_cmp is = {
		.arg = 2, .op = SCMP_CMP_MASKED_EQ, .datum_a = PROT_EXEC, .datum_b = 0};

	return seccomp_rule_add_array(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, &is);
}

static int refuse_calls(scmp_filter_ctx f, enum sandbox_role role)
{
	int err = 0;

	for (size_t i = 0; i < sizeof refused / sizeof refused[0] && !err; i++)
		err = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
	if (!err && role != SANDBOX_LOOP)
		err = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 0);
	if (!err && role != SANDBOX_LOOP)
		err = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(connect), 0);
	if (!err && (role != SANDBOX_LOOP || directory < 0))
		err = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unlinkat), 0);
	if (!err && role == SANDBOX_AUDIO)
		err = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(mmap), 0);
	if (!err && role == SANDBOX_AUDIO)
		err = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(mprotect), 0);
	return err;
}

/* Drops all capabilities but those in `keep`. libcap would be another library for two calls. */
static int keep_capabilities(uint32_t keep)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct have[_LINUX_CAPABILITY_U32S_3] = {0},
				      left[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &head, have))
		return errno;
	left[0].effective = left[0].permitted = have[0].permitted & keep;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	return syscall(SYS_capset, &head, left) ? errno : 0;
}

bool sandbox_has_landlock(void)
{
	return landlocked;
}

void sandbox_keep_directory(int dirfd)
{
	directory = dirfd;
}

int sandbox_enter(enum sandbox_role role)
{
	scmp_filter_ctx f;
	int err;

	if (!dropped)
		return 0;
	err = role == SANDBOX_LOOP ? refuse_loose_unix_sockets() : 0;
	if (!err)
		err = landlock_forbid_files(role == SANDBOX_LOOP ? directory : -1, &landlocked);
	if (err)
		return err;
	f = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	err = f ? -keep_capabilities(0) : -ENOMEM;
	for (size_t i = 0; i < sizeof allowed / sizeof allowed[0] && !err; i++)
		if (allowed[i].roles & role)
			err = seccomp_rule_add(f, SCMP_ACT_ALLOW, allowed[i].call, 0);
	if (!err)
		err = allow_narrowed(f, role);
	if (!err && role == SANDBOX_LOOP)
		err = allow_sockets(f);
	if (!err && role == SANDBOX_LOOP)
		err = allow_addresses(f);
	if (!err && role != SANDBOX_WORKER)
		err = allow_sending(f);
	if (!err && role == SANDBOX_LOOP)
		err = allow_removal(f);
	if (!err && role == SANDBOX_AUDIO)
		err = allow_normal_priority(f);
	if (!err && role != SANDBOX_AUDIO)
		err = jail_allow_memory(f);
	if (!err && role != SANDBOX_AUDIO)
		err = allow_protection(f);
	if (!err)
		err = refuse_calls(f, role);
	if (!err)
		err = seccomp_load(f);
	if (f)
		seccomp_release(f);
	return err == -EINVAL ? ENOTSUP : -err;
}

void sandbox_require(enum sandbox_role role)
{
	int err = sandbox_enter(role);

	if (!err)
		return;
	log_fatal("sandbox",
		  "error=\"%s\" hint=\"no thread runs without its filter; --no-sandbox allows it\"",
		  strerror(err));
	_exit(EXIT_FAILURE);
}

int sandbox_drop(void)
{
	int err;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return errno;
	if (geteuid() == 0 && setgroups(0, NULL) && errno != EPERM)
		return errno;
	/* The audio threads may still raise their priority; each thread drops this in
	 * sandbox_enter. */
	err = keep_capabilities(1u << CAP_SYS_NICE);
	dropped = !err;
	return err;
}
