#include "mediad/decoder/fence.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/jail/jail.h"
#include "ipc/jail/landlock.h"

enum { CPU_S = 3600, MEMORY = 128 << 20, NAME_SERVER = 53 };
enum { SOCK_TYPES = 15 }; /* the bits of a socket's type */

/* Calls of newer kernels that the headers at hand may not name: fchmodat2, setxattrat,
 * removexattrat and file_setattr. Their numbers are the same everywhere. */
enum { FCHMODAT2 = 452, SETXATTRAT = 463, REMOVEXATTRAT = 466, FILE_SETATTR = 469 };

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
	SCMP_SYS(rt_sigqueueinfo),
	SCMP_SYS(rt_tgsigqueueinfo),
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
	SCMP_SYS(mknod),
	SCMP_SYS(mknodat),
	SCMP_SYS(chmod),
	SCMP_SYS(fchmod),
	SCMP_SYS(fchmodat),
	SCMP_SYS(chown),
	SCMP_SYS(lchown),
	SCMP_SYS(fchown),
	SCMP_SYS(fchownat),
	SCMP_SYS(utime),
	SCMP_SYS(utimes),
	SCMP_SYS(futimesat),
	SCMP_SYS(utimensat),
	SCMP_SYS(setxattr),
	SCMP_SYS(lsetxattr),
	SCMP_SYS(fsetxattr),
	SCMP_SYS(removexattr),
	SCMP_SYS(lremovexattr),
	SCMP_SYS(fremovexattr),
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
	SCMP_SYS(msgget),
	SCMP_SYS(semget),
	SCMP_SYS(mq_open),
	SCMP_SYS(setpriority),
	SCMP_SYS(ioprio_set),
	SCMP_SYS(sched_setaffinity),
	SCMP_SYS(sched_setattr),
	SCMP_SYS(sched_setparam),
	SCMP_SYS(sched_setscheduler),
	SCMP_SYS(process_madvise),
	SCMP_SYS(migrate_pages),
	SCMP_SYS(move_pages),
	SCMP_SYS(openat2),
	FCHMODAT2,
	SETXATTRAT,
	REMOVEXATTRAT,
	FILE_SETATTR,
};

/* EPERM where this argument compares so. The kernel takes the lower half of most arguments, so a
 * value that is to be refused is masked or bounded, never compared whole. */
static int refuse(scmp_filter_ctx f, int call, struct scmp_arg_cmp is)
{
	return seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EPERM), call, 1, &is);
}

/* Opening for reading what is there alone. */
static int refuse_writing(scmp_filter_ctx f)
{
	static const struct {
		scmp_datum_t mask, flags;
	} ways[] = {{O_ACCMODE, O_WRONLY},
		    {O_ACCMODE, O_RDWR},
		    {O_ACCMODE, O_ACCMODE},
		    {O_CREAT, O_CREAT},
		    {O_TRUNC, O_TRUNC}};
	int err = 0;

	for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !err; i++) {
		struct scmp_arg_cmp is = {.arg = 2,
					  .op = SCMP_CMP_MASKED_EQ,
					  .datum_a = ways[i].mask,
					  .datum_b = ways[i].flags};

		err = refuse(f, SCMP_SYS(openat), is);
		is.arg = 1;
		if (!err)
			err = refuse(f, SCMP_SYS(open), is);
	}
	return err;
}

/* Those of the internet and the system's own of addresses remain: Unix sockets and others reach
 * services of this machine. So do pairs of datagram sockets, which take any other address. */
static int refuse_sockets(scmp_filter_ctx f)
{
	struct scmp_arg_cmp outside[] = {{.arg = 0, .op = SCMP_CMP_LT, .datum_a = AF_INET},
					 {.arg = 0, .op = SCMP_CMP_GT, .datum_a = AF_NETLINK}};
	const struct scmp_arg_cmp datagrams = {.arg = 1,
					       .op = SCMP_CMP_MASKED_EQ,
					       .datum_a = SOCK_DGRAM, /* SOCK_RAW has it too */
					       .datum_b = SOCK_DGRAM};
	const struct scmp_arg_cmp no_route[] = {
		{.arg = 0, .op = SCMP_CMP_EQ, .datum_a = AF_NETLINK},
		{.arg = 2, .op = SCMP_CMP_NE, .datum_a = NETLINK_ROUTE}};
	struct scmp_arg_cmp other = {.arg = 0, .op = SCMP_CMP_EQ};
	int err = refuse(f, SCMP_SYS(socket), outside[0]);

	if (!err)
		err = refuse(f, SCMP_SYS(socketpair), datagrams);
	if (!err)
		err = seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 2,
					     no_route);
	if (!err)
		err = refuse(f, SCMP_SYS(socket), outside[1]);
	for (int family = AF_INET + 1; family < AF_NETLINK && !err; family++) {
		other.datum_a = (scmp_datum_t)family;
		if (family != AF_INET6)
			err = refuse(f, SCMP_SYS(socket), other);
	}
	return err;
}

/* Landlock knows the ports of TCP alone: MPTCP falls back to TCP with any server, and SCTP, DCCP
 * and others have ports of their own. TCP and UDP remain, and raw sockets, which the kernel gives
 * to the system's own of addresses. */
static int refuse_protocols(scmp_filter_ctx f)
{
	const struct scmp_arg_cmp beyond = {.arg = 2, .op = SCMP_CMP_GT, .datum_a = IPPROTO_UDP};
	struct scmp_arg_cmp is = {.op = SCMP_CMP_MASKED_EQ};
	int err = refuse(f, SCMP_SYS(socket), beyond);

	is.arg = 2;
	is.datum_a = UINT32_MAX;
	for (is.datum_b = 1; is.datum_b < IPPROTO_UDP && !err; is.datum_b++)
		if (is.datum_b != IPPROTO_TCP)
			err = refuse(f, SCMP_SYS(socket), is);
	is.arg = 1;
	is.datum_a = SOCK_TYPES;
	for (is.datum_b = SOCK_RAW + 1; is.datum_b <= SOCK_TYPES && !err; is.datum_b++)
		err = refuse(f, SCMP_SYS(socket), is);
	return err;
}

/* Data in the first packet connects without a look at Landlock's rules. */
static int refuse_early_data(scmp_filter_ctx f)
{
	static const struct {
		int call;
		unsigned flags;
	} ways[] = {{SCMP_SYS(sendto), 3}, {SCMP_SYS(sendmsg), 2}, {SCMP_SYS(sendmmsg), 3}};
	int err = 0;

	for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !err; i++)
		err = refuse(f, ways[i].call,
			     (struct scmp_arg_cmp){.arg = ways[i].flags,
						   .op = SCMP_CMP_MASKED_EQ,
						   .datum_a = MSG_FASTOPEN,
						   .datum_b = MSG_FASTOPEN});
	return err;
}

/* A descriptor sends no signal of our choice to a process of our choice when something arrives. */
static int refuse_owners(scmp_filter_ctx f)
{
	static const struct {
		int call;
		scmp_datum_t what;
	} ways[] = {{SCMP_SYS(fcntl), F_SETOWN},
		    {SCMP_SYS(fcntl), F_SETOWN_EX},
		    {SCMP_SYS(fcntl), F_SETSIG},
		    {SCMP_SYS(ioctl), FIOSETOWN},
		    {SCMP_SYS(ioctl), SIOCSPGRP}};
	int err = 0;

	for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !err; i++)
		err = refuse(f, ways[i].call,
			     (struct scmp_arg_cmp){.arg = 1,
						   .op = SCMP_CMP_MASKED_EQ,
						   .datum_a = UINT32_MAX,
						   .datum_b = ways[i].what});
	return err;
}

/* It dies with its parent, whatever becomes of it. */
static int refuse_outliving(scmp_filter_ctx f)
{
	return refuse(f, SCMP_SYS(prctl),
		      (struct scmp_arg_cmp){.arg = 0,
					    .op = SCMP_CMP_MASKED_EQ,
					    .datum_a = UINT32_MAX,
					    .datum_b = PR_SET_PDEATHSIG});
}

/* Threads remain, and what the C library asks and tells of this process. clone3 hides its flags in
 * memory: it is as on a system without it. */
static int refuse_processes(scmp_filter_ctx f)
{
	const struct scmp_arg_cmp no_thread = {.arg = 0,
					       .op = SCMP_CMP_MASKED_EQ,
					       .datum_a = CLONE_THREAD,
					       .datum_b = 0},
				  another = {.arg = 0,
					     .op = SCMP_CMP_NE,
					     .datum_a = (scmp_datum_t)getpid()},
				  changes = {.arg = 2, .op = SCMP_CMP_NE, .datum_a = 0};
	int err = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);

	if (!err)
		err = refuse(f, SCMP_SYS(clone), no_thread);
	if (!err)
		err = refuse(f, SCMP_SYS(tgkill), another);
	return err ? err : refuse(f, SCMP_SYS(prlimit64), changes);
}

/* What names are resolved by, and the certificates of authorities. */
static int leave_files(const uint16_t *ports, size_t n)
{
	static const char *const paths[] = {
		"/etc/resolv.conf",	      "/etc/hosts",    "/etc/host.conf",
		"/etc/nsswitch.conf",	      "/etc/gai.conf", "/etc/ssl/certs",
		"/usr/share/ca-certificates", "/usr/lib/ssl",  "/usr/local/share/ca-certificates",
	};
	uint16_t all[FENCE_PORTS_MAX + 1];

	if (n > FENCE_PORTS_MAX)
		return EINVAL;
	memcpy(all, ports, n * sizeof *all);
	all[n] = NAME_SERVER;
	return landlock_leave(paths, sizeof paths / sizeof paths[0], all, n + 1);
}

int fence_enter(pid_t parent, const uint16_t *ports, size_t n_ports)
{
	const struct rlimit cpu = {CPU_S, CPU_S};
	scmp_filter_ctx f;
	int err = jail_limit(parent);

	if (!err)
		err = jail_limit_data(MEMORY);
	if (!err)
		err = leave_files(ports, n_ports);
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
		err = refuse_sockets(f);
	if (!err)
		err = refuse_protocols(f);
	if (!err)
		err = refuse_early_data(f);
	if (!err)
		err = refuse_owners(f);
	if (!err)
		err = refuse_outliving(f);
	if (!err)
		err = refuse_processes(f);
	return jail_load(f, err);
}
