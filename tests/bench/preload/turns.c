/* A library for LD_PRELOAD that measures the turns of a program's main loop: the CPU time of the
 * main thread, and the time that passed, from each return of epoll_wait to its next call. The first
 * epoll descriptor that the main thread waits on is the loop's; a nested loop polls another one,
 * inside a turn. */
#include "tests/bench/preload/turns.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct turns_page *page;
static int loop = -1;
static bool running;
static uint64_t cpu_at, wall_at;

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

__attribute__((constructor)) static void map_page(void)
{
	const char *path = getenv("TURNS_PAGE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd < 0 ? MAP_FAILED
			 : mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	page = p == MAP_FAILED ? NULL : p;
	if (fd >= 0)
		close(fd);
	/* Children of the program are not measured. */
	unsetenv("TURNS_PAGE");
	unsetenv("LD_PRELOAD");
}

static void record_turn(void)
{
	uint64_t cpu = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu_at;
	uint64_t wall = read_clock(CLOCK_MONOTONIC) - wall_at;
	unsigned i;

	if (!atomic_load_explicit(&page->on, memory_order_relaxed))
		return;
	i = atomic_fetch_add(&page->n, 1);
	if (i >= TURNS_MAX)
		return;
	page->turn[i].cpu_ns = cpu < UINT32_MAX ? (uint32_t)cpu : UINT32_MAX;
	page->turn[i].wall_ns = wall < UINT32_MAX ? (uint32_t)wall : UINT32_MAX;
}

int epoll_wait(int epfd, struct epoll_event *events, int max, int timeout)
{
	static int (*real)(int, struct epoll_event *, int, int);
	bool ours = page && (loop < 0 || epfd == loop) && getpid() == (pid_t)syscall(SYS_gettid);
	int n;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "epoll_wait");
	if (!ours)
		return real(epfd, events, max, timeout);
	loop = epfd;
	if (running)
		record_turn();
	n = real(epfd, events, max, timeout);
	running = true;
	wall_at = read_clock(CLOCK_MONOTONIC);
	cpu_at = read_clock(CLOCK_THREAD_CPUTIME_ID);
	return n;
}
