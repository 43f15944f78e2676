#include "fake_http.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "ipc/tmr.h"
#include "tests/test.h"

static void on_deadline(void *arg)
{
	struct fake_http *f = arg;

	f->timed_out = true;
	env_stop(f->env);
}

static void keep(char *to, size_t size, struct evhttp_request *req, const char *name)
{
	const char *v = evhttp_find_header(evhttp_request_get_input_headers(req), name);

	snprintf(to, size, "%s", v ? v : "");
}

static void on_request(struct evhttp_request *req, void *arg)
{
	struct fake_http *f = arg;
	struct evbuffer *in = evhttp_request_get_input_buffer(req);

	f->requests++;
	snprintf(f->path, sizeof f->path, "%s", evhttp_request_get_uri(req));
	keep(f->auth, sizeof f->auth, req, "Authorization");
	keep(f->type, sizeof f->type, req, "Content-Type");
	keep(f->agent, sizeof f->agent, req, "User-Agent");
	keep(f->key, sizeof f->key, req, "x-api-key");
	keep(f->version, sizeof f->version, req, "anthropic-version");
	snprintf(f->method, sizeof f->method, "%s",
		 evhttp_request_get_command(req) == EVHTTP_REQ_POST    ? "POST"
		 : evhttp_request_get_command(req) == EVHTTP_REQ_PATCH ? "PATCH"
								       : "other");
	f->n = (size_t)evbuffer_remove(in, f->body, sizeof f->body - 1);
	f->body[f->n] = '\0';
	f->h(f, req);
}

bool fake_http_listen(struct evhttp *server, char *base, size_t size)
{
	struct evhttp_bound_socket *s = evhttp_bind_socket_with_handle(server, "127.0.0.1", 0);
	struct sockaddr_in sa;
	socklen_t n = sizeof sa;

	if (!s || getsockname(evhttp_bound_socket_get_fd(s), (struct sockaddr *)&sa, &n))
		return false;
	snprintf(base, size, "http://127.0.0.1:%u/v1", ntohs(sa.sin_port));
	return true;
}

bool fake_http_begin(struct fake_http *f, fake_http_h *h, void *arg)
{
	memset(f, 0, sizeof *f);
	f->h = h;
	f->arg = arg;
	if (env_alloc(&f->env, &(struct env_conf){.loop = true}) ||
	    http_alloc(&f->http, f->env, NULL, "Tester") ||
	    tmr_alloc(&f->deadline, f->env, on_deadline, f))
		return false;
	f->server = evhttp_new(env_base(f->env));
	if (!f->server)
		return false;
	evhttp_set_allowed_methods(f->server, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PATCH |
						      EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE);
	evhttp_set_gencb(f->server, on_request, f);
	if (!fake_http_listen(f->server, f->base, sizeof f->base))
		return false;
	tmr_start(f->deadline, UINT64_C(60000000000));
	return true;
}

void fake_http_end(struct fake_http *f)
{
	f->ending = true;
	if (f->timed_out)
		test_fail(__FILE__, __LINE__, "the test waited for what did not come");
	http_free(f->http);
	if (f->server)
		evhttp_free(f->server);
	tmr_free(f->deadline);
	env_free(f->env);
}

void fake_http_answer(struct evhttp_request *req, int status, const char *type, const void *body,
		      size_t n)
{
	struct evbuffer *out = evbuffer_new();

	evbuffer_add(out, body, n);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", type);
	evhttp_send_reply(req, status, "X", out);
	evbuffer_free(out);
}

void fake_http_drop(struct evhttp_request *req)
{
	struct bufferevent *b =
		evhttp_connection_get_bufferevent(evhttp_request_get_connection(req));

	shutdown(bufferevent_getfd(b), SHUT_RDWR);
}

static void on_gone(struct evhttp_connection *conn, void *arg)
{
	struct fake_http *f = arg;

	(void)conn;
	if (f->ending)
		return;
	/* A request without its connection is freed by the end of its answer. */
	for (unsigned i = 0; i < FAKE_HTTP_OPEN; i++)
		if (f->open[i] && !evhttp_request_get_connection(f->open[i])) {
			evhttp_send_reply_end(f->open[i]);
			f->open[i] = NULL;
		}
	f->gone++;
	env_stop(f->env);
}

void fake_http_open(struct fake_http *f, struct evhttp_request *req, const char *type)
{
	for (unsigned i = 0; i < FAKE_HTTP_OPEN; i++)
		if (!f->open[i]) {
			f->open[i] = req;
			break;
		}
	evhttp_connection_set_closecb(evhttp_request_get_connection(req), on_gone, f);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", type);
	evhttp_send_reply_start(req, 200, "OK");
}

void fake_http_piece(struct evhttp_request *req, const void *data, size_t n)
{
	struct evbuffer *out = evbuffer_new();

	evbuffer_add(out, data, n);
	evhttp_send_reply_chunk(req, out);
	evbuffer_free(out);
}
