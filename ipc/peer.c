#include "ipc/peer.h"

#include "ipc/env.h"
#include "ipc/frame.h"
#include "ipc/peer_queue.h"
#include "ipc/shape.h"
#include "proto/base/cursor.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* The input buffer holds the largest frame and a large read behind it. Sending is an input of its
 * own (WRITABLE), so the queue's length, and with it every drop, is the same on replay; how much
 * the kernel took is an answer. */
enum {
	READ_AHEAD = 65536,
	DEFAULT_FRAME = 65536,
	DEFAULT_CAP = 1 << 20,
	IOVS = 32,
	READS_A_TURN = 8
};
/* How long a listener rests that has no descriptor for a peer. */
static const struct timeval accept_again = {.tv_usec = 100000};

enum { IN_FRAME = 1, IN_WRITABLE = 2, IN_LOST = 3, IN_ACCEPT = 4 };

struct peer {
	struct env *env;
	struct peer_conf conf;
	int fd; /* -1 on replay and after loss */
	uint32_t source;
	struct event *rd, *wr, *lose; /* NULL on replay */
	int lose_err;
	bool losing, lost, full; /* full: the kernel took less than there was */
	bool unread; /* the other side has closed; what it said before is still to be read */
	bool *freed; /* set by peer_free while we are inside a delivery */
	struct peer_queue q;
	uint8_t *in;
	size_t have;
};

struct peer_server {
	struct env *env;
	int fd, accepted;
	uint32_t source;
	struct event *rd, *again; /* again: the listener goes on */
	uid_t peer_uid;
	peer_accept_h *h;
	void *arg;
	int dir; /* the directory of the socket file; -1: not opened */
	char name[sizeof((struct sockaddr_un *)0)->sun_path]; /* in that directory */
};

/* ---- loss ---- */
void peer_lose(struct peer *p, int err)
{
	if (p->losing)
		return;
	p->losing = true;
	p->lose_err = err;
	if (p->rd)
		event_del(p->rd);
	if (p->wr)
		event_del(p->wr);
	/* A loss for want of memory must need none itself. */
	if (p->lose)
		event_active(p->lose, EV_TIMEOUT, 0);
}

static void lose_later(evutil_socket_t fd, short what, void *arg)
{
	struct peer *p = arg;
	uint8_t b[4];
	struct wr w = wr_of(b, sizeof b);

	(void)fd;
	(void)what;
	wr_be(&w, (uint32_t)p->lose_err, 4);
	env_deliver(p->env, p->source, IN_LOST, b, sizeof b);
}

/* A loss found outside a step is delivered at once. If it were only noted, later steps would see a
 * loss that a replay does not know of yet. p may be freed afterwards. */
static void lose_now(struct peer *p, int err)
{
	if (p->losing)
		return;
	p->lose_err = err;
	event_del(p->rd);
	event_del(p->wr);
	lose_later(-1, 0, p);
}

static void on_lost(struct peer *p, int err)
{
	p->losing = p->lost = true;
	if (p->fd >= 0) {
		close(p->fd);
		p->fd = -1;
	}
	peer_queue_clear(&p->q);
	p->conf.losth(p, err, p->conf.arg);
}

/* ---- writing ---- */
/* Writes the whole queue right after the step that filled it; epoll is used only after the kernel
 * refused bytes. */
static void want_write(struct peer *p)
{
	if (!p->wr || p->losing || p->unread || peer_queue_empty(&p->q))
		return;
	if (p->full)
		event_add(p->wr, NULL);
	else
		event_active(p->wr, EV_WRITE, 0);
}

static ssize_t send_some(struct peer *p, struct iovec *iov, int n)
{
	struct msghdr mh = {.msg_iov = iov, .msg_iovlen = (size_t)n};
	ssize_t k = p->fd < 0 ? 0 : sendmsg(p->fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT);
	size_t all = 0;

	k = k < 0 ? -errno : k;
	for (int i = 0; i < n; i++)
		all += iov[i].iov_len;
	p->full = k == -EAGAIN || (k >= 0 && (size_t)k < all);
	return k;
}

static void flush(struct peer *p)
{
	struct iovec iov[IOVS];
	int n = peer_queue_peek(&p->q, iov, IOVS);
	int64_t k;

	if (!n || p->losing)
		return;
	k = env_answer(p->env, send_some(p, iov, n));
	if (k >= 0) {
		peer_queue_took(&p->q, (size_t)k);
	} else if (k == -EPIPE || k == -ECONNRESET) {
		p->unread = true;
		peer_queue_clear(&p->q);
	} else if (k != -EAGAIN && k != -EINTR) {
		peer_lose(p, (int)-k);
	}
	want_write(p);
}

static void writable(evutil_socket_t fd, short what, void *arg)
{
	struct peer *p = arg;

	(void)fd;
	(void)what;
	env_deliver(p->env, p->source, IN_WRITABLE, NULL, 0);
}

/* A message that must not be lost takes the peer with it when there is no memory: callers cannot
 * repeat it, and the resync after a loss repeats what counts. */
static int lose_with_message(struct peer *p, int err)
{
	peer_lose(p, err);
	return err;
}

static int enqueue(struct peer *p, enum peer_lane lane, bool droppable, uint32_t flow,
		   const void *body, size_t len, size_t firm)
{
	int err = peer_queue_add(&p->q, lane, droppable, flow, body, len);

	if (!err) {
		env_output_sound(p->env, ENV_OUT_IPC, p->source, body, len, firm);
		want_write(p);
	}
	return err;
}

int peer_send(struct peer *p, enum peer_lane lane, const void *body, size_t len)
{
	size_t cap = lane == PEER_COMMAND ? p->conf.command_cap : p->conf.audio_cap;
	int err;

	if (p->losing || p->unread)
		return ENOTCONN;
	if (!len || len > p->conf.max_frame)
		return EMSGSIZE;
	if (p->q.lane[lane].bytes + FRAME_HEAD + len > cap)
		return lane == PEER_AUDIO ? ENOBUFS : lose_with_message(p, EPIPE);
	err = enqueue(p, lane, false, 0, body, len, len);
	return err && lane == PEER_COMMAND ? lose_with_message(p, err) : err;
}

int peer_send_droppable(struct peer *p, uint32_t flow, const void *body, size_t len, size_t firm,
			unsigned *dropped)
{
	*dropped = 0;
	if (p->losing || p->unread)
		return ENOTCONN;
	if (!len || len > p->conf.max_frame)
		return EMSGSIZE;
	if (FRAME_HEAD + len > p->conf.audio_cap)
		return ENOBUFS;
	*dropped = peer_queue_shed(&p->q, flow, FRAME_HEAD + len, p->conf.audio_cap, p->conf.droph,
				   p->conf.arg);
	if (p->q.lane[PEER_AUDIO].bytes + FRAME_HEAD + len > p->conf.audio_cap)
		return ENOBUFS;
	return enqueue(p, PEER_AUDIO, true, flow, body, len, firm);
}

int peer_send_kept(struct peer *p, const void *body, size_t len, unsigned *dropped)
{
	int err;

	*dropped = 0;
	if (p->losing || p->unread)
		return ENOTCONN;
	if (!len || len > p->conf.max_frame)
		return EMSGSIZE;
	*dropped = peer_queue_shed(&p->q, 0, FRAME_HEAD + len, p->conf.audio_cap, p->conf.droph,
				   p->conf.arg);
	if (p->q.lane[PEER_AUDIO].bytes + FRAME_HEAD + len > p->conf.audio_cap)
		return lose_with_message(p, EPIPE);
	err = enqueue(p, PEER_AUDIO, false, 0, body, len, len);
	return err ? lose_with_message(p, err) : 0;
}

size_t peer_queued(const struct peer *p, enum peer_lane lane)
{
	return p->q.lane[lane].bytes;
}

/* ---- reading ---- */
static void on_frame(struct peer *p, const uint8_t *body, size_t len)
{
	bool freed = false, *outer = p->freed;
	int err;

	if (p->losing)
		return;
	p->freed = &freed;
	err = p->conf.msgh(p, body, len, p->conf.arg);
	if (freed) {
		if (outer)
			*outer = true;
		return;
	}
	p->freed = outer;
	if (err)
		peer_lose(p, err);
}

static void input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct peer *p = arg;
	struct rd r = rd_of(data, len);

	switch (kind) {
	case IN_FRAME:
		on_frame(p, data, len);
		break;
	case IN_WRITABLE:
		flush(p);
		break;
	case IN_LOST:
		on_lost(p, (int)rd_be(&r, 4));
		break;
	default:
		break;
	}
}

/* Bodies are msgpack. */
static size_t shape(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size)
{
	static const char *const names[] = {
		[IN_WRITABLE] = "peer writable", [IN_LOST] = "peer lost"};
	size_t n;

	if (kind != IN_FRAME)
		return (size_t)snprintf(text, size, "%s",
					kind <= IN_LOST && names[kind] ? names[kind] : "");
	n = (size_t)snprintf(text, size, "peer frame ");
	return n + shape_msgpack(data, len, text + n, size - n);
}

/* Delivers every whole frame of the buffer. False when the peer is gone or being lost. */
static bool cut_frames(struct peer *p)
{
	const uint8_t *body;
	size_t at = 0, len;
	bool freed = false;
	long k;

	p->freed = &freed;
	while ((k = frame_cut(p->in + at, p->have - at, p->conf.max_frame, &body, &len)) > 0) {
		env_deliver(p->env, p->source, IN_FRAME, body, len);
		if (freed)
			return false;
		at += (size_t)k;
		if (p->losing)
			break;
	}
	p->freed = NULL;
	if (p->losing)
		return false;
	if (k < 0) {
		lose_now(p, EBADMSG);
		return false;
	}
	/* A frame may have held a lease. */
	memmove(p->in, p->in + at, p->have - at);
	explicit_bzero(p->in + p->have - at, at);
	p->have -= at;
	return true;
}

static void readable(evutil_socket_t fd, short what, void *arg)
{
	struct peer *p = arg;
	size_t cap = FRAME_HEAD + p->conf.max_frame + READ_AHEAD;

	(void)what;
	for (int i = 0; i < READS_A_TURN; i++) {
		size_t room = cap - p->have;
		ssize_t k = recv(fd, p->in + p->have, room, MSG_DONTWAIT);

		if (k < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (k <= 0) {
			lose_now(p, k < 0 ? errno : 0);
			return;
		}
		p->have += (size_t)k;
		/* A short read has emptied the socket; the end of the stream comes with the next
		 * event. */
		if (!cut_frames(p) || (size_t)k < room)
			return;
	}
}

/* ---- making and freeing ---- */
static int take_conf(struct peer *p, const struct peer_conf *conf)
{
	if (!conf->msgh || !conf->losth)
		return EINVAL;
	p->conf = *conf;
	if (!p->conf.max_frame)
		p->conf.max_frame = DEFAULT_FRAME;
	if (!p->conf.command_cap)
		p->conf.command_cap = DEFAULT_CAP;
	if (!p->conf.audio_cap)
		p->conf.audio_cap = DEFAULT_CAP;
	p->in = malloc(FRAME_HEAD + p->conf.max_frame + READ_AHEAD);
	return p->in ? 0 : ENOMEM;
}

static int start_events(struct peer *p)
{
	struct event_base *base = env_base(p->env);

	if (!base)
		return 0;
	p->rd = event_new(base, p->fd, EV_READ | EV_PERSIST, readable, p);
	p->wr = event_new(base, p->fd, EV_WRITE, writable, p);
	p->lose = evtimer_new(base, lose_later, p);
	if (!p->rd || !p->wr || !p->lose)
		return ENOMEM;
	/* Frames are sent in the loop turn that queued them. */
	event_priority_set(p->wr, ENV_FIRST);
	return event_add(p->rd, NULL) ? ENOMEM : 0;
}

/* Takes fd, also on failure. */
static int alloc_peer(struct peer **out, struct env *env, int fd)
{
	struct peer *p = calloc(1, sizeof *p);
	int err;

	if (!p) {
		if (fd >= 0)
			close(fd);
		return ENOMEM;
	}
	p->env = env;
	p->fd = fd;
	peer_queue_init(&p->q);
	err = env_source_add(env, &p->source, input, p);
	if (err) {
		peer_free(p);
		return err;
	}
	env_source_shape(env, p->source, shape);
	*out = p;
	return 0;
}

static int address(struct sockaddr_un *sa, const char *path)
{
	memset(sa, 0, sizeof *sa);
	sa->sun_family = AF_UNIX;
	if (!path || !*path || strlen(path) >= sizeof sa->sun_path)
		return ENAMETOOLONG;
	strcpy(sa->sun_path, path);
	return 0;
}

static int new_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int peer_connect(struct peer **out, struct env *env, const char *path, const struct peer_conf *conf)
{
	struct sockaddr_un sa;
	struct peer *p;
	int fd = -1, err;

	if (!out || !env || !conf)
		return EINVAL;
	err = address(&sa, path);
	if (!err && !env_replaying(env)) {
		fd = new_socket();
		if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof sa))
			err = errno;
	}
	err = (int)env_answer(env, err);
	if (err) {
		if (fd >= 0)
			close(fd);
		return err;
	}
	err = alloc_peer(&p, env, fd);
	if (err)
		return err;
	err = take_conf(p, conf);
	if (!err)
		err = start_events(p);
	if (err) {
		peer_free(p);
		return err;
	}
	*out = p;
	return 0;
}

struct peer *peer_free(struct peer *p)
{
	struct iovec iov[IOVS];
	int n;

	if (!p)
		return NULL;
	if (p->freed)
		*p->freed = true;
	env_source_del(p->env, p->source);
	n = peer_queue_peek(&p->q, iov, IOVS);
	if (n && p->fd >= 0 && !p->losing)
		send_some(p, iov, n);
	/* Before the descriptor: libevent takes them out of its epoll set by number. */
	if (p->rd)
		event_free(p->rd);
	if (p->wr)
		event_free(p->wr);
	if (p->lose)
		event_free(p->lose);
	if (p->fd >= 0)
		close(p->fd);
	peer_queue_clear(&p->q);
	/* The beginning of a frame may hold a lease. */
	if (p->in)
		explicit_bzero(p->in, FRAME_HEAD + p->conf.max_frame + READ_AHEAD);
	free(p->in);
	free(p);
	return NULL;
}

/* ---- listening ---- */
/* A peer came: makes it, live and on replay alike, and offers it. */
static void accepted(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct peer_server *s = arg;
	struct rd r = rd_of(data, len);
	uid_t uid = (uid_t)rd_be(&r, 4);
	struct peer_conf conf = {0};
	struct peer *p;
	int err, fd = s->accepted;

	(void)kind;
	s->accepted = -1;
	if (alloc_peer(&p, s->env, fd))
		return;
	err = s->h(p, uid, &conf, s->arg);
	if (!err)
		err = take_conf(p, &conf);
	if (!err)
		err = start_events(p);
	/* The owner took it already when only our part failed: then it learns of the loss like of
	 * any other. */
	if (err && conf.losth)
		conf.losth(p, err, conf.arg);
	else if (err)
		peer_free(p);
}

/* Without descriptors or memory the listener would be ready for ever. */
static void pause_listening(struct peer_server *s)
{
	if (!event_add(s->again, &accept_again))
		event_del(s->rd);
}

static void resume_listening(evutil_socket_t fd, short what, void *arg)
{
	struct peer_server *s = arg;

	(void)fd;
	(void)what;
	if (event_add(s->rd, NULL))
		event_add(s->again, &accept_again);
}

static void acceptable(evutil_socket_t fd, short what, void *arg)
{
	struct peer_server *s = arg;
	struct ucred cred;
	socklen_t n = sizeof cred;
	uint8_t b[4];
	struct wr w = wr_of(b, sizeof b);

	(void)what;
	s->accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (s->accepted < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			pause_listening(s);
		return;
	}
	if (getsockopt(s->accepted, SOL_SOCKET, SO_PEERCRED, &cred, &n) ||
	    (cred.uid != geteuid() && (s->peer_uid == (uid_t)-1 || cred.uid != s->peer_uid))) {
		close(s->accepted);
		s->accepted = -1;
		return;
	}
	wr_be(&w, cred.uid, 4);
	env_deliver(s->env, s->source, IN_ACCEPT, b, sizeof b);
	if (s->accepted >= 0) {
		close(s->accepted);
		s->accepted = -1;
	}
}

/* A socket without a listener is replaced. Connecting to a plain file fails as well: that file is
 * left, and bind reports it. */
static int clear_stale(const struct sockaddr_un *sa)
{
	struct stat st;
	int fd = new_socket(), err = 0;

	if (fd < 0)
		return errno;
	if (!connect(fd, (const struct sockaddr *)sa, sizeof *sa) || errno == EAGAIN)
		err = EADDRINUSE;
	else if (errno == ECONNREFUSED && !lstat(sa->sun_path, &st) && S_ISSOCK(st.st_mode) &&
		 unlink(sa->sun_path))
		err = errno;
	close(fd);
	return err;
}

/* Opens the directory of the socket file, by which it is removed at the end. */
static int open_directory(struct peer_server *s, const char *path)
{
	char dir[sizeof s->name];
	const char *slash = strrchr(path, '/');

	snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	snprintf(s->name, sizeof s->name, "%s", slash ? slash + 1 : path);
	s->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return s->dir < 0 ? errno : 0;
}

static int listen_at(struct peer_server *s, const char *path)
{
	struct sockaddr_un sa;
	int err = address(&sa, path);

	if (!err)
		err = clear_stale(&sa);
	if (err)
		return err;
	s->fd = new_socket();
	/* Nobody can connect before listen, so the mode is set in time. */
	if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&sa, sizeof sa))
		return errno;
	err = open_directory(s, path);
	if (err)
		return err;
	if (chmod(path, 0660) || listen(s->fd, 16))
		return errno;
	s->rd = event_new(env_base(s->env), s->fd, EV_READ | EV_PERSIST, acceptable, s);
	s->again = evtimer_new(env_base(s->env), resume_listening, s);
	return s->rd && s->again && !event_add(s->rd, NULL) ? 0 : ENOMEM;
}

int peer_listen(struct peer_server **out, struct env *env, const char *path, uid_t peer_uid,
		peer_accept_h *h, void *arg)
{
	struct peer_server *s;
	int err;

	if (!out || !env || !path || !h)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	*s = (struct peer_server){.env = env,
				  .fd = -1,
				  .accepted = -1,
				  .dir = -1,
				  .peer_uid = peer_uid,
				  .h = h,
				  .arg = arg};
	err = env_source_add(env, &s->source, accepted, s);
	if (!err && !env_replaying(env))
		err = listen_at(s, path);
	if (err) {
		peer_server_free(s);
		return err;
	}
	*out = s;
	return 0;
}

int peer_server_directory(const struct peer_server *s)
{
	return s->dir;
}

struct peer_server *peer_server_free(struct peer_server *s)
{
	if (s) {
		env_source_del(s->env, s->source);
		if (s->rd)
			event_free(s->rd);
		if (s->again)
			event_free(s->again);
		/* While the socket listens nobody replaces its file, so it is still ours. */
		if (s->dir >= 0) {
			unlinkat(s->dir, s->name, 0);
			close(s->dir);
		}
		if (s->fd >= 0)
			close(s->fd);
		free(s);
	}
	return NULL;
}
