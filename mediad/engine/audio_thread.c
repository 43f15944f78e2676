#include "mediad/engine/audio_thread.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "mediad/engine/batching.h"
#include "mediad/engine/deadlines.h"
#include "mediad/engine/load.h"
#include "mediad/engine/music_feed.h"
#include "mediad/engine/overflow.h"
#include "mediad/engine/priority.h"
#include "mediad/sandbox/sandbox.h"
#include "proto/base/not_cleared.h"
#include "proto/base/time.h"
#include "proto/base/touch.h"
#include "proto/rtp.h"

static_assert((int)BATCHING_STREAMS == (int)THREAD_STREAMS, "a bit for each stream");
static_assert((int)DEADLINES == (int)THREAD_STREAMS, "a deadline for each stream");

#define TICK_NS (UINT64_C(1000000) * SENDER_TICK_MS)

enum { TAG_WAKE = THREAD_STREAMS, EVENTS = 64 };
enum { BATCH = 16, BATCHES = 4, HEAD = 2 /* the stream's index, before each datagram */ };
/* A kind of the input from sockets that is no datagram: the kernel's count (overflow.h). */
enum { OVERFLOW = 1 };
enum {
	ROOM_WAIT_NS = 2000000,
	BUDGET_NS = 5000000,  /* of encoding, datagrams or commands, before the loop goes on */
	STALL_NS = 100000000, /* a tick that is later than this tells of a stall */
	PHASES = 8,
	/* Encoding stereo takes 55 to 59 KiB in libopus, and the frames above it 21. */
	STACK_DEPTH = 96 << 10,
};

struct audio_thread {
	struct env *env;
	struct ring *down, *up, *down_pcm, *up_pcm;
	int16_t said[ENTRY_PCM];  /* audio thread: of the command at hand */
	int16_t heard[ENTRY_PCM]; /* loop thread: of the event at hand */
	uint32_t src_command, src_datagram, src_tick, src_work, src_degrade, src_music;
	int wake_in, wake_out;
	int ep, ep_no_sockets; /* ep_no_sockets: wakes for commands only */
	bool has_pwait2;       /* the system lets us call epoll_pwait2 */
	pthread_t thread;
	bool running;

	struct call_stream *streams[THREAD_STREAMS];
	struct deadlines deadlines;    /* none while the work of a stream is due */
	uint64_t due;		       /* none of them is before */
	uint64_t ticked_at, rested_at; /* rested_at: when the thread last slept */
	/* Streams whose call_stream_work is due, the oldest first. */
	uint16_t work[THREAD_STREAMS];
	unsigned n_work;
	bool more;	     /* the last turn left work or commands */
	unsigned next_event; /* whose socket is read first, by its place among the events */
	struct load load;
	unsigned degraded; /* steps by which all encoders are degraded */
	atomic_bool quit, lost_real_time;
	struct batching batching;
	int16_t music[MUSIC_FEED_MAX / sizeof(int16_t)];
	struct music_feed feed; /* the one at hand */
	uint8_t bufs[BATCH][HEAD + UDP_MAX_PACKET + 1];
};

/* ---- events ---- */

/* True if an event may wait, so that those of several streams share a wake. */
static bool is_patient(enum ev_type type)
{
	return type == EV_LANE_PROGRESS || type == EV_MUSIC_PROGRESS || type == EV_CALL_STATS ||
	       type == EV_USER_STATS;
}

static bool push_event(const struct ev *ev, bool may_drop, void *arg)
{
	struct audio_thread *t = arg;
	bool fits = ring_room(t->up) > (may_drop ? THREAD_RESERVE : 0) &&
		    (ev->type != EV_HEARD || ring_room(t->up_pcm));

	if (!env_answer(t->env, fits ? 1 : 0))
		return false;
	/* The audio first: who sees the event finds it. */
	if (ev->type == EV_HEARD)
		ring_push_part(t->up_pcm, ev->heard.pcm, ev->heard.n * sizeof *ev->heard.pcm);
	ring_push(t->up, ev);
	batching_event(&t->batching, env_now(t->env), is_patient(ev->type));
	return true;
}

static bool has_tick_room(void *arg)
{
	struct audio_thread *t = arg;

	return env_answer(t->env, ring_room(t->up) >= THREAD_ROOM);
}

/* ---- steps ---- */

/* Returns the phase of a stream within the 20 ms: 0, 10, 5, 15, 2.5, … ms. Few calls have a phase
 * for themselves; of many, one wake serves an eighth. */
static uint64_t stream_phase(unsigned index)
{
	static const uint8_t order[PHASES] = {0, 4, 2, 6, 1, 5, 3, 7};

	return TICK_NS / PHASES * order[index % PHASES];
}

/* After each step of a stream, which may have changed its deadline. A stream whose work is due has
 * nothing to send before that is done. A stream for which there was no place has no index of its
 * own. */
static void note_deadline(struct audio_thread *t, const struct call_stream *cs)
{
	uint64_t next = cs->work_due ? UINT64_MAX : call_stream_next(cs);

	if (t->streams[cs->index] == cs)
		deadlines_set(&t->deadlines, cs->index, next);
	t->due = next < t->due ? next : t->due;
}

static void add_stream(struct audio_thread *t, struct call_stream *cs)
{
	for (unsigned i = 0; i < THREAD_STREAMS; i++) {
		if (t->streams[i])
			continue;
		t->streams[i] = cs;
		call_stream_attach(cs, t->env, i, stream_phase(i), push_event, has_tick_room, t);
		call_stream_set_degradation(cs, t->degraded);
		note_deadline(t, cs);
		return;
	}
	/* engine_add_stream counts the streams, so this does not happen. */
	push_event(&(struct ev){.type = EV_STREAM_GONE, .stream = cs}, false, t);
}

static void queue_work(struct audio_thread *t, unsigned index)
{
	for (unsigned i = 0; i < t->n_work; i++)
		if (t->work[i] == index)
			return;
	t->work[t->n_work++] = (uint16_t)index;
}

static void unqueue_work(struct audio_thread *t, unsigned index)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < t->n_work; i++)
		if (t->work[i] != index)
			t->work[kept++] = t->work[i];
	t->n_work = kept;
}

static void remove_stream(struct audio_thread *t, struct call_stream *cs)
{
	call_stream_stop(cs);
	t->streams[cs->index] = NULL;
	deadlines_set(&t->deadlines, cs->index, UINT64_MAX);
	unqueue_work(t, cs->index);
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
		return;
	case CMD_STREAM_REMOVE:
		unwatch_socket(t, c.stream);
		remove_stream(t, c.stream);
		return;
	case CMD_LINK:
	case CMD_UNLINK:
		unwatch_socket(t, c.stream);
		call_stream_run_command(c.stream, &c);
		watch_socket(t, c.stream);
		break;
	case CMD_MUSIC_ADD: /* its source may have sound already */
		call_stream_run_command(c.stream, &c);
		queue_work(t, c.stream->index);
		break;
	default:
		call_stream_run_command(c.stream, &c);
		break;
	}
	note_deadline(t, c.stream);
}

static void on_datagram(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct audio_thread *t = arg;
	uint8_t packet[UDP_MAX_PACKET] NOT_CLEARED; /* decrypted in place */
	unsigned index;

	if (len < HEAD || len > HEAD + UDP_MAX_PACKET)
		return;
	index = (unsigned)data[0] << 8 | data[1];
	if (index >= THREAD_STREAMS || !t->streams[index])
		return;
	if (kind == OVERFLOW) {
		call_stream_note_overflow(t->streams[index], data + HEAD, len - HEAD);
		return;
	}
	memcpy(packet, data + HEAD, len - HEAD);
	call_stream_receive(t->streams[index], packet, len - HEAD);
	note_deadline(t, t->streams[index]);
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
	bool overflow = kind == OVERFLOW;
	size_t n = (size_t)snprintf(text, size, "%s line=%u", overflow ? "overflow" : names[what],
				    index);

	if (what != UDP_RTP || overflow)
		return n;
	pt = (unsigned)rd_be(&r, 2) & 127;
	seq = (unsigned)rd_be(&r, 2);
	ts = (uint32_t)rd_be(&r, 4);
	return n + (size_t)snprintf(text + n, size - n, " pt=%u seq=%u ts=%u ssrc=%u", pt, seq, ts,
				    (unsigned)rd_be(&r, 4));
}

/* After a stall of this thread or of the machine, packets that arrived meanwhile wait in the
 * sockets. */
static void tell_of_stall(struct audio_thread *t, uint64_t now)
{
	uint64_t due = t->due > t->ticked_at ? t->due : t->ticked_at;

	t->ticked_at = now;
	if (now < due + STALL_NS)
		return;
	for (unsigned i = 0; i < THREAD_STREAMS; i++)
		if (t->streams[i])
			call_stream_stalled(t->streams[i]);
}

/* Sends for all streams that are due; the rest of the tick follows stream by stream. A stream whose
 * work is late has no frame yet and delays none of the others: it sends after its work. */
static void on_tick(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct audio_thread *t = arg;
	uint64_t now = env_now(t->env);

	(void)kind, (void)data, (void)len;
	tell_of_stall(t, now);
	for (unsigned i = 0; i < t->deadlines.end; i++) {
		struct call_stream *cs = t->streams[i];

		if (t->deadlines.at[i] > now)
			continue;
		call_stream_send(cs);
		note_deadline(t, cs);
		queue_work(t, i);
	}
	t->due = deadlines_earliest(&t->deadlines);
}

static void on_work(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct audio_thread *t = arg;
	struct call_stream *cs;

	(void)kind, (void)data, (void)len;
	if (!t->n_work)
		return;
	cs = t->streams[t->work[0]];
	unqueue_work(t, t->work[0]);
	if (call_stream_work(cs))
		queue_work(t, cs->index);
	note_deadline(t, cs);
}

/* Music that was read from the source of a lane. */
static void on_music(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct audio_thread *t = arg;

	if (!music_feed_parse(kind, data, len, &t->feed) || t->feed.stream >= THREAD_STREAMS ||
	    !t->streams[t->feed.stream])
		return;
	call_stream_feed_music(t->streams[t->feed.stream], &t->feed);
	note_deadline(t, t->streams[t->feed.stream]);
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

/* Does the oldest work that is due. Its stream gets the music for it first; a lane whose source is
 * broken leaves. */
static void deliver_work(struct audio_thread *t)
{
	struct music_mixer *m = sender_music(t->streams[t->work[0]]->sender);
	struct music_lane *lane;

	for (unsigned i = 0; m && (lane = music_mixer_at(m, i)); i++) {
		uint8_t kind;
		size_t n = music_feed_read(lane, t->work[0], t->music, &kind);

		if (n)
			env_deliver(t->env, t->src_music, kind, t->music, n);
	}
	env_deliver(t->env, t->src_work, 0, NULL, 0);
}

static void tick_if_due(struct audio_thread *t)
{
	if (t->due <= env_now(t->env))
		env_deliver(t->env, t->src_tick, 0, NULL, 0);
}

/* Encodes and serves speakers, a stream at a time; the frames that become due meanwhile are sent in
 * between. Under overload new work never ends, so the rest waits until the loop has looked at its
 * sockets and commands. */
static void run_work(struct audio_thread *t)
{
	uint64_t until;

	tick_if_due(t);
	until = t->n_work ? env_now(t->env) + BUDGET_NS : 0;
	while (t->n_work && env_now(t->env) < until) {
		deliver_work(t);
		tick_if_due(t);
	}
}

/* Commands wait while the loop thread is behind with reading events, because events must not be
 * lost. */
static bool has_command(const struct audio_thread *t)
{
	return ring_count(t->down) && ring_room(t->up) >= THREAD_ROOM;
}

static void deliver_commands(struct audio_thread *t)
{
	uint64_t until = has_command(t) ? env_now(t->env) + BUDGET_NS : 0;

	while (has_command(t) && env_now(t->env) < until) {
		env_deliver(t->env, t->src_command, 0, NULL, 0);
		tick_if_due(t);
	}
}

/* Tells the stream how many datagrams the kernel has dropped, if there are more than before. */
static void deliver_overflow(struct audio_thread *t, unsigned index, struct msghdr *newest)
{
	uint32_t before = t->streams[index]->overflow, count = overflow_read(newest, before);
	uint8_t told[HEAD + sizeof count] = {(uint8_t)(index >> 8), (uint8_t)index};
	struct wr w = wr_of(told + HEAD, sizeof count);

	wr_be(&w, count, sizeof count);
	if (count != before)
		env_deliver(t->env, t->src_datagram, OVERFLOW, told, sizeof told);
}

/* Reads the datagrams of a stream. While the loop thread is behind they wait in the kernel. */
static void deliver_datagrams(struct audio_thread *t, unsigned index, uint64_t until)
{
	struct mmsghdr msgs[BATCH] NOT_CLEARED;
	struct iovec iov[BATCH] NOT_CLEARED;
	union overflow overflow[BATCH] NOT_CLEARED;
	struct call_stream *cs = index < THREAD_STREAMS ? t->streams[index] : NULL;

	/* Reads a few batches, then gives other sockets their turn; epoll reports the rest again.
	 */
	for (unsigned round = 0; cs && round < BATCHES && env_now(t->env) < until; round++) {
		int n;

		if (ring_room(t->up) < THREAD_ROOM_DATAGRAM)
			break;

		memset(msgs, 0, sizeof msgs);
		for (unsigned i = 0; i < BATCH; i++) {
			iov[i].iov_base = t->bufs[i] + HEAD;
			iov[i].iov_len = UDP_MAX_PACKET + 1;
			msgs[i].msg_hdr.msg_iov = &iov[i];
			msgs[i].msg_hdr.msg_iovlen = 1;
			overflow_prepare(&msgs[i].msg_hdr, &overflow[i]);
		}
		/* Errors such as ECONNREFUSED come from the network and pass; the socket stays. */
		n = recvmmsg(cs->fd, msgs, BATCH, MSG_DONTWAIT, NULL);
		if (n > 0)
			deliver_overflow(t, index, &msgs[n - 1].msg_hdr);
		for (int i = 0; i < n; i++) {
			if (msgs[i].msg_len > UDP_MAX_PACKET)
				continue;
			t->bufs[i][0] = (uint8_t)(index >> 8);
			t->bufs[i][1] = (uint8_t)index;
			env_deliver(t->env, t->src_datagram, 0, t->bufs[i], HEAD + msgs[i].msg_len);
			tick_if_due(t);
			/* A backlog lasts longer than a frame, and the next one must be encoded. */
			if (t->n_work)
				deliver_work(t);
		}
		batching_read(&t->batching, index, n > 0 ? (unsigned)n : 0);
		if (n < BATCH)
			break;
	}
}

/* Reads the sockets until the budget is spent. The next turn begins with those that are left, and
 * waits for no group of datagrams then. */
static void read_sockets(struct audio_thread *t, const struct epoll_event *evs, unsigned n)
{
	uint64_t until = env_now(t->env) + BUDGET_NS;

	for (unsigned i = 0; i < n && env_now(t->env) < until; i++) {
		uint64_t tag = evs[t->next_event++ % n].data.u64;

		if (tag != TAG_WAKE)
			deliver_datagrams(t, (unsigned)tag, until);
	}
	if (env_now(t->env) < until)
		batching_end_turn(&t->batching, env_now(t->env));
}

static void wake_loop_thread(struct audio_thread *t)
{
	uint64_t one = 1;

	if (!batching_wake(&t->batching, env_now(t->env)) && !atomic_load(&t->lost_real_time))
		return;
	if (write(t->wake_out, &one, sizeof one) < 0) {
		/* Full: it is readable already. */
	}
}

void audio_thread_measure(struct audio_thread *t, uint64_t from, uint64_t to)
{
	unsigned degraded = t->degraded;

	if (load_measure(&t->load, from, to, &degraded))
		env_deliver(t->env, t->src_degrade, (uint8_t)degraded, NULL, 0);
}

/* epoll_pwait2 came with Linux 5.11, and container runtimes older than that refuse it. Without it a
 * wait takes two calls; epoll_wait alone would end up to a millisecond early or late. */
static int wait_by_poll(int ep, struct epoll_event *evs, const struct timespec *ts)
{
	struct pollfd p = {.fd = ep, .events = POLLIN};

	return ppoll(&p, 1, ts, NULL) > 0 ? epoll_wait(ep, evs, EVENTS, 0) : 0;
}

/* Waits until something happens, but not longer than this; UINT64_MAX: without limit. */
static int wait_for_events(struct audio_thread *t, int ep, struct epoll_event *evs, uint64_t wait)
{
	struct timespec ts = {.tv_sec = (time_t)(wait / NS_PER_S),
			      .tv_nsec = (long)(wait % NS_PER_S)};

	if (!t->has_pwait2)
		return wait_by_poll(ep, evs, wait == UINT64_MAX ? NULL : &ts);
	return epoll_pwait2(ep, evs, EVENTS, wait == UINT64_MAX ? NULL : &ts, NULL);
}

uint64_t audio_thread_next(const struct audio_thread *t, uint64_t now)
{
	bool full = ring_room(t->up) < THREAD_ROOM_DATAGRAM;
	uint64_t next = t->more ? now : t->due;

	if (now < t->batching.read_at && t->batching.read_at < next)
		next = t->batching.read_at;
	if (t->batching.wake_by < next)
		next = t->batching.wake_by;
	if ((full || ring_count(t->down)) && now + ROOM_WAIT_NS < next)
		next = now + ROOM_WAIT_NS;
	return next;
}

/* A thread that has not slept for long sleeps although it has work: otherwise it would lose real
 * time (priority.h). Without descriptors neither a wake nor a datagram ends the sleep early. */
static void rest_if_due(struct audio_thread *t)
{
	static const struct timespec rest = {.tv_nsec = PRIORITY_REST_NS};

	if (env_now(t->env) - t->rested_at < PRIORITY_REST_EVERY_NS)
		return;
	ppoll(NULL, 0, &rest, NULL);
	t->rested_at = env_now(t->env);
}

/* Waits until work is due or something happens. */
static int wait_for_turn(struct audio_thread *t, struct epoll_event *evs)
{
	uint64_t now, until, wait;
	bool sockets;
	int n;

	rest_if_due(t);
	now = env_now(t->env);
	until = audio_thread_next(t, now);
	wait = until == UINT64_MAX ? until : until > now ? until - now : 0;
	sockets = now >= t->batching.read_at && ring_room(t->up) >= THREAD_ROOM_DATAGRAM;
	n = wait_for_events(t, sockets ? t->ep : t->ep_no_sockets, evs, wait);
	if (wait && (n == 0 || env_now(t->env) - now >= PRIORITY_REST_NS / 2))
		t->rested_at = env_now(t->env);
	return n;
}

void audio_thread_turn(struct audio_thread *t)
{
	struct epoll_event evs[EVENTS] NOT_CLEARED;
	int n = wait_for_turn(t, evs);
	uint64_t from = env_now(t->env);

	run_work(t);
	read_sockets(t, evs, n > 0 ? (unsigned)n : 0);
	wake_loop_thread(t);
	deliver_commands(t);
	run_work(t);
	wake_loop_thread(t);
	t->more = t->n_work || has_command(t);
	audio_thread_measure(t, from, env_now(t->env));
}

/* As deep as decoding, concealing and encoding go, so that none of them takes a page fault later.
 */
__attribute__((noinline)) static void touch_stack(void)
{
	uint8_t stack[STACK_DEPTH] NOT_CLEARED;

	touch_pages(stack, sizeof stack);
}

static void *thread_main(void *arg)
{
	struct audio_thread *t = arg;

	touch_stack();
	prctl(PR_SET_TIMERSLACK, 1); /* waits end when their time is over */
	prctl(PR_SET_NAME, "audio"); /* for ps and top */
	priority_raise(&t->lost_real_time);
	sandbox_require(SANDBOX_AUDIO);
	while (!atomic_load(&t->quit))
		audio_thread_turn(t);
	return NULL;
}

/* ---- loop thread: made, run, ended ---- */

/* Edge-triggered, so that nobody needs to read the eventfd. */
static int watch_wake(struct audio_thread *t)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data = {.u64 = TAG_WAKE}};

	return epoll_ctl(t->ep, EPOLL_CTL_ADD, t->wake_in, &e) < 0 ||
			       epoll_ctl(t->ep_no_sockets, EPOLL_CTL_ADD, t->wake_in, &e) < 0
		       ? errno
		       : 0;
}

static int open_fds(struct audio_thread *t)
{
	struct timespec no_time = {0};
	struct epoll_event e;

	t->ep = epoll_create1(EPOLL_CLOEXEC);
	t->ep_no_sockets = epoll_create1(EPOLL_CLOEXEC);
	t->wake_in = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	t->wake_out = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (t->ep < 0 || t->ep_no_sockets < 0 || t->wake_in < 0 || t->wake_out < 0)
		return errno;
	t->has_pwait2 = epoll_pwait2(t->ep, &e, 1, &no_time, NULL) == 0;
	if (!t->has_pwait2)
		log_info("no_epoll_pwait2", "error=\"%s\"", strerror(errno));
	return watch_wake(t);
}

static int alloc_rings(struct audio_thread *t, bool replaying)
{
	unsigned replay = replaying ? THREAD_RING_REPLAY : 0;
	int err = ring_alloc(&t->down, sizeof(struct cmd), replay ? replay : THREAD_DOWN);

	if (!err)
		err = ring_alloc(&t->up, sizeof(struct ev), replay ? replay : THREAD_UP);
	if (!err)
		err = ring_alloc(&t->down_pcm, sizeof t->said, replay ? replay : THREAD_DOWN_PCM);
	if (!err)
		err = ring_alloc(&t->up_pcm, sizeof t->heard, replay ? replay : THREAD_UP_PCM);
	if (err || replaying)
		return err;
	/* Page faults are taken here, by the loop thread. */
	ring_touch(t->down);
	ring_touch(t->up);
	ring_touch(t->down_pcm);
	ring_touch(t->up_pcm);
	return 0;
}

int audio_thread_alloc(struct audio_thread **out, uint8_t number, bool replaying,
		       struct journal *journal)
{
	struct env_conf conf = {.thread = number, .replaying = replaying, .journal = journal};
	struct audio_thread *t = calloc(1, sizeof *t);
	int err;

	if (!t)
		return ENOMEM;
	touch_pages(t, sizeof *t);
	t->wake_in = t->wake_out = t->ep = t->ep_no_sockets = -1;
	t->due = UINT64_MAX;
	batching_init(&t->batching);
	deadlines_init(&t->deadlines);
	err = env_alloc(&t->env, &conf);
	if (err)
		goto out;
	err = alloc_rings(t, replaying);
	if (err)
		goto out;
	err = env_source_add(t->env, &t->src_command, on_command, t);
	if (!err)
		err = env_source_add(t->env, &t->src_datagram, on_datagram, t);
	if (!err)
		err = env_source_add(t->env, &t->src_tick, on_tick, t);
	if (!err)
		err = env_source_add(t->env, &t->src_work, on_work, t);
	if (!err)
		err = env_source_add(t->env, &t->src_degrade, on_degrade, t);
	if (!err)
		err = env_source_add(t->env, &t->src_music, on_music, t);
	if (!err) {
		env_source_shape(t->env, t->src_datagram, describe_datagram);
		env_source_shape(t->env, t->src_music, music_feed_describe);
	}
	if (!err && !replaying)
		err = open_fds(t);
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
	for (unsigned i = 0; i < 4; i++) {
		int fd = (const int[]){t->wake_in, t->wake_out, t->ep, t->ep_no_sockets}[i];

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

bool audio_thread_lost_real_time(struct audio_thread *t)
{
	return atomic_exchange(&t->lost_real_time, false);
}

int audio_thread_fd(const struct audio_thread *t)
{
	return t->wake_out;
}
