/* Listening, the limits of connections, deadlines, and the end. */
#include "ipc/http_server.h"

#include "ipc/env.h"
#include "ipc/http_inside.h"
#include "ipc/log.h"
#include "proto/base/numeric_address.h"
#include "proto/base/time.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	MAX_CONNECTIONS = 1024,
	MAX_PER_ADDRESS = 32,
	IDLE_MIN_MS = 1000,
	HEAD_MS = 10000,
	BODY_MS = 10000,
	IDLE_MS = 60000,
	WRITE_MS = 30000,
	HEARTBEAT_MS = 15000,
	BACKLOG = 128,
	ACCEPTS_A_TURN = 64,
};

static const struct timeval at_once = {0, 0};

uint64_t http_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

/* ---- bytes ---- */

/* Bodies hold secrets and pictures of people. */
static void wipe_bytes(struct http_bytes *b)
{
	if (b->p)
		explicit_bzero(b->p, b->cap);
	free(b->p);
}

bool http_bytes_add(struct http_bytes *b, const void *p, size_t n)
{
	if (n > b->cap - b->n) {
		size_t cap = b->cap ? b->cap : 512;
		uint8_t *more;

		while (cap - b->n < n)
			cap *= 2;
		/* Not realloc, which leaves a copy behind. */
		more = malloc(cap);
		if (!more)
			return false;
		if (b->n)
			memcpy(more, b->p, b->n);
		wipe_bytes(b);
		b->p = more;
		b->cap = cap;
	}
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	return true;
}

void http_bytes_free(struct http_bytes *b)
{
	wipe_bytes(b);
	*b = (struct http_bytes){0};
}

/* ---- exchanges ---- */

struct http_exchange *http_exchange_new(struct http_server *s, uint32_t slot)
{
	struct http_exchange *x = calloc(1, sizeof *x);

	if (!x)
		return NULL;
	x->s = s;
	x->slot = slot;
	x->fd = -1;
	s->slots[slot] = x;
	s->counts.connections++;
	return x;
}

void http_exchange_free(struct http_exchange *x)
{
	struct http_server *s = x->s;

	http_events_leave(x);
	for (struct http_exchange **at = &s->dirty; x->dirty && *at; at = &(*at)->next_dirty)
		if (*at == x) {
			*at = x->next_dirty;
			break;
		}
	if (x->in_ev)
		event_free(x->in_ev);
	if (x->out_ev)
		event_free(x->out_ev);
	if (x->fd >= 0)
		close(x->fd);
	http_bytes_free(&x->in);
	http_bytes_free(&x->out);
	http_exchange_drop_head(x);
	http_bytes_free(&x->whole);
	http_bytes_free(&x->handover);
	http_bytes_free(&x->fields);
	s->slots[x->slot] = NULL;
	s->counts.connections--;
	if (s->draining && s->turn && !s->counts.connections)
		event_add(s->turn, &at_once);
	free(x);
}

void http_mark_dirty(struct http_exchange *x)
{
	struct http_server *s = x->s;

	if (x->dirty || x->fd < 0 || s->delivering == x)
		return;
	x->dirty = true;
	x->next_dirty = s->dirty;
	s->dirty = x;
	event_add(s->turn, &at_once);
}

/* ---- the end ---- */

static void deliver_drained(struct http_server *s)
{
	static const uint8_t no_slot[4];

	s->draining = false;
	env_deliver(s->env, s->source, HTTP_IN_DRAINED, no_slot, sizeof no_slot);
}

static void stop_listening(struct http_server *s)
{
	if (s->accept_ev)
		event_free(s->accept_ev);
	s->accept_ev = NULL;
	if (s->path && s->fd >= 0)
		unlink(s->path);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static void drain_connections(struct http_server *s)
{
	stop_listening(s);
	for (unsigned i = 0; i < s->conf.max_connections; i++) {
		struct http_exchange *x = s->slots[i];

		if (x && x->state == HTTP_CONN_STREAM)
			http_conn_close(x);
		else if (x && !x->dirty)
			http_conn_turn(x);
	}
	if (!s->counts.connections)
		deliver_drained(s);
}

void http_server_drain(struct http_server *s, void (*h)(void *arg), void *arg)
{
	s->draining = true;
	s->drainedh = h;
	s->drained_arg = arg;
	if (s->turn)
		event_add(s->turn, &at_once);
}

/* Between steps: everything that steps have left to do. */
static void on_turn(evutil_socket_t fd, short what, void *arg)
{
	struct http_server *s = arg;
	struct http_exchange *list = s->dirty;

	(void)fd;
	(void)what;
	s->dirty = NULL;
	while (list) {
		struct http_exchange *x = list;

		list = x->next_dirty;
		x->dirty = false;
		x->next_dirty = NULL;
		http_conn_turn(x);
	}
	if (s->draining)
		drain_connections(s);
}

/* ---- deadlines ---- */

void http_server_wake_at(struct http_server *s, uint64_t when)
{
	uint64_t now, wait;
	struct timeval tv;

	if (s->timer_at && s->timer_at <= when)
		return;
	now = http_clock();
	wait = when > now ? when - now : 0;
	tv.tv_sec = (time_t)(wait / NS_PER_S);
	tv.tv_usec = (suseconds_t)(wait % NS_PER_S / 1000);
	s->timer_at = when;
	event_add(s->timer, &tv);
}

static uint64_t next_of(const struct http_exchange *x)
{
	uint64_t a = x->deadline, b = x->out_deadline;

	return !a || (b && b < a) ? b : a;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct http_server *s = arg;
	uint64_t now = http_clock(), next = 0;

	(void)fd;
	(void)what;
	s->timer_at = 0;
	for (unsigned i = 0; i < s->conf.max_connections; i++) {
		struct http_exchange *x = s->slots[i];
		uint64_t when = x ? next_of(x) : 0;

		if (when && when <= now) {
			http_conn_late(x, now);
			x = s->slots[i];
			when = x ? next_of(x) : 0;
		}
		if (when && (!next || when < next))
			next = when;
	}
	if (s->accept_ev && !event_pending(s->accept_ev, EV_READ, NULL))
		event_add(s->accept_ev, NULL);
	/* Many deadlines close to each other are looked at together. */
	if (next)
		http_server_wake_at(s, next > now + 5 * NS_PER_MS ? next : now + 5 * NS_PER_MS);
}

/* ---- accepting ---- */

/* An IPv4 address, also when an IPv6 socket tells it, or the network of an IPv6 one; told to the
 * handlers as text. */
static void note_address(struct http_exchange *x, const struct sockaddr_storage *sa)
{
	const struct in6_addr *v6 = &((const struct sockaddr_in6 *)sa)->sin6_addr;
	const void *addr = NULL;
	int family = sa->ss_family;

	if (family == AF_INET) {
		addr = &((const struct sockaddr_in *)sa)->sin_addr;
	} else if (family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(v6)) {
		family = AF_INET;
		addr = v6->s6_addr + 12;
	} else if (family == AF_INET6) {
		addr = v6;
	}
	if (!addr)
		return;
	memcpy(x->source_address, addr, family == AF_INET ? 4 : 8);
	x->source_address[8] = family == AF_INET ? 4 : 6;
	inet_ntop(family, addr, x->address, sizeof x->address);
}

static bool address_full(const struct http_server *s, const struct http_exchange *x)
{
	unsigned n = 0;

	if (!x->source_address[8] || (s->conf.proxyh && s->conf.proxyh(x->address, s->conf.arg)))
		return false;
	for (unsigned i = 0; i < s->conf.max_connections; i++)
		if (s->slots[i] && memcmp(s->slots[i]->source_address, x->source_address,
					  sizeof x->source_address) == 0)
			n++;
	return n >= s->conf.max_per_address;
}

static void turn_away(struct http_server *s, int fd)
{
	if (!s->counts.turned_away++)
		log_warn("http_connection_refused", "connections=%u", s->counts.connections);
	close(fd);
}

static uint32_t free_slot(const struct http_server *s)
{
	uint32_t slot = 0;

	while (slot < s->conf.max_connections && s->slots[slot])
		slot++;
	return slot;
}

/* Ends the connection that has sent no whole head for longest, and for IDLE_MIN_MS at least. Those
 * who hold connections open and ask nothing keep nobody out. */
static void make_room(struct http_server *s)
{
	struct http_exchange *idle = NULL;

	for (unsigned i = 0; i < s->conf.max_connections; i++) {
		struct http_exchange *x = s->slots[i];

		if (x && x->state == HTTP_CONN_HEAD && !x->active && !x->dirty &&
		    !http_out_waiting(x) && (!idle || x->waits_since < idle->waits_since))
			idle = x;
	}
	if (idle && http_clock() - idle->waits_since >= IDLE_MIN_MS * NS_PER_MS)
		http_conn_close(idle);
}

static void take_connection(struct http_server *s, int fd, const struct sockaddr_storage *sa)
{
	struct http_exchange *x = NULL, source = {0};
	uint32_t slot = free_slot(s);
	int one = 1;

	note_address(&source, sa);
	if (!address_full(s, &source)) {
		if (slot == s->conf.max_connections)
			make_room(s);
		slot = free_slot(s);
		x = slot < s->conf.max_connections ? http_exchange_new(s, slot) : NULL;
	}
	if (!x) {
		turn_away(s, fd);
		return;
	}
	note_address(x, sa);
	if (sa->ss_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (http_conn_open(x, fd))
		http_conn_close(x);
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
	struct http_server *s = arg;

	(void)what;
	for (unsigned i = 0; i < ACCEPTS_A_TURN; i++) {
		struct sockaddr_storage sa = {0};
		socklen_t n = sizeof sa;
		int got = accept4(fd, (struct sockaddr *)&sa, &n, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (got >= 0) {
			take_connection(s, got, &sa);
		} else if (errno != EINTR && errno != ECONNABORTED) {
			/* Without descriptors the listener would be ready for ever. */
			if (errno != EAGAIN) {
				event_del(s->accept_ev);
				http_server_wake_at(s, http_clock() + 100 * NS_PER_MS);
			}
			return;
		}
	}
}

/* ---- listening ---- */

/* A socket file that nobody listens on any more is in the way. */
static void remove_stale(const struct sockaddr_un *sa)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)sa, sizeof *sa) &&
	    errno == ECONNREFUSED)
		unlink(sa->sun_path);
	if (fd >= 0)
		close(fd);
}

static int listen_unix(struct http_server *s)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	if (strlen(s->path) >= sizeof sa.sun_path)
		return ENAMETOOLONG;
	strcpy(sa.sun_path, s->path);
	remove_stale(&sa);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return errno;
	if (bind(s->fd, (struct sockaddr *)&sa, sizeof sa)) {
		int err = errno;

		/* The socket that is there belongs to another program. */
		free(s->path);
		s->path = NULL;
		return err;
	}
	return chmod(s->path, 0660) || listen(s->fd, BACKLOG) ? errno : 0;
}

static int listen_tcp(struct http_server *s, const char *host, uint16_t port)
{
	struct sockaddr_storage sa;
	const struct sockaddr_in *v4 = (struct sockaddr_in *)&sa;
	const struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&sa;
	socklen_t n = (socklen_t)numeric_address(&sa, host, port);
	int one = 1;

	if (!n)
		return EINVAL;
	s->fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return errno;
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(s->fd, (struct sockaddr *)&sa, n) || listen(s->fd, BACKLOG) ||
	    getsockname(s->fd, (struct sockaddr *)&sa, &n))
		return errno;
	s->port = ntohs(sa.ss_family == AF_INET ? v4->sin_port : v6->sin6_port);
	return 0;
}

static int make_events(struct http_server *s)
{
	struct event_base *base = env_base(s->env);

	s->accept_ev = event_new(base, s->fd, EV_READ | EV_PERSIST, on_accept, s);
	s->timer = evtimer_new(base, on_timer, s);
	s->turn = evtimer_new(base, on_turn, s);
	if (!s->accept_ev || !s->timer || !s->turn)
		return ENOMEM;
	event_priority_set(s->accept_ev, http_priority(s));
	event_priority_set(s->timer, http_priority(s));
	event_priority_set(s->turn, http_priority(s));
	return event_add(s->accept_ev, NULL) ? ENOMEM : 0;
}

static void fill_conf(struct http_server *s, const struct http_server_conf *conf)
{
	struct http_server_conf *c = &s->conf;

	*c = *conf;
	c->host = c->path = NULL;
	c->max_connections = c->max_connections ? c->max_connections : MAX_CONNECTIONS;
	c->max_per_address = c->max_per_address ? c->max_per_address : MAX_PER_ADDRESS;
	c->head_ms = c->head_ms ? c->head_ms : HEAD_MS;
	c->body_ms = c->body_ms ? c->body_ms : BODY_MS;
	c->idle_ms = c->idle_ms ? c->idle_ms : IDLE_MS;
	c->write_ms = c->write_ms ? c->write_ms : WRITE_MS;
	c->heartbeat_ms = c->heartbeat_ms ? c->heartbeat_ms : HEARTBEAT_MS;
}

int http_server_alloc(struct http_server **out, struct env *env,
		      const struct http_server_conf *conf)
{
	struct http_server *s;
	int err;

	if (!out || !env || !conf || !conf->h)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->env = env;
	s->fd = -1;
	fill_conf(s, conf);
	s->slots = calloc(s->conf.max_connections, sizeof(struct http_exchange *));
	err = s->slots ? env_source_add(env, &s->source, http_exchange_input, s) : ENOMEM;
	if (!err) {
		env_source_shape(env, s->source, http_exchange_shape);
		if (conf->path && !env_replaying(env))
			err = (s->path = strdup(conf->path)) ? 0 : ENOMEM;
	}
	if (!err && !env_replaying(env))
		err = s->path ? listen_unix(s)
			      : listen_tcp(s, conf->host ? conf->host : "127.0.0.1", conf->port);
	if (!err && !env_replaying(env))
		err = make_events(s);
	/* Which port the system gave is known to a replay, too. */
	s->port = (uint16_t)env_answer(env, s->port);
	if (err) {
		http_server_free(s);
		return err;
	}
	*out = s;
	return 0;
}

struct http_server *http_server_free(struct http_server *s)
{
	if (!s)
		return NULL;
	env_source_del(s->env, s->source);
	for (unsigned i = 0; s->slots && i < s->conf.max_connections; i++)
		if (s->slots[i])
			http_exchange_free(s->slots[i]);
	stop_listening(s);
	if (s->timer)
		event_free(s->timer);
	if (s->turn)
		event_free(s->turn);
	free(s->path);
	free(s->slots);
	free(s);
	return NULL;
}

uint16_t http_server_port(const struct http_server *s)
{
	return s->port;
}

void http_server_counts(const struct http_server *s, struct http_server_counts *counts)
{
	*counts = s->counts;
	/* Connections are the shell's, so a replay has none of its own. */
	counts->connections = (unsigned)env_answer(s->env, s->counts.connections);
	counts->turned_away = (uint64_t)env_answer(s->env, (int64_t)s->counts.turned_away);
}
