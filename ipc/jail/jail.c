#include "ipc/jail/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/jail/landlock.h"

enum { NICE = 10, MEMORY = 512 << 20, JAIL_TRIES = 4 };
#define OOM_SCORE "500"

static const int allowed[] = {
	SCMP_SYS(read),
	SCMP_SYS(pread64),
	SCMP_SYS(write),
	SCMP_SYS(lseek),
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(futex),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(exit_group),
};

/* mremap would let a ring grow over the memory that follows it, the ring of another track; malloc
 * copies where it is refused. */
static const int refused[] = {
	SCMP_SYS(mremap),
	SCMP_SYS(open),
	SCMP_SYS(openat),
	SCMP_SYS(ioctl),
	SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(statx),
	SCMP_SYS(stat),
	SCMP_SYS(access),
	SCMP_SYS(readlink),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(getrandom),
};

static int limit_resource(int resource, rlim_t soft, rlim_t hard)
{
	const struct rlimit limit = {soft, hard};

	return setrlimit((__rlimit_resource_t)resource, &limit) ? errno : 0;
}

void jail_give_way(pid_t pid)
{
	(void)setpriority(PRIO_PROCESS, (id_t)pid, NICE);
}

/* The file is root's while the process is protected from others of its user. */
void jail_die_first(void)
{
	const bool protected = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 1;
	int fd;

	if (protected)
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, OOM_SCORE, sizeof OOM_SCORE - 1);
		close(fd);
	}
	if (protected)
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int jail_limit(pid_t parent)
{
	int err = 0;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		return ESRCH;
	if (getpriority(PRIO_PROCESS, 0) < 0)
		(void)setpriority(PRIO_PROCESS, 0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		err = errno;
	if (!err)
		err = limit_resource(RLIMIT_CORE, 0, 0);
	if (!err)
		err = limit_resource(RLIMIT_FSIZE, 0, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	if (!err)
		err = limit_resource(RLIMIT_AS, MEMORY, MEMORY);
#endif
	return err;
}

int jail_limit_data(size_t bytes)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	return limit_resource(RLIMIT_DATA, bytes, bytes);
#else
	(void)bytes;
	return 0;
#endif
}

int jail_fork(pid_t *out, jail_child *run, const void *start)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return errno;
	if (!pid)
		run(start, parent);
	*out = pid;
	return 0;
}

void jail_add_rules(void *filter, uint32_t action, const int *calls, size_t n, int *err)
{
	for (size_t i = 0; i < n && !*err; i++)
		*err = seccomp_rule_add(filter, action, calls[i], 0);
}

int jail_load(void *filter, int err)
{
	if (!err)
		err = seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	return err == -EINVAL ? ENOTSUP : -err;
}

int jail_allow_memory(void *filter)
{
	struct scmp_arg_cmp is[] = {
		{.arg = 2, .op = SCMP_CMP_MASKED_EQ, .datum_a = PROT_EXEC, .datum_b = 0},
		{.arg = 3,
		 .op = SCMP_CMP_MASKED_EQ,
		 .datum_a = MAP_ANONYMOUS,
		 .datum_b = MAP_ANONYMOUS},
	};

	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, is);
}

/* Memory may be given back, as malloc does, but no page of a ring be removed: the reader's index
 * is among them. */
static int allow_advice(scmp_filter_ctx f)
{
	static const int advice[] = {MADV_DONTNEED, MADV_FREE};
	int err = 0;

	for (size_t i = 0; i < sizeof advice / sizeof advice[0] && !err; i++)
		err = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(madvise), 1,
				       SCMP_A2(SCMP_CMP_EQ, (scmp_datum_t)advice[i]));
	return err;
}

static int install_filter(void)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int err = f ? 0 : -ENOMEM;

	jail_add_rules(f, SCMP_ACT_ALLOW, allowed, sizeof allowed / sizeof allowed[0], &err);
	jail_add_rules(f, SCMP_ACT_ERRNO(EPERM), refused, sizeof refused / sizeof refused[0], &err);
	if (!err)
		err = allow_advice(f);
	if (!err)
		err = jail_allow_memory(f);
	return jail_load(f, err);
}

int jail_enter(unsigned cpu_s)
{
	int err = landlock_forbid_files(-1, NULL);

	if (!err)
		err = limit_resource(RLIMIT_CPU, cpu_s, RLIM_INFINITY);
	if (!err)
		err = limit_resource(RLIMIT_NPROC, 0, 0);
	if (!err)
		err = limit_resource(RLIMIT_NOFILE, 0, 0);
	return err ? err : install_filter();
}

/* Returns the wait status of a child that does, in the jail, what that forbids; -1 without one. */
static int try_jail(void)
{
	pid_t self = getpid(), pid = fork();
	int status = -1;

	if (!pid) {
		if (jail_limit(self) || jail_enter(JAIL_CPU_S))
			_exit(EXIT_FAILURE);
		/* The filter kills the process here. */
		_exit(getuid() ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* A child that somebody kills, as the kernel does when memory lacks, says nothing about the jail.
 */
bool jail_works(void)
{
	int status = -1;

	for (unsigned i = 0; i < JAIL_TRIES; i++) {
		status = try_jail();
		if (status == -1 || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			break;
	}
	return status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}
