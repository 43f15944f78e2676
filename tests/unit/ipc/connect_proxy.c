#include "connect_proxy.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <string.h>
#include <sys/socket.h>

static struct bufferevent *other_end(struct connect_proxy *p, const struct bufferevent *bev)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->ends[i] == bev)
			return p->ends[i ^ 1];
	return NULL;
}

static void on_bytes(struct bufferevent *bev, void *arg)
{
	struct connect_proxy *p = arg;
	struct bufferevent *to = other_end(p, bev);
	struct evbuffer *in = bufferevent_get_input(bev);

	if (p->frozen || !to)
		evbuffer_drain(in, evbuffer_get_length(in));
	else
		bufferevent_write_buffer(to, in);
}

static void on_end(struct bufferevent *bev, short what, void *arg)
{
	struct connect_proxy *p = arg;

	if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) || p->frozen)
		return;
	for (unsigned i = 0; i < p->n; i++) {
		if (p->ends[i] != bev)
			continue;
		for (unsigned k = 0; k < 2; k++) {
			if (p->ends[(i & ~1u) + k])
				bufferevent_free(p->ends[(i & ~1u) + k]);
			p->ends[(i & ~1u) + k] = NULL;
		}
		return;
	}
}

static void open_tunnel(struct connect_proxy *p, unsigned pair)
{
	static const char ok[] = "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n";
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(p->target),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct bufferevent *to = bufferevent_socket_new(p->base, -1, BEV_OPT_CLOSE_ON_FREE);

	p->ends[2 * pair + 1] = to;
	bufferevent_setcb(to, on_bytes, NULL, on_end, p);
	bufferevent_enable(to, EV_READ | EV_WRITE);
	bufferevent_socket_connect(to, (struct sockaddr *)&sa, sizeof sa);
	p->tunnels++;
	bufferevent_setcb(p->ends[2 * pair], on_bytes, NULL, on_end, p);
	bufferevent_write(p->ends[2 * pair], ok, sizeof ok - 1);
}

static void on_head(struct bufferevent *bev, void *arg)
{
	struct connect_proxy *p = arg;
	struct evbuffer *in = bufferevent_get_input(bev);
	struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
	int n;

	if (end.pos < 0)
		return;
	n = evbuffer_remove(in, p->request,
			    (size_t)end.pos + 4 < sizeof p->request ? (size_t)end.pos + 4 : 0);
	p->request[n > 0 ? n : 0] = '\0';
	for (unsigned i = 0; i < p->n; i++) {
		if (p->ends[i] != bev)
			continue;
		if (!p->reply)
			open_tunnel(p, i / 2);
		else
			bufferevent_write(bev, p->reply, strlen(p->reply));
	}
}

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa, int len,
		      void *arg)
{
	struct connect_proxy *p = arg;
	struct bufferevent *bev = bufferevent_socket_new(p->base, fd, BEV_OPT_CLOSE_ON_FREE);

	(void)l;
	(void)sa;
	(void)len;
	if (p->n == 2 * CONNECT_PROXY_PAIRS) {
		bufferevent_free(bev);
		return;
	}
	p->ends[p->n] = bev;
	p->ends[p->n + 1] = NULL;
	p->n += 2;
	bufferevent_setcb(bev, on_head, NULL, on_end, p);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
}

bool connect_proxy_open(struct connect_proxy *p, struct event_base *base, uint16_t target)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof sa;

	memset(p, 0, sizeof *p);
	p->base = base;
	p->target = target;
	p->listener = evconnlistener_new_bind(base, on_accept, p, LEV_OPT_CLOSE_ON_FREE, -1,
					      (struct sockaddr *)&sa, sizeof sa);
	if (!p->listener ||
	    getsockname(evconnlistener_get_fd(p->listener), (struct sockaddr *)&sa, &n))
		return false;
	p->port = ntohs(sa.sin_port);
	return true;
}

void connect_proxy_close(struct connect_proxy *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->ends[i])
			bufferevent_free(p->ends[i]);
	p->n = 0;
	if (p->listener)
		evconnlistener_free(p->listener);
	p->listener = NULL;
}
