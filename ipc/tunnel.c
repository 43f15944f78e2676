#include "ipc/tunnel.h"

#include "ipc/proxy.h"

#include <errno.h>
#include <event2/event.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct tunnel {
	struct event_base *base;
	int fd;
	struct event *writable, *readable;
	char request[PROXY_REQUEST_MAX];
	size_t n_request, sent;
	char reply[PROXY_REPLY_MAX];
	size_t n_reply;
	tunnel_h *h;
	void *arg;
};

static void stop(struct tunnel *t)
{
	event_del(t->writable);
	event_del(t->readable);
}

/* The handler may free t. */
static void fail(struct tunnel *t, const char *why)
{
	stop(t);
	close(t->fd);
	t->fd = -1;
	t->h(-1, why, t->arg);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct tunnel *t = arg;
	ssize_t n = send(fd, t->request + t->sent, t->n_request - t->sent, MSG_NOSIGNAL);

	(void)what;
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		fail(t, "it closed the connection");
		return;
	}
	t->sent += n > 0 ? (size_t)n : 0;
	if (t->sent == t->n_request) {
		sodium_memzero(t->request, sizeof t->request);
		event_del(t->writable);
	}
}

static void take_reply(struct tunnel *t, unsigned status)
{
	char why[64];
	int fd = t->fd;

	if (status / 100 != 2) {
		snprintf(why, sizeof why, "it refused: %u%s", status,
			 status == 407 ? " (it asks for credentials)" : "");
		fail(t, why);
		return;
	}
	stop(t);
	t->fd = -1;
	t->h(fd, "", t->arg);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct tunnel *t = arg;
	ssize_t n = recv(fd, t->reply + t->n_reply, sizeof t->reply - t->n_reply, 0);
	unsigned status = 0;
	int err;

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		fail(t, "it closed the connection");
		return;
	}
	t->n_reply += (size_t)n;
	err = proxy_reply(t->reply, t->n_reply, &status);
	if (err == EAGAIN)
		return;
	if (err)
		fail(t, "its reply to CONNECT is malformed");
	else
		take_reply(t, status);
}

int tunnel_alloc(struct tunnel **out, struct event_base *base, int fd,
		 const struct tunnel_target *to, tunnel_h *h, void *arg)
{
	struct tunnel *t = calloc(1, sizeof *t);
	int err = ENOMEM;

	if (!t) {
		close(fd);
		return ENOMEM;
	}
	t->base = base;
	t->fd = fd;
	t->h = h;
	t->arg = arg;
	t->writable = event_new(base, fd, EV_WRITE | EV_PERSIST, on_writable, t);
	t->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, t);
	if (t->writable && t->readable)
		err = proxy_request(to->proxy, to->host, to->port, t->request, &t->n_request);
	if (!err && (event_add(t->writable, NULL) || event_add(t->readable, NULL)))
		err = ENOMEM;
	if (err) {
		tunnel_free(t);
		return err;
	}
	*out = t;
	return 0;
}

struct tunnel *tunnel_free(struct tunnel *t)
{
	if (!t)
		return NULL;
	if (t->writable)
		event_free(t->writable);
	if (t->readable)
		event_free(t->readable);
	if (t->fd >= 0)
		close(t->fd);
	sodium_memzero(t->request, sizeof t->request);
	free(t);
	return NULL;
}
