#include "ipc/tcp_dial.h"

#include "ipc/resolver.h"
#include "ipc/unreachable.h"
#include "proto/base/numeric_address.h"

#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { SIX, FOUR, FAMILIES, HOST_MAX = 256 };

struct attempt {
	struct tcp_dial *dial;
	int fd;
	struct event *ev;
};

struct tcp_dial {
	struct event_base *base;
	struct resolver *resolver;
	struct lookup *lookup;
	struct event *timer; /* the start, the resolution delay, the delay between attempts */
	char host[HOST_MAX];
	uint16_t port;
	struct waiting {
		struct sockaddr_storage addrs[LOOKUP_MAX];
		unsigned n, at;
		bool answered;
	} waiting[FAMILIES];
	struct attempt attempts[TCP_DIAL_ADDRESSES];
	unsigned n_attempts, running;
	unsigned tries; /* addresses taken, also those without a socket */
	int last;	/* family of the last address that was tried */
	int err;	/* of the last one that failed */
	bool looking;	/* inside lookup_start: its answers are acted on when it returns */
	bool begun, over;
	tcp_dial_h *h;
	void *arg;
};

/* ---- addresses ---- */
static void add_address(struct tcp_dial *d, const char *number)
{
	struct sockaddr_storage addr;
	struct waiting *w;

	if (!numeric_address(&addr, number, d->port))
		return;
	w = &d->waiting[addr.ss_family == AF_INET6 ? SIX : FOUR];
	w->addrs[w->n++] = addr;
	d->waiting[SIX].answered = d->waiting[FOUR].answered = true;
}

/* True when the host needs no lookup. */
static bool take_literal(struct tcp_dial *d)
{
	if (strcasecmp(d->host, "localhost") == 0) {
		add_address(d, "::1");
		add_address(d, "127.0.0.1");
	} else {
		add_address(d, d->host);
	}
	return d->waiting[SIX].answered;
}

/* RFC 8305 §4: the families take turns, IPv6 first. NULL when no address waits. */
static const struct sockaddr_storage *next_address(struct tcp_dial *d)
{
	int first = d->last == SIX ? FOUR : SIX;

	for (int i = 0; i < FAMILIES && d->tries < TCP_DIAL_ADDRESSES; i++) {
		int family = i ? !first : first;
		struct waiting *w = &d->waiting[family];

		if (w->at < w->n) {
			d->last = family;
			d->tries++;
			return &w->addrs[w->at++];
		}
	}
	return NULL;
}

static bool have_address(const struct tcp_dial *d)
{
	return d->tries < TCP_DIAL_ADDRESSES &&
	       (d->waiting[SIX].at < d->waiting[SIX].n || d->waiting[FOUR].at < d->waiting[FOUR].n);
}

/* ---- attempts ---- */
static void close_attempt(struct attempt *a, bool keep_fd)
{
	if (a->ev)
		event_free(a->ev);
	if (a->fd >= 0 && !keep_fd)
		close(a->fd);
	if (a->fd >= 0)
		a->dial->running--;
	a->ev = NULL;
	a->fd = -1;
}

static void stop(struct tcp_dial *d)
{
	d->lookup = lookup_free(d->lookup);
	for (unsigned i = 0; i < d->n_attempts; i++)
		close_attempt(&d->attempts[i], false);
	event_del(d->timer);
	d->over = true;
}

/* The handler may free d. */
static void finish(struct tcp_dial *d, int fd, const char *why)
{
	stop(d);
	d->h(fd, why, d->arg);
}

static void win(struct attempt *a)
{
	struct tcp_dial *d = a->dial;
	int fd = a->fd, on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	close_attempt(a, true);
	finish(d, fd, "");
}

static void go_on(struct tcp_dial *d);

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct attempt *a = arg;
	struct tcp_dial *d = a->dial;
	socklen_t n = sizeof d->err;
	int err = 0;

	(void)what;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n))
		err = errno;
	if (!err) {
		win(a);
		return;
	}
	d->err = err;
	close_attempt(a, false);
	go_on(d);
}

/* 0 when it runs. */
static int connect_to(struct tcp_dial *d, const struct sockaddr_storage *addr)
{
	struct attempt *a = &d->attempts[d->n_attempts];
	socklen_t n = addr->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						  : sizeof(struct sockaddr_in);
	int fd = socket(addr->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err = 0;

	if (fd < 0)
		return errno;
	/* A connection that stands at once is reported by the loop, too. */
	if (connect(fd, (const struct sockaddr *)addr, n) && errno != EINPROGRESS)
		err = errno;
	if (!err) {
		*a = (struct attempt){.dial = d, .fd = fd};
		a->ev = event_new(d->base, fd, EV_WRITE, on_writable, a);
		if (!a->ev || event_add(a->ev, NULL))
			err = ENOMEM;
	}
	if (err) {
		if (a->ev)
			event_free(a->ev);
		*a = (struct attempt){0};
		close(fd);
		return err;
	}
	d->n_attempts++;
	d->running++;
	return 0;
}

static void arm(struct tcp_dial *d, unsigned ms)
{
	struct timeval tv = {0, ms * 1000};

	event_add(d->timer, &tv);
}

/* Starts the next address that gets a socket. Fails the dial when none is left, none runs and no
 * answer is awaited. */
static void try_next(struct tcp_dial *d)
{
	const struct sockaddr_storage *addr;
	char why[128];
	int err = EINPROGRESS;

	while (err && (addr = next_address(d))) {
		err = connect_to(d, addr);
		if (err)
			d->err = err;
	}
	if (have_address(d))
		arm(d, TCP_DIAL_STAGGER_MS);
	if (d->running || !d->waiting[SIX].answered || !d->waiting[FOUR].answered)
		return;
	if (d->tries)
		unreachable_print(UNREACHABLE_CONNECT, strerror(d->err), why, sizeof why);
	finish(d, -1, d->tries ? why : unreachable_words(UNREACHABLE_NAME));
}

/* Acts on an answer that came or an attempt that failed. */
static void go_on(struct tcp_dial *d)
{
	const struct waiting *six = &d->waiting[SIX], *four = &d->waiting[FOUR];

	if (d->over || d->looking)
		return;
	/* RFC 8305 §3: IPv4 alone waits a moment for the other answer. */
	if (!d->tries && !six->answered && four->n) {
		arm(d, TCP_DIAL_RESOLUTION_MS);
		return;
	}
	/* While one runs, the next has its time. */
	if (d->running) {
		if (have_address(d) && !event_pending(d->timer, EV_TIMEOUT, NULL))
			arm(d, TCP_DIAL_STAGGER_MS);
		return;
	}
	try_next(d);
}

static void on_addresses(int af, const struct sockaddr_storage *addrs, unsigned n, void *arg)
{
	struct tcp_dial *d = arg;
	struct waiting *w = &d->waiting[af == AF_INET6 ? SIX : FOUR];

	w->answered = true;
	w->n = n;
	if (n)
		memcpy(w->addrs, addrs, n * sizeof *addrs);
	go_on(d);
}

static void begin(struct tcp_dial *d)
{
	int err = 0;

	d->begun = true;
	if (!take_literal(d)) {
		d->looking = true;
		err = lookup_start(&d->lookup, d->resolver, d->host, d->port, on_addresses, d);
		d->looking = false;
	}
	if (err)
		finish(d, -1, strerror(err));
	else
		go_on(d);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct tcp_dial *d = arg;

	(void)fd;
	(void)what;
	if (!d->begun)
		begin(d);
	else
		try_next(d);
}

int tcp_dial_alloc(struct tcp_dial **out, struct event_base *base, struct resolver *r,
		   const char *host, uint16_t port, tcp_dial_h *h, void *arg)
{
	struct tcp_dial *d;

	if (!out || !base || !host || strlen(host) >= HOST_MAX || !h)
		return EINVAL;
	d = calloc(1, sizeof *d);
	if (!d)
		return ENOMEM;
	d->base = base;
	d->resolver = r;
	strcpy(d->host, host);
	d->port = port;
	d->last = FOUR;
	d->h = h;
	d->arg = arg;
	d->timer = evtimer_new(base, on_timer, d);
	if (!d->timer) {
		free(d);
		return ENOMEM;
	}
	arm(d, 0);
	*out = d;
	return 0;
}

struct tcp_dial *tcp_dial_free(struct tcp_dial *d)
{
	if (!d)
		return NULL;
	stop(d);
	event_free(d->timer);
	free(d);
	return NULL;
}
