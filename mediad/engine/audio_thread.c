#include "mediad/engine/audio_thread.h"

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
#include "mediad/sandbox/sandbox.h"
#include "proto/base/touch.h"
#include "proto/rtp.h"

#define TICK_NS (UINT64_C(1000000) * SENDER_TICK_MS)

enum { BATCH = 16, BATCHES = 4, HEAD = 2 /* the stream's index, before each datagram */ };
enum { ROOM_WAIT_MS = 2, SLICE_NS = 100000, RT_LIMIT_US = 1000000 };

/* Datagrams that arrive one by one in quick succession would each cost two threads a wake. After
 * COALESCE_AFTER such reads the sockets are read every COALESCE_NS instead, until fewer than
 * COALESCE_MIN datagrams arrive per read. Commands and deadlines are not delayed. */
#define COALESCE_GAP_NS (UINT64_C(500000))
#define COALESCE_NS	(UINT64_C(2000000))
enum { COALESCE_AFTER = 16, COALESCE_MIN = 3 };

struct audio_thread {
	struct env *env;
	struct ring *down, *up, *down_pcm, *up_pcm;
	int16_t said[ENTRY_PCM];  /* audio thread: of the command at hand */
	int16_t heard[ENTRY_PCM]; /* loop thread: of the event at hand */
	uint32_t src_command, src_datagram, src_tick, src_degrade;
	int wake_in, wake_out, timer;
	int ep, ep_no_sockets; /* ep_no_sockets: wakes for commands and the timer only */
	pthread_t thread;
	bool running;

	struct call_stream *streams[THREAD_STREAMS];
	struct load load;
	unsigned degraded; /* steps by which all encoders are degraded */
	atomic_bool quit;
	bool wake_due; /* the loop thread is to be woken */
	uint64_t armed;
	struct {
		bool on;
		uint64_t until, last; /* last: when datagrams were read */
		unsigned quick;	      /* reads in a row that came within COALESCE_GAP_NS */
	} coalesce;
	atomic_uint_fast64_t lost;
	uint8_t bufs[BATCH][HEAD + UDP_MAX_PACKET + 1];
};

/* ---- events ---- */

static bool push_event(const struct ev *ev, bool may_drop, void *arg)
{
	struct audio_thread *t = arg;
	bool fits = ring_room(t->up) > (may_drop ? THREAD_RESERVE : 0) &&
		    (ev->type != EV_HEARD || ring_room(t->up_pcm));

	if (!env_answer(t->env, fits ? 1 : 0)) {
		if (!may_drop)
			atomic_fetch_add_explicit(&t->lost, 1, memory_order_relaxed);
		return false;
	}
	/* The audio first: who sees the event finds it. */
	if (ev->type == EV_HEARD)
		ring_push_part(t->up_pcm, ev->heard.pcm, ev->heard.n * sizeof *ev->heard.pcm);
	ring_push(t->up, ev);
	t->wake_due = true;
	return true;
}

/* ---- steps ---- */

/* Returns the phase of a stream within the 20 ms: 0, 10, 5, 15, 2.5, … ms. At any number of calls
 * few share a deadline. */
static uint64_t stream_phase(unsigned index)
{
	unsigned r = 0;

	for (unsigned b = 0; b < 6; b++)
		r |= (index >> b & 1) << (5 - b);
	return TICK_NS / 64 * r;
}

static void add_stream(struct audio_thread *t, struct call_stream *cs)
{
	for (unsigned i = 0; i < THREAD_STREAMS; i++) {
		if (t->streams[i])
			continue;
		t->streams[i] = cs;
		call_stream_attach(cs, t->env, i, stream_phase(i), push_event, t);
		call_stream_set_degradation(cs, t->degraded);
		return;
	}
	/* engine_add_stream counts the streams, so this does not happen. */
	push_event(&(struct ev){.type = EV_STREAM_GONE, .stream = cs}, false, t);
}

static void remove_stream(struct audio_thread *t, struct call_stream *cs)
{
	call_stream_stop(cs);
	t->streams[cs->index] = NULL;
	push_event(&(struct ev){.type = EV_STREAM_GONE, .stream = cs}, false, t);
}

/* Adds the socket of a stream to epoll. */
static void watch_socket(struct audio_thread *t, struct call_stream *cs)
{
	struct epoll_event e = {.events = EPOLLIN, .data = {.u64 = cs->index}};

	if (!env_replaying(t->env) && cs->fd >= 0)
		epoll_ctl(t->ep, EPOLL_CTL_ADD, cs->fd, &e);
}

/* Must run before the stream returns the socket, because the loop thread may close it at once. */
static void unwatch_socket(struct audio_thread *t, struct call_stream *cs)
{
	if (!env_replaying(t->env) && cs->fd >= 0)
		epoll_ctl(t->ep, EPOLL_CTL_DEL, cs->fd, NULL);
}

static void on_command(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct audio_thread *t = arg;
	struct cmd c;

	(void)kind, (void)data, (void)len;
	if (!ring_pop(t->down, &c))
		return;
	if (c.type == CMD_LANE_PCM) {
		ring_pop(t->down_pcm, t->said);
		c.lane.pcm = t->said;
	}
	switch (c.type) {
	case CMD_STREAM_ADD:
		add_stream(t, c.stream);
		break;
	case CMD_STREAM_REMOVE:
		unwatch_socket(t, c.stream);
		remove_stream(t, c.stream);
		break;
	case CMD_LINK:
	case CMD_UNLINK:
		unwatch_socket(t, c.stream);
		call_stream_run_command(c.stream, &c);
		watch_socket(t, c.stream);
		break;
	default:
		call_stream_run_command(c.stream, &c);
		break;
	}
}

static void on_datagram(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct audio_thread *t = arg;
	uint8_t packet[UDP_MAX_PACKET]; /* decrypted in place */
	unsigned index;

	(void)kind;
	if (len < HEAD || len > HEAD + UDP_MAX_PACKET)
		return;
	index = (unsigned)data[0] << 8 | data[1];
	if (index >= THREAD_STREAMS || !t->streams[index])
		return;
	memcpy(packet, data + HEAD, len - HEAD);
	call_stream_receive(t->streams[index], packet, len - HEAD);
}

/* Describes a datagram for journal shapes: the kind, and of RTP the header fields. The word "line"
 * stands for the stream in recorded shapes. */
static size_t describe_datagram(uint8_t kind, const uint8_t *data, size_t len, char *text,
				size_t size)
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
	struct audio_thread *t = arg;
	uint64_t now = env_now(t->env);

	(void)kind, (void)data, (void)len;
	for (unsigned i = 0; i < THREAD_STREAMS; i++)
		if (t->streams[i] && call_stream_next(t->streams[i]) <= now)
			call_stream_tick(t->streams[i]);
}

static void on_degrade(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct audio_thread *t = arg;

	(void)data, (void)len;
	t->degraded = kind;
	for (unsigned i = 0; i < THREAD_STREAMS; i++)
		if (t->streams[i])
			call_stream_set_degradation(t->streams[i], kind);
}

/* ---- the loop ---- */

static uint64_t next_tick(const struct audio_thread *t)
{
	uint64_t min = UINT64_MAX, next;

	for (unsigned i = 0; i < THREAD_STREAMS; i++) {
		if (!t->streams[i])
			continue;
		next = call_stream_next(t->streams[i]);
		if (next < min)
			min = next;
	}
	return min;
}

static void arm_timer(struct audio_thread *t, uint64_t when)
{
	struct itimerspec its = {0};

	if (when == t->armed)
		return;
	t->armed = when;
	if (when != UINT64_MAX) {
		its.it_value.tv_sec = (time_t)(when / 1000000000);
		its.it_value.tv_nsec = (long)(when % 1000000000);
		if (!when)
			its.it_value.tv_nsec = 1;
	}
	timerfd_settime(t->timer, TFD_TIMER_ABSTIME, &its, NULL);
}

static void tick_if_due(struct audio_thread *t)
{
	if (next_tick(t) <= env_now(t->env))
		env_deliver(t->env, t->src_tick, 0, NULL, 0);
}

/* Commands wait while the loop thread is behind with reading events, because events must not be
 * lost. */
static void deliver_commands(struct audio_thread *t)
{
	while (ring_count(t->down) && ring_room(t->up) >= THREAD_ROOM) {
		env_deliver(t->env, t->src_command, 0, NULL, 0);
		tick_if_due(t);
	}
}

/* Reads the datagrams of a stream and returns how many there were. While the loop thread is behind
 * they wait in the kernel. */
static unsigned deliver_datagrams(struct audio_thread *t, unsigned index)
{
	struct mmsghdr msgs[BATCH];
	struct iovec iov[BATCH];
	struct call_stream *cs = index < THREAD_STREAMS ? t->streams[index] : NULL;
	unsigned got = 0;

	/* Reads a few batches, then gives other sockets their turn; epoll reports the rest again.
	 */
	for (unsigned round = 0; cs && round < BATCHES && ring_room(t->up) >= THREAD_ROOM_DATAGRAM;
	     round++) {
		int n;

		memset(msgs, 0, sizeof msgs);
		for (unsigned i = 0; i < BATCH; i++) {
			iov[i].iov_base = t->bufs[i] + HEAD;
			iov[i].iov_len = UDP_MAX_PACKET + 1;
			msgs[i].msg_hdr.msg_iov = &iov[i];
			msgs[i].msg_hdr.msg_iovlen = 1;
		}
		/* Errors such as ECONNREFUSED come from the network and pass; the socket stays. */
		n = recvmmsg(cs->fd, msgs, BATCH, MSG_DONTWAIT, NULL);
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

/* Decides from the number of datagrams just read whether reads are coalesced from now on. */
static void update_coalescing(struct audio_thread *t, unsigned got)
{
	uint64_t now = env_now(t->env);

	if (!got)
		return;
	t->coalesce.quick = now - t->coalesce.last < COALESCE_GAP_NS ? t->coalesce.quick + 1 : 0;
	t->coalesce.last = now;
	if (t->coalesce.on ? got < COALESCE_MIN : t->coalesce.quick >= COALESCE_AFTER)
		t->coalesce.on = !t->coalesce.on;
	t->coalesce.until = t->coalesce.on ? now + COALESCE_NS : 0;
}

static void wake_loop_thread(struct audio_thread *t)
{
	uint64_t one = 1;

	if (t->wake_due && write(t->wake_out, &one, sizeof one) < 0) {
		/* Full: it is readable already. */
	}
	t->wake_due = false;
}

void audio_thread_measure(struct audio_thread *t, uint64_t from, uint64_t to)
{
	unsigned degraded = t->degraded;

	if (load_measure(&t->load, from, to, &degraded))
		env_deliver(t->env, t->src_degrade, (uint8_t)degraded, NULL, 0);
}

/* SIGXCPU reaches the thread that computed for RT_LIMIT_US without waiting. It goes on without
 * real-time priority: an endless loop or a hopeless load must not take the core from all others. */
static void give_up_priority(int sig)
{
	struct sched_param normal = {0};
	int err = errno;

	(void)sig;
	syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &normal);
	errno = err;
}

static void limit_real_time(void)
{
	struct sigaction act = {.sa_handler = give_up_priority, .sa_flags = SA_RESTART};
	struct rlimit limit;

	if (getrlimit(RLIMIT_RTTIME, &limit))
		return;
	limit.rlim_cur = limit.rlim_max < RT_LIMIT_US ? limit.rlim_max : RT_LIMIT_US;
	sigaction(SIGXCPU, &act, NULL);
	setrlimit(RLIMIT_RTTIME, &limit);
}

/* A frame must leave at its 20 ms deadline whatever else the machine does. Where real time is
 * allowed (RLIMIT_RTPRIO or CAP_SYS_NICE) the thread runs before all normal threads; elsewhere a
 * short slice makes the scheduler return to it soon (Linux 6.12; ignored before). A failure is not
 * handled: a thread that misses deadlines degrades its encoders. */
void audio_thread_raise_priority(void)
{
	struct sched_param first = {.sched_priority = 1};
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline,
			period; /* for SCHED_OTHER the runtime is the slice, in ns */
	} slice = {.size = sizeof slice,
		   .policy = SCHED_OTHER,
		   .nice = getpriority(PRIO_PROCESS, 0),
		   .runtime = SLICE_NS};

	limit_real_time();
	if (pthread_setschedparam(pthread_self(), SCHED_RR, &first))
		syscall(SYS_sched_setattr, 0, &slice, 0);
}

enum { TAG_WAKE = THREAD_STREAMS, TAG_TIMER };

static void *thread_main(void *arg)
{
	struct audio_thread *t = arg;
	struct epoll_event evs[64];
	uint64_t drain, from;

	prctl(PR_SET_NAME, "audio"); /* for ps and top */
	audio_thread_raise_priority();
	sandbox_require(SANDBOX_AUDIO);
	while (!atomic_load(&t->quit)) {
		bool coalesce = t->coalesce.until && env_now(t->env) < t->coalesce.until;
		uint64_t next = next_tick(t);
		unsigned got = 0;
		bool full;
		int n;

		arm_timer(t, coalesce && t->coalesce.until < next ? t->coalesce.until : next);
		full = ring_room(t->up) < THREAD_ROOM_DATAGRAM;
		n = epoll_wait(coalesce || full ? t->ep_no_sockets : t->ep, evs, 64,
			       full || ring_count(t->down) ? ROOM_WAIT_MS : -1);
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
			got += deliver_datagrams(t, tag);
		}
		update_coalescing(t, got);
		deliver_commands(t);
		wake_loop_thread(t);
		audio_thread_measure(t, from, env_now(t->env));
	}
	return NULL;
}

/* ---- loop thread: made, run, ended ---- */

static int add_fd(struct audio_thread *t, int fd, uint64_t tag)
{
	struct epoll_event e = {.events = EPOLLIN, .data = {.u64 = tag}};

	return fd < 0 || epoll_ctl(t->ep, EPOLL_CTL_ADD, fd, &e) < 0 ||
			       epoll_ctl(t->ep_no_sockets, EPOLL_CTL_ADD, fd, &e) < 0
		       ? errno
		       : 0;
}

static int open_fds(struct audio_thread *t)
{
	int err;

	t->ep = epoll_create1(EPOLL_CLOEXEC);
	t->ep_no_sockets = epoll_create1(EPOLL_CLOEXEC);
	t->wake_in = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	t->wake_out = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (t->ep < 0 || t->ep_no_sockets < 0 || t->wake_out < 0)
		return errno;
	err = add_fd(t, t->wake_in, TAG_WAKE);
	return err ? err : add_fd(t, t->timer, TAG_TIMER);
}

/* Page faults are taken here, by the loop thread. */
static void touch_memory(struct audio_thread *t)
{
	ring_touch(t->down);
	ring_touch(t->up);
	ring_touch(t->down_pcm);
	ring_touch(t->up_pcm);
	touch_pages(t->bufs, sizeof t->bufs);
}

int audio_thread_alloc(struct audio_thread **out, uint8_t number, bool replaying,
		       struct journal *journal)
{
	struct env_conf conf = {.thread = number, .replaying = replaying, .journal = journal};
	struct audio_thread *t = calloc(1, sizeof *t);
	int err;

	if (!t)
		return ENOMEM;
	t->wake_in = t->wake_out = t->ep = t->ep_no_sockets = t->timer = -1;
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
	err = ring_alloc(&t->down_pcm, sizeof t->said,
			 replaying ? THREAD_RING_REPLAY : THREAD_DOWN_PCM);
	if (err)
		goto out;
	err = ring_alloc(&t->up_pcm, sizeof t->heard,
			 replaying ? THREAD_RING_REPLAY : THREAD_UP_PCM);
	if (err)
		goto out;
	err = env_source_add(t->env, &t->src_command, on_command, t);
	if (!err)
		err = env_source_add(t->env, &t->src_datagram, on_datagram, t);
	if (!err)
		err = env_source_add(t->env, &t->src_tick, on_tick, t);
	if (!err)
		err = env_source_add(t->env, &t->src_degrade, on_degrade, t);
	if (!err)
		env_source_shape(t->env, t->src_datagram, describe_datagram);
	if (!err && !replaying) {
		touch_memory(t);
		err = open_fds(t);
	}
out:
	if (err)
		audio_thread_free(t);
	else
		*out = t;
	return err;
}

int audio_thread_run(struct audio_thread *t)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	sigdelset(&all, SIGXCPU);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&t->thread, NULL, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	t->running = !err;
	return err;
}

void audio_thread_join(struct audio_thread *t)
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

struct audio_thread *audio_thread_free(struct audio_thread *t)
{
	struct cmd c;
	struct ev e;

	if (!t)
		return NULL;
	audio_thread_join(t);
	while (t->up && ring_pop(t->up, &e))
		ev_dispose(&e);
	while (t->down && ring_pop(t->down, &c))
		cmd_dispose(&c);
	for (unsigned i = 0; i < THREAD_STREAMS; i++)
		call_stream_free(t->streams[i]);
	ring_free(t->up);
	ring_free(t->down);
	ring_free(t->up_pcm);
	ring_free(t->down_pcm);
	env_free(t->env);
	for (unsigned i = 0; i < 5; i++) {
		int fd = (const int[]){t->wake_in, t->wake_out, t->ep, t->ep_no_sockets,
				       t->timer}[i];

		if (fd >= 0)
			close(fd);
	}
	free(t);
	return NULL;
}

struct env *audio_thread_env(struct audio_thread *t)
{
	return t->env;
}

bool audio_thread_push(struct audio_thread *t, const struct cmd *cmd)
{
	if (cmd->type != CMD_LANE_PCM)
		return ring_push(t->down, cmd);
	return ring_room(t->down) &&
	       ring_push_part(t->down_pcm, cmd->lane.pcm, cmd->lane.n * sizeof *cmd->lane.pcm) &&
	       ring_push(t->down, cmd);
}

void audio_thread_wake(struct audio_thread *t)
{
	uint64_t one = 1;

	if (t->wake_in >= 0 && write(t->wake_in, &one, sizeof one) < 0) {
		/* Full: it is readable already. */
	}
}

bool audio_thread_pop(struct audio_thread *t, struct ev *ev)
{
	if (!ring_pop(t->up, ev))
		return false;
	if (ev->type == EV_HEARD) {
		ring_pop(t->up_pcm, t->heard);
		ev->heard.pcm = t->heard;
	}
	return true;
}

size_t audio_thread_waiting(const struct audio_thread *t)
{
	return ring_count(t->up);
}

uint64_t audio_thread_lost(const struct audio_thread *t)
{
	return atomic_load_explicit(&t->lost, memory_order_relaxed);
}

int audio_thread_fd(const struct audio_thread *t)
{
	return t->wake_out;
}
