#include "mediad/engine/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "ipc/env.h"
#include "mediad/engine/load.h"
#include "mediad/sandbox.h"
#include "proto/base/time.h"
#include "proto/rtp.h"

#define TICK_NS (NS_PER_MS * SENDER_TICK_MS)

enum { BATCH = 16, BATCHES = 4, HEAD = 2 /* the line's index before each datagram */ };
enum { ROOM_WAIT_MS = 2, SLICE_NS = 100000 };

/* Datagrams that come one by one in quick succession would each cost two threads a wake. Then the
 * sockets are read every PAUSE_NS instead, until there is little in them again. Commands and
 * deadlines wait for nothing. */
#define QUICK_NS (500 * NS_PER_US)
#define PAUSE_NS (2 * NS_PER_MS)
enum { QUICK_MANY = 16, PAUSE_FEW = 3 };

struct athread {
	struct env *env;
	struct ring *down, *up;
	uint32_t src_command, src_datagram, src_tick, src_ease;
	int wake_in, wake_out, timer;
	int ep, quiet; /* quiet: without the sockets */
	pthread_t thread;
	bool running;

	struct line *lines[THREAD_LINES];
	struct load load;
	unsigned eased; /* steps of complexity that all encoders are down */
	atomic_bool quit;
	bool told; /* wake_out is due */
	uint64_t armed;
	struct {
		bool on;
		uint64_t until, last; /* last: when datagrams were read */
		unsigned quick;	      /* so many reads in a row came soon after another */
	} pause;
	atomic_uint_fast64_t lost;
	uint8_t bufs[BATCH][HEAD + UDP_MAX_PACKET + 1];
};

/* ---- up ---- */

static bool push_up(const struct ev *ev, bool may_drop, void *arg)
{
	struct athread *t = arg;
	size_t room = ring_room(t->up);

	if (!env_answer(t->env, room > (may_drop ? THREAD_RESERVE : 0) ? 1 : 0)) {
		if (!may_drop)
			atomic_fetch_add_explicit(&t->lost, 1, memory_order_relaxed);
		return false;
	}
	ring_push(t->up, ev);
	t->told = true;
	return true;
}

/* ---- steps ---- */

/* Calls are spread over the 20 ms: 0, 10, 5, 15, 2.5, … so that few share a deadline at any number.
 */
static uint64_t phase_of(unsigned index)
{
	unsigned r = 0;

	for (unsigned b = 0; b < 6; b++)
		r |= (index >> b & 1) << (5 - b);
	return TICK_NS / 64 * r;
}

static void line_add(struct athread *t, struct line *l)
{
	for (unsigned i = 0; i < THREAD_LINES; i++) {
		if (t->lines[i])
			continue;
		t->lines[i] = l;
		line_start(l, t->env, i, phase_of(i), push_up, t);
		line_ease(l, t->eased);
		return;
	}
	/* engine_line_add keeps count, so there is always room. */
	push_up(&(struct ev){.type = EV_LINE_GONE, .line = l}, false, t);
}

static void line_remove(struct athread *t, struct line *l)
{
	line_stop(l);
	t->lines[l->index] = NULL;
	push_up(&(struct ev){.type = EV_LINE_GONE, .line = l}, false, t);
}

/* The kernel's side of lending a socket. */
static void watch(struct athread *t, struct line *l)
{
	struct epoll_event e = {.events = EPOLLIN, .data = {.u64 = l->index}};

	if (!env_replaying(t->env) && l->fd >= 0)
		epoll_ctl(t->ep, EPOLL_CTL_ADD, l->fd, &e);
}

/* Before the line gives it back: the loop thread may close it at once. */
static void unwatch(struct athread *t, struct line *l)
{
	if (!env_replaying(t->env) && l->fd >= 0)
		epoll_ctl(t->ep, EPOLL_CTL_DEL, l->fd, NULL);
}

static void on_command(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct athread *t = arg;
	struct cmd c;

	(void)kind, (void)data, (void)len;
	if (!ring_pop(t->down, &c))
		return;
	switch (c.type) {
	case CMD_LINE_ADD:
		line_add(t, c.line);
		break;
	case CMD_LINE_REMOVE:
		unwatch(t, c.line);
		line_remove(t, c.line);
		break;
	case CMD_LINK:
	case CMD_UNLINK:
		unwatch(t, c.line);
		line_command(c.line, &c);
		watch(t, c.line);
		break;
	default:
		line_command(c.line, &c);
		break;
	}
}

static void on_datagram(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct athread *t = arg;
	uint8_t packet[UDP_MAX_PACKET]; /* opened in place */
	unsigned index;

	(void)kind;
	if (len < HEAD || len > HEAD + UDP_MAX_PACKET)
		return;
	index = (unsigned)data[0] << 8 | data[1];
	if (index >= THREAD_LINES || !t->lines[index])
		return;
	memcpy(packet, data + HEAD, len - HEAD);
	line_datagram(t->lines[index], packet, len - HEAD);
}

/* Of packets the header, of the others what they are. */
static size_t shape(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size)
{
	static const char *const names[] = {"datagram", "rtp", "rtcp", "discovery", "keepalive"};
	struct rd r = rd_of(data, len);
	unsigned index = (unsigned)rd_be(&r, 2), pt, seq;
	enum udp_kind what = udp_classify(r.p + r.pos, rd_left(&r));
	uint32_t ts;
	size_t n = (size_t)snprintf(text, size, "%s line=%u", names[what], index);

	(void)kind;
	if (what != UDP_RTP)
		return n;
	pt = (unsigned)rd_be(&r, 2) & 127;
	seq = (unsigned)rd_be(&r, 2);
	ts = (uint32_t)rd_be(&r, 4);
	return n + (size_t)snprintf(text + n, size - n, " pt=%u seq=%u ts=%u ssrc=%u", pt, seq, ts,
				    (unsigned)rd_be(&r, 4));
}

static void on_tick(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct athread *t = arg;
	uint64_t now = env_now(t->env);

	(void)kind, (void)data, (void)len;
	for (unsigned i = 0; i < THREAD_LINES; i++)
		if (t->lines[i] && line_next(t->lines[i]) <= now)
			line_tick(t->lines[i]);
}

static void on_ease(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct athread *t = arg;

	(void)data, (void)len;
	t->eased = kind;
	for (unsigned i = 0; i < THREAD_LINES; i++)
		if (t->lines[i])
			line_ease(t->lines[i], kind);
}

/* ---- the loop ---- */

static uint64_t next_tick(const struct athread *t)
{
	uint64_t min = UINT64_MAX, next;

	for (unsigned i = 0; i < THREAD_LINES; i++) {
		if (!t->lines[i])
			continue;
		next = line_next(t->lines[i]);
		if (next < min)
			min = next;
	}
	return min;
}

static void arm(struct athread *t, uint64_t when)
{
	struct itimerspec its = {0};

	if (when == t->armed)
		return;
	t->armed = when;
	if (when != UINT64_MAX) {
		its.it_value.tv_sec = (time_t)(when / NS_PER_S);
		its.it_value.tv_nsec = (long)(when % NS_PER_S);
		if (!when)
			its.it_value.tv_nsec = 1;
	}
	timerfd_settime(t->timer, TFD_TIMER_ABSTIME, &its, NULL);
}

static void tick_if_due(struct athread *t)
{
	if (next_tick(t) <= env_now(t->env))
		env_deliver(t->env, t->src_tick, 0, NULL, 0);
}

/* Commands wait while the loop thread is behind with our events: those must not be lost. */
static void take_commands(struct athread *t)
{
	while (ring_count(t->down) && ring_room(t->up) >= THREAD_ROOM) {
		env_deliver(t->env, t->src_command, 0, NULL, 0);
		tick_if_due(t);
	}
}

/* How many there were. */
static unsigned take_datagrams(struct athread *t, unsigned index)
{
	struct mmsghdr msgs[BATCH];
	struct iovec iov[BATCH];
	struct line *l = index < THREAD_LINES ? t->lines[index] : NULL;
	unsigned got = 0;

	/* A few batches, then the others get their turn; epoll comes back to what is left. */
	for (unsigned round = 0; l && round < BATCHES; round++) {
		int n;

		memset(msgs, 0, sizeof msgs);
		for (unsigned i = 0; i < BATCH; i++) {
			iov[i].iov_base = t->bufs[i] + HEAD;
			iov[i].iov_len = UDP_MAX_PACKET + 1;
			msgs[i].msg_hdr.msg_iov = &iov[i];
			msgs[i].msg_hdr.msg_iovlen = 1;
		}
		/* ECONNREFUSED and the like are the network's mood: the socket stays. */
		n = recvmmsg(l->fd, msgs, BATCH, MSG_DONTWAIT, NULL);
		for (int i = 0; i < n; i++) {
			if (msgs[i].msg_len > UDP_MAX_PACKET)
				continue;
			t->bufs[i][0] = (uint8_t)(index >> 8);
			t->bufs[i][1] = (uint8_t)index;
			env_deliver(t->env, t->src_datagram, 0, t->bufs[i], HEAD + msgs[i].msg_len);
		}
		tick_if_due(t);
		got += n > 0 ? (unsigned)n : 0;
		if (n < BATCH)
			break;
	}
	return got;
}

/* So many datagrams were there: shall the next ones gather? */
static void pace_reading(struct athread *t, unsigned got)
{
	uint64_t now = env_now(t->env);

	if (!got)
		return;
	t->pause.quick = now - t->pause.last < QUICK_NS ? t->pause.quick + 1 : 0;
	t->pause.last = now;
	if (t->pause.on ? got < PAUSE_FEW : t->pause.quick >= QUICK_MANY)
		t->pause.on = !t->pause.on;
	t->pause.until = t->pause.on ? now + PAUSE_NS : 0;
}

static void wake_loop(struct athread *t)
{
	uint64_t one = 1;

	if (t->told && write(t->wake_out, &one, sizeof one) < 0) {
		/* Full: it is readable already. */
	}
	t->told = false;
}

void athread_turned(struct athread *t, uint64_t from, uint64_t to)
{
	unsigned eased = t->eased;

	if (load_busy(&t->load, from, to, &eased))
		env_deliver(t->env, t->src_ease, (uint8_t)eased, NULL, 0);
}

/* A frame must leave on its 20 ms, whatever else the machine does. Where real time is allowed
 * (RLIMIT_RTPRIO or CAP_SYS_NICE) the thread runs before all that is not; else a short slice makes
 * the scheduler come back to it soon (Linux 6.12; ignored before that). Neither is asked for again:
 * a thread that overruns eases its encoders. */
static void come_first(void)
{
	struct sched_param first = {.sched_priority = 1};
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline,
			period; /* of SCHED_OTHER: runtime is the slice, in ns */
	} slice = {.size = sizeof slice,
		   .policy = SCHED_OTHER,
		   .nice = getpriority(PRIO_PROCESS, 0),
		   .runtime = SLICE_NS};

	if (pthread_setschedparam(pthread_self(), SCHED_RR, &first))
		syscall(SYS_sched_setattr, 0, &slice, 0);
}

enum { TAG_WAKE = THREAD_LINES, TAG_TIMER };

static void *thread_main(void *arg)
{
	struct athread *t = arg;
	struct epoll_event evs[64];
	uint64_t drain, from;

	prctl(PR_SET_NAME, "audio"); /* for whoever looks from outside */
	come_first();
	sandbox_enter(SANDBOX_AUDIO);
	while (!atomic_load(&t->quit)) {
		bool pause = t->pause.until && env_now(t->env) < t->pause.until;
		uint64_t next = next_tick(t);
		unsigned got = 0;
		int n;

		arm(t, pause && t->pause.until < next ? t->pause.until : next);
		n = epoll_wait(pause ? t->quiet : t->ep, evs, 64,
			       ring_count(t->down) ? ROOM_WAIT_MS : -1);
		from = env_now(t->env);
		tick_if_due(t);
		for (int i = 0; i < n; i++) {
			unsigned tag = (unsigned)evs[i].data.u64;

			if (tag == TAG_TIMER || tag == TAG_WAKE) {
				if (read(tag == TAG_TIMER ? t->timer : t->wake_in, &drain,
					 sizeof drain) > 0 &&
				    tag == TAG_TIMER)
					t->armed = 0;
				continue;
			}
			got += take_datagrams(t, tag);
		}
		pace_reading(t, got);
		take_commands(t);
		wake_loop(t);
		athread_turned(t, from, env_now(t->env));
	}
	return NULL;
}

/* ---- made, run, ended by the loop thread ---- */

static int add_fd(struct athread *t, int fd, uint64_t tag)
{
	struct epoll_event e = {.events = EPOLLIN, .data = {.u64 = tag}};

	return fd < 0 || epoll_ctl(t->ep, EPOLL_CTL_ADD, fd, &e) < 0 ||
			       epoll_ctl(t->quiet, EPOLL_CTL_ADD, fd, &e) < 0
		       ? errno
		       : 0;
}

static int open_fds(struct athread *t)
{
	int err;

	t->ep = epoll_create1(EPOLL_CLOEXEC);
	t->quiet = epoll_create1(EPOLL_CLOEXEC);
	t->wake_in = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	t->wake_out = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (t->ep < 0 || t->quiet < 0 || t->wake_out < 0)
		return errno;
	err = add_fd(t, t->wake_in, TAG_WAKE);
	return err ? err : add_fd(t, t->timer, TAG_TIMER);
}

int athread_alloc(struct athread **out, uint8_t number, bool replaying, struct journal *journal)
{
	struct env_conf conf = {.thread = number, .replaying = replaying, .journal = journal};
	struct athread *t = calloc(1, sizeof *t);
	int err;

	if (!t)
		return ENOMEM;
	t->wake_in = t->wake_out = t->ep = t->quiet = t->timer = -1;
	t->armed = UINT64_MAX;
	err = env_alloc(&t->env, &conf);
	if (err)
		goto out;
	err = ring_alloc(&t->down, sizeof(struct cmd),
			 replaying ? THREAD_RING_REPLAY : THREAD_DOWN);
	if (err)
		goto out;
	err = ring_alloc(&t->up, sizeof(struct ev), replaying ? THREAD_RING_REPLAY : THREAD_UP);
	if (err)
		goto out;
	err = env_source_add(t->env, &t->src_command, on_command, t);
	if (!err)
		err = env_source_add(t->env, &t->src_datagram, on_datagram, t);
	if (!err)
		err = env_source_add(t->env, &t->src_tick, on_tick, t);
	if (!err)
		err = env_source_add(t->env, &t->src_ease, on_ease, t);
	if (!err)
		env_source_shape(t->env, t->src_datagram, shape);
	if (!err && !replaying)
		err = open_fds(t);
out:
	if (err)
		athread_free(t);
	else
		*out = t;
	return err;
}

int athread_run(struct athread *t)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&t->thread, NULL, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	t->running = !err;
	return err;
}

void athread_join(struct athread *t)
{
	uint64_t one = 1;

	if (!t->running)
		return;
	atomic_store(&t->quit, true);
	if (write(t->wake_in, &one, sizeof one) < 0) {
		/* Full: it is readable already. */
	}
	pthread_join(t->thread, NULL);
	t->running = false;
}

struct athread *athread_free(struct athread *t)
{
	struct cmd c;
	struct ev e;

	if (!t)
		return NULL;
	athread_join(t);
	while (t->up && ring_pop(t->up, &e))
		ev_dispose(&e);
	while (t->down && ring_pop(t->down, &c))
		cmd_dispose(&c);
	for (unsigned i = 0; i < THREAD_LINES; i++)
		line_free(t->lines[i]);
	ring_free(t->up);
	ring_free(t->down);
	env_free(t->env);
	for (unsigned i = 0; i < 5; i++) {
		int fd = (const int[]){t->wake_in, t->wake_out, t->ep, t->quiet, t->timer}[i];

		if (fd >= 0)
			close(fd);
	}
	free(t);
	return NULL;
}

struct env *athread_env(struct athread *t)
{
	return t->env;
}

bool athread_push(struct athread *t, const struct cmd *cmd)
{
	return ring_push(t->down, cmd);
}

void athread_wake(struct athread *t)
{
	uint64_t one = 1;

	if (t->wake_in >= 0 && write(t->wake_in, &one, sizeof one) < 0) {
		/* Full: it is readable already. */
	}
}

bool athread_pop(struct athread *t, struct ev *ev)
{
	return ring_pop(t->up, ev);
}

size_t athread_waiting(const struct athread *t)
{
	return ring_count(t->up);
}

uint64_t athread_lost(const struct athread *t)
{
	return atomic_load_explicit(&t->lost, memory_order_relaxed);
}

int athread_fd(const struct athread *t)
{
	return t->wake_out;
}
