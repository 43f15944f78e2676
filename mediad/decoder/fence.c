#include "mediad/decoder/fence.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "mediad/decoder/jail.h"

enum { CPU_S = 3600 };

static const int refused[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(fork),
	SCMP_SYS(vfork),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(kill),
	SCMP_SYS(tkill),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(bind),
	SCMP_SYS(listen),
	SCMP_SYS(accept),
	SCMP_SYS(accept4),
	SCMP_SYS(creat),
	SCMP_SYS(unlink),
	SCMP_SYS(unlinkat),
	SCMP_SYS(rename),
	SCMP_SYS(renameat),
	SCMP_SYS(renameat2),
	SCMP_SYS(mkdir),
	SCMP_SYS(mkdirat),
	SCMP_SYS(link),
	SCMP_SYS(linkat),
	SCMP_SYS(symlink),
	SCMP_SYS(symlinkat),
	SCMP_SYS(chmod),
	SCMP_SYS(fchmodat),
	SCMP_SYS(chown),
	SCMP_SYS(fchownat),
	SCMP_SYS(truncate),
	SCMP_SYS(mount),
	SCMP_SYS(unshare),
	SCMP_SYS(setns),
	SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(keyctl),
	SCMP_SYS(add_key),
	SCMP_SYS(shmget),
	SCMP_SYS(setpriority),
	SCMP_SYS(openat2),
};

/* Opening for reading alone. */
static int refuse_writing(scmp_filter_ctx f)
{
	static const scmp_datum_t modes[] = {O_WRONLY, O_RDWR};
	int err = 0;

	for (size_t i = 0; i < 2 && !err; i++) {
		struct scmp_arg_cmp is = {.arg = 2,
					  .op = SCMP_CMP_MASKED_EQ,
					  .datum_a = O_ACCMODE,
					  .datum_b = modes[i]};

		err = seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(openat), 1, &is);
		is.arg = 1;
		if (!err)
			err = seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(open), 1,
						     &is);
	}
	return err;
}

/* Unix sockets reach services of this machine. */
static int refuse_unix_sockets(scmp_filter_ctx f)
{
	struct scmp_arg_cmp is = {.arg = 0, .op = SCMP_CMP_EQ, .datum_a = AF_UNIX};

	return seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1, &is);
}

int fence_enter(pid_t parent)
{
	const struct rlimit cpu = {CPU_S, CPU_S};
	scmp_filter_ctx f;
	int err = jail_limit(parent);

	if (err)
		return err;
	if (setrlimit(RLIMIT_CPU, &cpu))
		return errno;
	f = seccomp_init(SCMP_ACT_ALLOW);
	err = f ? 0 : -ENOMEM;
	jail_add_rules(f, SCMP_ACT_ERRNO(EPERM), refused, sizeof refused / sizeof refused[0], &err);
	if (!err)
		err = refuse_writing(f);
	if (!err)
		err = refuse_unix_sockets(f);
	return jail_load(f, err);
}
