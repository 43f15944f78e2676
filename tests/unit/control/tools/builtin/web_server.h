/* A web site on the loopback interface, on the test's own loop, for the tools that read the web.
 * Included by one test file each. */
#ifndef TESTS_UNIT_CONTROL_TOOLS_BUILTIN_WEB_SERVER_H
#define TESTS_UNIT_CONTROL_TOOLS_BUILTIN_WEB_SERVER_H

#include "tests/unit/ipc/loop.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <sys/socket.h>

struct web_server {
	struct evhttp *srv;
	uint16_t port;
	char base[40];
};

static inline bool web_server_open(struct web_server *s, struct loop *l,
				   void (*h)(struct evhttp_request *, void *))
{
	struct sockaddr_in sa;
	socklen_t n = sizeof sa;
	struct evhttp_bound_socket *at;

	s->srv = evhttp_new(env_base(l->env));
	if (!s->srv)
		return false;
	evhttp_set_gencb(s->srv, h, NULL);
	at = evhttp_bind_socket_with_handle(s->srv, "127.0.0.1", 0);
	if (!at || getsockname(evhttp_bound_socket_get_fd(at), (struct sockaddr *)&sa, &n))
		return false;
	s->port = ntohs(sa.sin_port);
	snprintf(s->base, sizeof s->base, "http://127.0.0.1:%u", s->port);
	return true;
}

static inline void web_server_close(struct web_server *s)
{
	if (s->srv)
		evhttp_free(s->srv);
	s->srv = NULL;
}

static inline void web_server_reply(struct evhttp_request *req, int status, const char *type,
				    const void *body, size_t n)
{
	struct evbuffer *out = evbuffer_new();

	if (type)
		evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", type);
	evbuffer_add(out, body, n);
	evhttp_send_reply(req, status, "x", out);
	evbuffer_free(out);
}

#endif
