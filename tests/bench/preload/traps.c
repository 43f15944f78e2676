/* A library for LD_PRELOAD that counts forbidden calls of audio threads. An audio thread is one
 * that names itself "audio…".
 *
 * Allocations, frees, locks and conditions are seen because the functions are ours. System calls
 * are seen by a seccomp filter that raises SIGSYS for all but the few that are allowed; the handler
 * counts and makes the call itself, from the one place in memory that the filter lets pass. So
 * nothing that the program does turns out differently. */
#include "tests/bench/preload/traps.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { FDS = 64, RULES = 256 };

static struct traps_page *page;
static __thread bool audio;
static int fds[FDS]; /* timers and eventfds */
static unsigned n_fds;

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void __libc_free(void *p);
extern void *__libc_memalign(size_t align, size_t n);

static void note(enum trap trap, unsigned call, const void *from)
{
	unsigned i;
	Dl_info at;

	if (!audio || !page || !atomic_load_explicit(&page->on, memory_order_relaxed))
		return;
	atomic_fetch_add(&page->count[trap], 1);
	i = atomic_fetch_add(&page->n_who, 1);
	if (i >= TRAPS_WHO)
		return;
	page->who[i].trap = trap;
	page->who[i].call = call;
	page->who[i].from = (uint64_t)(uintptr_t)from;
	if (dladdr(from, &at) && at.dli_fname) {
		const char *base = strrchr(at.dli_fname, '/');

		page->who[i].from -= (uint64_t)(uintptr_t)at.dli_fbase;
		strncpy(page->who[i].object, base ? base + 1 : at.dli_fname,
			sizeof page->who[i].object - 1);
	}
}

#define HERE __builtin_return_address(0)

/* ---- memory ---- */

void *malloc(size_t n)
{
	note(TRAP_ALLOCATION, 0, HERE);
	return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	note(TRAP_ALLOCATION, 0, HERE);
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	note(TRAP_ALLOCATION, 0, HERE);
	return __libc_realloc(p, n);
}

void free(void *p)
{
	if (p)
		note(TRAP_FREE, 0, HERE);
	__libc_free(p);
}

void *memalign(size_t align, size_t n)
{
	note(TRAP_ALLOCATION, 0, HERE);
	return __libc_memalign(align, n);
}

void *aligned_alloc(size_t align, size_t n)
{
	note(TRAP_ALLOCATION, 0, HERE);
	return __libc_memalign(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
	void *p;

	note(TRAP_ALLOCATION, 0, HERE);
	p = __libc_memalign(align, n);
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

/* ---- locks ---- */

/* W(trap, name, parameters, arguments) */
#define WAITS(W)                                                                                   \
	W(LOCK, pthread_mutex_lock, (pthread_mutex_t * m), (m))                                    \
	W(LOCK, pthread_mutex_trylock, (pthread_mutex_t * m), (m))                                 \
	W(LOCK, pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *t), (m, t))  \
	W(LOCK, pthread_mutex_unlock, (pthread_mutex_t * m), (m))                                  \
	W(LOCK, pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l))                                \
	W(LOCK, pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l))                                \
	W(LOCK, pthread_rwlock_tryrdlock, (pthread_rwlock_t * l), (l))                             \
	W(LOCK, pthread_rwlock_trywrlock, (pthread_rwlock_t * l), (l))                             \
	W(LOCK, pthread_rwlock_unlock, (pthread_rwlock_t * l), (l))                                \
	W(LOCK, pthread_spin_lock, (pthread_spinlock_t * l), (l))                                  \
	W(LOCK, pthread_barrier_wait, (pthread_barrier_t * b), (b))                                \
	W(LOCK, sem_wait, (sem_t * s), (s))                                                        \
	W(LOCK, sem_post, (sem_t * s), (s))                                                        \
	W(CONDITION, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t * m), (c, m))         \
	W(CONDITION, pthread_cond_timedwait,                                                       \
	  (pthread_cond_t * c, pthread_mutex_t * m, const struct timespec *t), (c, m, t))          \
	W(CONDITION, pthread_cond_signal, (pthread_cond_t * c), (c))                               \
	W(CONDITION, pthread_cond_broadcast, (pthread_cond_t * c), (c))

#define X(trap, name, params, args)                                                                \
	static int(*real_##name) params;                                                           \
	int name params                                                                            \
	{                                                                                          \
		note(TRAP_##trap, 0, HERE);                                                        \
		if (!real_##name)                                                                  \
			*(void **)&real_##name = dlsym(RTLD_NEXT, #name);                          \
		return real_##name args;                                                           \
	}
WAITS(X)
#undef X

/* ---- system calls ---- */

/* The one place from which every call is let through. */
extern const char traps_gate_end[];
long traps_gate(long nr, long a, long b, long c, long d, long e, long f);
__asm__(".text\n"
	".globl traps_gate\n"
	".hidden traps_gate\n"
	".hidden traps_gate_end\n"
	".type traps_gate,@function\n"
	"traps_gate:\n"
	"	movq %rdi, %rax\n"
	"	movq %rsi, %rdi\n"
	"	movq %rdx, %rsi\n"
	"	movq %rcx, %rdx\n"
	"	movq %r8, %r10\n"
	"	movq %r9, %r8\n"
	"	movq 8(%rsp), %r9\n"
	"	syscall\n"
	".globl traps_gate_end\n"
	"traps_gate_end:\n"
	"	ret\n");

static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	greg_t *r = u->uc_mcontext.gregs;

	(void)sig;
	note(TRAP_SYSTEM_CALL, (unsigned)info->si_syscall, info->si_call_addr);
	r[REG_RAX] = traps_gate(info->si_syscall, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10],
				r[REG_R8], r[REG_R9]);
}

struct program {
	struct sock_filter f[RULES];
	unsigned short n;
};

static void put(struct program *p, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
	p->f[p->n++] = (struct sock_filter){code, jt, jf, k};
}

static void let(struct program *p, uint32_t nr)
{
	put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, nr);
	put(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

/* read and write: of timers and eventfds. */
static void let_fds(struct program *p, uint32_t nr)
{
	put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)(2 * n_fds + 2), nr);
	put(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, args[0]));
	for (unsigned i = 0; i < n_fds; i++) {
		put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)fds[i]);
		put(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	}
	put(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP);
}

static void filter(void)
{
	struct sigaction sa = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO | SA_NODEFER};
	uint64_t gate = (uint64_t)(uintptr_t)traps_gate_end;
	struct sock_fprog prog;
	struct program p = {.n = 0};
	sigset_t set;

	put(&p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, instruction_pointer));
	put(&p, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, (uint32_t)gate);
	put(&p, BPF_LD | BPF_W | BPF_ABS, 0, 0,
	    offsetof(struct seccomp_data, instruction_pointer) + 4);
	put(&p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)(gate >> 32));
	put(&p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	put(&p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	let(&p, SYS_recvmmsg);
	let(&p, SYS_sendto);
	let(&p, SYS_epoll_pwait2);
	let(&p, SYS_clock_gettime);
	let(&p, SYS_rt_sigreturn);
	let(&p, SYS_exit);
	let(&p, SYS_exit_group);
	let_fds(&p, SYS_read);
	let_fds(&p, SYS_write);
	put(&p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP);
	sigaction(SIGSYS, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prog = (struct sock_fprog){.len = p.n, .filter = p.f};
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0)
		atomic_fetch_add(&page->filters, 1);
}

static void keep_fd(int fd)
{
	if (fd >= 0 && n_fds < FDS)
		fds[n_fds++] = fd;
}

int eventfd(unsigned count, int flags)
{
	int fd = (int)syscall(SYS_eventfd2, count, flags);

	keep_fd(fd);
	return fd;
}

int prctl(int option, ...)
{
	unsigned long a[4];
	va_list ap;

	va_start(ap, option);
	for (unsigned i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (option == PR_SET_NAME && page && !strncmp((const char *)a[0], "audio", 5) && !audio) {
		atomic_fetch_add(&page->threads, 1);
		audio = true;
		filter();
	}
	return (int)syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
}

/* ---- the plant ---- */

static void plant(void)
{
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	void *volatile p = malloc(1);

	free(p);
	pthread_mutex_lock(&m);
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	getppid();
}

int recvmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags, struct timespec *timeout)
{
	if (audio && atomic_load_explicit(&page->plant, memory_order_relaxed)) {
		plant();
		atomic_store(&page->plant, 0);
	}
	return (int)syscall(SYS_recvmmsg, fd, msgs, n, flags, timeout);
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("TRAPS_PAGE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd < 0 ? MAP_FAILED
			 : mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

#define X(trap, name, params, args) *(void **)&real_##name = dlsym(RTLD_NEXT, #name);
	WAITS(X)
#undef X
	if (p != MAP_FAILED)
		page = p;
	if (fd >= 0)
		close(fd);
}
