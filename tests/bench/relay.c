#include "tests/bench/relay.h"

#include "mediad/engine/priority.h"
#include "proto/base/ring.h"
#include "proto/rtp.h"
#include "tests/bench/bench.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RATE = 24000, PCM = RATE / 50, BATCH = 16, RING = 512, AGES = 1 << 16, AT_ONCE = 64 };

struct frame {
	uint64_t at;
	uint8_t head[32]; /* as much as the head of HEARD has */
	int16_t pcm[PCM];
};

/* What the reader tells. */
struct page {
	atomic_uint_fast64_t frames;
	float age[AGES];
};

struct relay {
	struct page *page;
	uint64_t taken;
	pid_t pid[2];
	clockid_t clock[2];
	int udp;
};

/* ---- in the process with the decoders ---- */

static struct receiving {
	struct bare_receiver *const *receivers;
	unsigned n;
	int udp, out, wake;
	struct ring *ring;
} receiving;

static int watch(int fd, uint32_t events)
{
	struct epoll_event e = {.events = events};
	int ep = epoll_create1(EPOLL_CLOEXEC);

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e))
		bench_die("epoll does not work");
	return ep;
}

static void *run_audio(void *arg)
{
	static uint8_t bufs[BATCH][UDP_MAX_PACKET + 1];
	struct mmsghdr msgs[BATCH];
	struct iovec iov[BATCH];
	struct epoll_event e;
	struct frame f = {0};
	const struct timespec group = {.tv_nsec = BATCH * 20000000 / (long)receiving.n};
	uint64_t one = 1;
	int ep = watch(receiving.udp, EPOLLIN), n;

	(void)arg;
	prctl(PR_SET_TIMERSLACK, 1);
	priority_raise(NULL);
	for (;;) {
		epoll_pwait2(ep, &e, 1, NULL, NULL);
		if (receiving.n > BATCH)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &group, NULL);
		memset(msgs, 0, sizeof msgs);
		for (unsigned i = 0; i < BATCH; i++) {
			iov[i] = (struct iovec){bufs[i], sizeof bufs[i]};
			msgs[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i], .msg_iovlen = 1};
		}
		n = recvmmsg(receiving.udp, msgs, BATCH, MSG_DONTWAIT, NULL);
		for (int i = 0; i < n; i++) {
			f.at = bench_clock();
			if (bufs[i][0] < receiving.n &&
			    bare_receiver_decode(receiving.receivers[bufs[i][0]], bufs[i] + 1,
						 msgs[i].msg_len - 1, f.pcm))
				ring_push(receiving.ring, &f);
		}
		if (n > 0 && write(receiving.wake, &one, sizeof one) < 0)
			bench_die("the eventfd is full");
	}
	return NULL;
}

/* As mediad's loop thread: never reads the eventfd, and sends what waits with one call. */
static void run_loop(void)
{
	static struct frame f[AT_ONCE];
	struct iovec iov[AT_ONCE];
	struct epoll_event e;
	pthread_t audio;
	int ep = watch(receiving.wake, EPOLLIN | EPOLLET);

	if (pthread_create(&audio, NULL, run_audio, NULL))
		bench_die("no thread");
	for (;;) {
		struct msghdr m = {.msg_iov = iov};

		epoll_wait(ep, &e, 1, -1);
		while (m.msg_iovlen < AT_ONCE && ring_pop(receiving.ring, &f[m.msg_iovlen])) {
			iov[m.msg_iovlen] = (struct iovec){&f[m.msg_iovlen], sizeof f[0]};
			m.msg_iovlen++;
		}
		if (m.msg_iovlen && sendmsg(receiving.out, &m, MSG_NOSIGNAL) < 0)
			_exit(0);
	}
}

/* ---- in the reader ---- */

static void run_reader(int in, struct page *page)
{
	static uint8_t buf[AT_ONCE * sizeof(struct frame)];
	struct epoll_event e;
	size_t have = 0;
	int ep = watch(in, EPOLLIN);

	for (;;) {
		size_t at = 0;
		ssize_t n;

		epoll_wait(ep, &e, 1, -1);
		n = recv(in, buf + have, sizeof buf - have, MSG_DONTWAIT);
		if (n == 0)
			_exit(0);
		have += n > 0 ? (size_t)n : 0;
		for (; have - at >= sizeof(struct frame); at += sizeof(struct frame)) {
			uint64_t stamp, i = atomic_load(&page->frames);

			memcpy(&stamp, buf + at, sizeof stamp);
			page->age[i % AGES] = (float)(bench_clock() - stamp) / 1000;
			atomic_store(&page->frames, i + 1);
		}
		memmove(buf, buf + at, have - at);
		have -= at;
	}
}

/* ---- the bench's side ---- */

/* Two connected UDP sockets. */
static void pair_udp(int fds[2])
{
	struct sockaddr_in at[2];
	socklen_t n = sizeof at[0];

	for (unsigned i = 0; i < 2; i++) {
		at[i] = (struct sockaddr_in){.sin_family = AF_INET,
					     .sin_addr = {htonl(INADDR_LOOPBACK)}};
		fds[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (fds[i] < 0 || bind(fds[i], (struct sockaddr *)&at[i], sizeof at[i]) ||
		    getsockname(fds[i], (struct sockaddr *)&at[i], &n))
			bench_die("no UDP socket");
	}
	for (unsigned i = 0; i < 2; i++)
		if (connect(fds[i], (struct sockaddr *)&at[1 - i], sizeof at[0]))
			bench_die("no UDP socket");
}

/* Keeps these two descriptors alone, as 3 and 4: others belong to mediad's peers. */
static void keep_descriptors(int *a, int *b)
{
	int high[2] = {dup(*a), dup(*b)};

	if (dup2(high[0], 1000) < 0 || dup2(high[1], 1001) < 0 || dup2(1000, 3) < 0 ||
	    dup2(1001, 4) < 0)
		_exit(1);
	close_range(5, ~0U, 0);
	*a = 3;
	*b = 4;
}

static pid_t fork_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		bench_die("no process");
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

void relay_alloc(struct relay **out, struct bare_receiver *const *receivers, unsigned n)
{
	struct relay *r = calloc(1, sizeof *r);
	int udp[2], link[2];

	if (!r)
		bench_die("out of memory");
	r->page = mmap(NULL, sizeof *r->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (r->page == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link))
		bench_die("the relay does not start");
	pair_udp(udp);
	r->pid[0] = fork_child();
	if (!r->pid[0]) {
		keep_descriptors(&udp[1], &link[0]);
		receiving = (struct receiving){
			.receivers = receivers, .n = n, .udp = udp[1], .out = link[0]};
		receiving.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		BENCH_OK(ring_alloc(&receiving.ring, sizeof(struct frame), RING));
		run_loop();
	}
	r->pid[1] = fork_child();
	if (!r->pid[1]) {
		keep_descriptors(&link[1], &link[1]);
		run_reader(link[1], r->page);
	}
	close(udp[1]);
	close(link[0]);
	close(link[1]);
	r->udp = udp[0];
	for (unsigned i = 0; i < 2; i++)
		if (clock_getcpuclockid(r->pid[i], &r->clock[i]))
			bench_die("the relay has no clock");
	*out = r;
}

struct relay *relay_free(struct relay *r)
{
	if (!r)
		return NULL;
	for (unsigned i = 0; i < 2; i++) {
		kill(r->pid[i], SIGKILL);
		waitpid(r->pid[i], NULL, 0);
	}
	close(r->udp);
	munmap(r->page, sizeof *r->page);
	free(r);
	return NULL;
}

void relay_send(unsigned call, unsigned speaker, const uint8_t *p, size_t n, void *relay)
{
	struct relay *r = relay;
	uint8_t who = (uint8_t)speaker;
	struct iovec iov[] = {{&who, 1}, {(void *)p, n}};
	struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};

	(void)call;
	if (sendmsg(r->udp, &m, 0) < 0)
		bench_die("the relay is gone");
}

uint64_t relay_cpu(const struct relay *r, unsigned which)
{
	struct timespec ts;

	clock_gettime(r->clock[which], &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

pid_t relay_pid(const struct relay *r, unsigned which)
{
	return r->pid[which];
}

uint64_t relay_frames(const struct relay *r)
{
	return atomic_load(&r->page->frames);
}

size_t relay_ages(struct relay *r, double *out, size_t max)
{
	uint64_t end = relay_frames(r);
	size_t n = 0;

	while (r->taken < end && n < max)
		out[n++] = r->page->age[r->taken++ % AGES];
	r->taken = end;
	return n;
}
