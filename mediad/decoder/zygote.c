#include "mediad/decoder/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ipc/log.h"
#include "mediad/decoder/child.h"
#include "mediad/decoder/fetcher.h"
#include "ipc/jail/jail.h"
#include "mediad/decoder/lead.h"
#include "mediad/decoder/progress.h"
#include "mediad/decoder/root_file.h"
#include "mediad/music/decoder_wire.h"
#include "mediad/music/track_ring.h"
#include "mediad/music/video_ring.h"
#include "proto/base/time.h"

enum {
	WATCH_MS = 1000,
	HURRY_MS = 1000,   /* in which a track that is being opened has a normal priority */
	LEVELS_AHEAD = 64, /* reports of a track beyond one each second that it plays */
	TITLES_MAX = 10,   /* of a station in TITLES_S */
	TITLES_S = 10,
	/* Of the time that it plays, a track may use so much CPU time. One of video may be encoded.
	 */
	CPU_PERCENT = 5,
	CPU_VIDEO_PERCENT = 75,
	STACK_WIPED = 32 << 10, /* bytes: several messages */
};

/* A film keeps to what lead.h allows it, and is never ended by the jail. */
_Static_assert((int)LEAD_CPU_PERCENT < (int)CPU_VIDEO_PERCENT,
	       "a film may use more than its jail lets it");
_Static_assert((int)LEAD_CPU_MS < (int)JAIL_CPU_S * 1000,
	       "a film begins with more than its jail lets it");

struct slot {
	pid_t pid;	       /* 0: free */
	int status;	       /* our end */
	pid_t fetcher;	       /* of a web source; 0: none */
	int titles;	       /* our end */
	uint64_t titles_since; /* ns: begin of the period in which titles are counted */
	unsigned n_titles;
	uint64_t track;
	bool closed, stalled, gave_way;
	unsigned n_levels;	 /* messages LEVELS */
	struct track_ring *ring; /* our view of it; NULL: it is one of video */
	struct video_ring *video;
	uint64_t started; /* ns */
	struct progress progress;
};

struct zygote {
	struct zygote_conf conf;
	struct slot slots[DECODER_ALL_SLOTS];
	struct pollfd fds[2 * DECODER_ALL_SLOTS + 1];
	uint16_t at[2 * DECODER_ALL_SLOTS + 1]; /* slot of each descriptor */
	bool broken;				/* mediad is gone */
};

static uint64_t read_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

/* ---- to mediad ---- */

static void send_message(struct zygote *z, const struct decoder_msg *msg)
{
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;

	if (decoder_wire_encode(msg, buf, &n) ||
	    send(z->conf.link, buf, n, MSG_NOSIGNAL) != (ssize_t)n)
		z->broken = true;
}

static void send_ended(struct zygote *z, uint16_t slot, uint64_t track, enum decoder_reason reason)
{
	const struct decoder_msg msg = {
		.type = DECODER_ENDED, .slot = slot, .track = track, .reason = reason};

	send_message(z, &msg);
}

/* ---- slots ---- */

static void end_fetcher(struct slot *s)
{
	if (!s->fetcher)
		return;
	kill(s->fetcher, SIGKILL);
	waitpid(s->fetcher, NULL, 0);
	close(s->titles);
	s->fetcher = 0;
}

/* The process has ended, or must. */
static void free_slot(struct zygote *z, uint16_t at)
{
	struct slot *s = &z->slots[at];
	enum decoder_reason reason = child_wait(s->pid);

	close(s->status);
	end_fetcher(s);
	if (s->closed)
		reason = DECODER_REASON_CLOSED;
	else if (s->stalled)
		reason = DECODER_REASON_STALLED;
	log_debug("decoder_ended", "slot=%u track=%llu reason=%s", at, (unsigned long long)s->track,
		  decoder_reason_name(reason));
	send_ended(z, at, s->track, reason);
	track_ring_free(s->ring);
	video_ring_free(s->video);
	*s = (struct slot){.status = -1};
}

static enum decoder_reason open_file(const struct zygote *z, const struct decoder_source *source,
				     int *out)
{
	return source->root < z->conf.n_roots
		       ? root_file_open(z->conf.roots[source->root], source->path, out)
		       : DECODER_REASON_NOT_FOUND;
}

/* The visualizer reads nothing. */
static enum decoder_reason open_nothing(int *out)
{
	*out = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return *out < 0 ? DECODER_REASON_NO_PROCESS : DECODER_REASON_UNKNOWN;
}

static void close_pair(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* Starts a fetcher; *out is the decoder's end of the socket between them. */
static enum decoder_reason start_fetcher(struct zygote *z, const struct decoder_msg *msg, int *out)
{
	struct slot *s = &z->slots[msg->slot];
	struct fetcher_start start = {.url = msg->open.source.path,
				      .headers = msg->open.source.headers,
				      .start = msg->open.start,
				      .guard = z->conf.guard,
				      .rings = z->conf.rings,
				      .rings_size = z->conf.n_rings * TRACK_RING_MEMORY,
				      .videos = z->conf.videos,
				      .videos_size = z->conf.n_videos * VIDEO_RING_MEMORY};
	int requests[2], titles[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, requests))
		return DECODER_REASON_NO_PROCESS;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, titles)) {
		close_pair(requests);
		return DECODER_REASON_NO_PROCESS;
	}
	start.requests = requests[1];
	start.titles = titles[1];
	if (fetcher_fork(&s->fetcher, &start)) {
		close_pair(requests);
		close_pair(titles);
		return DECODER_REASON_NO_PROCESS;
	}
	close(requests[1]);
	close(titles[1]);
	s->titles = titles[0];
	*out = requests[0];
	return DECODER_REASON_UNKNOWN;
}

/* Makes our view of the ring. ENOMEM. */
static int view_ring(struct zygote *z, uint16_t at)
{
	struct slot *s = &z->slots[at];

	if (at < DECODER_SLOTS)
		return track_ring_alloc(&s->ring,
					(uint8_t *)z->conf.rings + (size_t)at * TRACK_RING_MEMORY);
	return video_ring_alloc(&s->video,
				(uint8_t *)z->conf.videos +
					(size_t)(at - DECODER_SLOTS) * VIDEO_RING_MEMORY);
}

static enum decoder_reason start_child(struct zygote *z, const struct decoder_msg *msg, int source)
{
	struct slot *s = &z->slots[msg->slot];
	struct child_start start = {.source = source,
				    .rings = z->conf.rings,
				    .n_rings = z->conf.n_rings,
				    .videos = z->conf.videos,
				    .n_videos = z->conf.n_videos,
				    .slot = msg->slot,
				    .track = msg->track,
				    .kind = msg->open.source.kind,
				    .visualizer = msg->open.source.visualizer,
				    .start = msg->open.start,
				    .measure = msg->open.measure};
	int fds[2];
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return DECODER_REASON_NO_PROCESS;
	start.status = fds[1];
	if (view_ring(z, msg->slot) || child_fork(&s->pid, &start))
		reason = DECODER_REASON_NO_PROCESS;
	close(fds[1]);
	if (reason) {
		s->ring = track_ring_free(s->ring);
		s->video = video_ring_free(s->video);
		close(fds[0]);
		return reason;
	}
	s->status = fds[0];
	s->track = msg->track;
	s->started = read_clock();
	progress_start(&s->progress, s->started);
	return reason;
}

static bool has_ring(const struct zygote *z, uint16_t slot)
{
	return slot < DECODER_SLOTS ? slot < z->conf.n_rings
				    : (size_t)(slot - DECODER_SLOTS) < z->conf.n_videos;
}

/* Frames of functions that have returned keep what they held, and every process is a copy of this
 * one. */
static __attribute__((noinline)) void wipe_stack(void)
{
	uint8_t below[STACK_WIPED];

	explicit_bzero(below, sizeof below);
}

/* Wipes the address of the source: the process that decodes it needs none, and those of other
 * tracks must not find it. */
static void open_track(struct zygote *z, struct decoder_msg *msg)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;
	int source = -1;

	if (!z->conf.jailed)
		reason = DECODER_REASON_NO_JAIL;
	else if (!has_ring(z, msg->slot) || z->slots[msg->slot].pid)
		reason = DECODER_REASON_NO_PROCESS;
	if (!reason)
		reason = msg->open.source.visualizer ? open_nothing(&source)
			 : msg->open.source.kind == DECODER_FILE
				 ? open_file(z, &msg->open.source, &source)
				 : start_fetcher(z, msg, &source);
	explicit_bzero(msg->open.source.path, sizeof msg->open.source.path);
	explicit_bzero(msg->open.source.headers, sizeof msg->open.source.headers);
	wipe_stack();
	if (!reason) {
		reason = start_child(z, msg, source);
		close(source);
		if (reason)
			end_fetcher(&z->slots[msg->slot]);
	}
	if (reason)
		send_ended(z, msg->slot, msg->track, reason);
}

static void close_track(struct zygote *z, const struct decoder_msg *msg)
{
	struct slot *s = &z->slots[msg->slot];

	if (!s->pid || s->track != msg->track) {
		send_ended(z, msg->slot, msg->track, DECODER_REASON_CLOSED);
		return;
	}
	s->closed = true;
	kill(s->pid, SIGKILL);
	free_slot(z, msg->slot);
}

/* ---- messages ---- */

/* Also of decoders that are forked from now on. */
static void change_log(const struct decoder_msg *msg)
{
	log_set_level((enum log_level)msg->log.level);
	log_set_json(msg->log.json);
}

/* Takes one message of mediad. An end of file arrives as an empty packet. */
static void read_link(struct zygote *z)
{
	uint8_t buf[DECODER_MSG_MAX];
	struct decoder_msg msg;
	ssize_t n = recv(z->conf.link, buf, sizeof buf, 0);
	int err = n > 0 ? decoder_wire_decode(&msg, buf, (size_t)n) : 0;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	explicit_bzero(buf, sizeof buf);
	wipe_stack();
	if (n <= 0)
		z->broken = true;
	else if (err)
		log_warn("decoder_message", "error=malformed");
	else if (msg.type == DECODER_OPEN)
		open_track(z, &msg);
	else if (msg.type == DECODER_CLOSE)
		close_track(z, &msg);
	else if (msg.type == DECODER_LOG)
		change_log(&msg);
}

/* People wait for the first sound of a track; what follows is decoded two seconds ahead. */
static void give_way(struct slot *s)
{
	if (s->gave_way)
		return;
	s->gave_way = true;
	jail_give_way(s->pid);
	if (s->fetcher)
		jail_give_way(s->fetcher);
}

/* Strangers choose titles; too many are dropped. */
static bool may_tell_title(struct slot *s, uint64_t now)
{
	if (now - s->titles_since > TITLES_S * NS_PER_S) {
		s->titles_since = now;
		s->n_titles = 0;
	}
	return s->n_titles++ < TITLES_MAX;
}

/* A decoder process reports OPENED once, and after that titles, and LEVELS each second at most. */
static bool may_report(struct slot *s, const struct decoder_msg *msg)
{
	if (msg->type == DECODER_OPENED && !s->progress.opened) {
		progress_open(&s->progress, read_clock());
		give_way(s);
		return true;
	}
	if (msg->type == DECODER_TITLE)
		return s->progress.opened;
	return msg->type == DECODER_LEVELS && s->progress.opened &&
	       s->n_levels++ < LEVELS_AHEAD + (read_clock() - s->started) / NS_PER_S;
}

/* Takes one message of a decoder process, which may be hostile: it is passed on with our slot and
 * track; one that may not come ends the process. */
static void read_child(struct zygote *z, uint16_t at)
{
	struct slot *s = &z->slots[at];
	uint8_t buf[DECODER_MSG_MAX];
	struct decoder_msg msg;
	ssize_t n = recv(s->status, buf, sizeof buf, MSG_DONTWAIT);

	if (n > 0 && !decoder_wire_decode(&msg, buf, (size_t)n) && may_report(s, &msg)) {
		msg.slot = at;
		msg.track = s->track;
		if (msg.type != DECODER_TITLE || may_tell_title(s, read_clock()))
			send_message(z, &msg);
		return;
	}
	if (n > 0)
		kill(s->pid, SIGKILL);
	if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		free_slot(z, at);
}

/* Takes a title of a fetcher. */
static void read_title(struct zygote *z, uint16_t at)
{
	struct slot *s = &z->slots[at];
	struct decoder_msg msg = {.type = DECODER_TITLE, .slot = at, .track = s->track};
	ssize_t n = recv(s->titles, msg.title, DECODER_TEXT_MAX, MSG_DONTWAIT);
	uint64_t now = read_clock();

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		end_fetcher(s);
	if (n <= 0)
		return;
	if (n == FETCHER_ALIVE_SIZE && !memcmp(msg.title, FETCHER_ALIVE, FETCHER_ALIVE_SIZE)) {
		progress_wait(&s->progress, now);
		return;
	}
	if (may_tell_title(s, now))
		send_message(z, &msg);
}

/* ---- watch ---- */

/* The soft limit on CPU time grows with the time that a track plays. */
static void raise_cpu_limit(const struct slot *s, uint64_t now)
{
	unsigned percent = s->video ? CPU_VIDEO_PERCENT : CPU_PERCENT;
	struct rlimit limit = {JAIL_CPU_S + (now - s->started) / NS_PER_S * percent / 100,
			       RLIM_INFINITY};

	prlimit(s->pid, RLIMIT_CPU, &limit, NULL);
}

static void watch_slot(struct slot *s, uint64_t now)
{
	uint64_t written = s->ring ? track_ring_written(s->ring) : video_ring_written(s->video);
	bool rests = s->ring ? track_ring_rests(s->ring) : video_ring_rests(s->video);

	if (now - s->started >= HURRY_MS * NS_PER_MS)
		give_way(s);
	if (progress_stalls(&s->progress, written, rests, now)) {
		s->stalled = true;
		kill(s->pid, SIGKILL);
	}
	raise_cpu_limit(s, now);
}

static void list_descriptor(struct zygote *z, unsigned *n, int fd, uint16_t slot)
{
	z->at[*n] = slot;
	z->fds[(*n)++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static unsigned list_descriptors(struct zygote *z)
{
	unsigned n = 0;

	list_descriptor(z, &n, z->conf.link, 0);
	for (size_t i = 0; i < DECODER_ALL_SLOTS; i++) {
		if (z->slots[i].pid)
			list_descriptor(z, &n, z->slots[i].status, i);
		if (z->slots[i].fetcher)
			list_descriptor(z, &n, z->slots[i].titles, i);
	}
	return n;
}

/* A descriptor may be gone, and its number another's, once one before it was handled. */
static void read_slot(struct zygote *z, const struct pollfd *p, uint16_t at)
{
	const struct slot *s = &z->slots[at];

	if (!p->revents)
		return;
	if (s->fetcher && p->fd == s->titles)
		read_title(z, at);
	else if (s->pid && p->fd == s->status)
		read_child(z, at);
}

static void watch_slots(struct zygote *z, uint64_t now)
{
	for (size_t i = 0; i < DECODER_ALL_SLOTS; i++)
		if (z->slots[i].pid)
			watch_slot(&z->slots[i], now);
}

int zygote_run(const struct zygote_conf *conf)
{
	struct zygote *z = calloc(1, sizeof *z);
	const struct decoder_msg ready = {.type = DECODER_READY, .jailed = conf->jailed};
	uint64_t now, watched = 0;
	unsigned n;

	if (!z)
		return ENOMEM;
	z->conf = *conf;
	send_message(z, &ready);
	while (!z->broken) {
		n = list_descriptors(z);
		if (poll(z->fds, n, n > 1 ? WATCH_MS : -1) < 0 && errno != EINTR)
			break;
		for (unsigned i = 1; i < n; i++)
			read_slot(z, &z->fds[i], z->at[i]);
		if (z->fds[0].revents)
			read_link(z);
		now = read_clock();
		if (now - watched >= WATCH_MS * NS_PER_MS) {
			watch_slots(z, now);
			watched = now;
		}
	}
	/* Decoder processes die with this one. */
	free(z);
	return 0;
}
