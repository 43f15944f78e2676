#include "tests/guildd/httpd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

enum { MAX_BODY = 1 << 20 };

struct httpd {
	struct evhttp *http;
	uint16_t port;
	httpd_h *h;
	void *arg;
};

/* What httpd_req.ev points to while a handler runs. */
struct running {
	struct evhttp_request *req;
	struct evkeyvalq query;
};

static const char *method_name(struct evhttp_request *req)
{
	switch (evhttp_request_get_command(req)) {
	case EVHTTP_REQ_GET:
		return "GET";
	case EVHTTP_REQ_POST:
		return "POST";
	case EVHTTP_REQ_PUT:
		return "PUT";
	case EVHTTP_REQ_PATCH:
		return "PATCH";
	case EVHTTP_REQ_DELETE:
		return "DELETE";
	default:
		return "?";
	}
}

/* Splits before it decodes, so that an encoded slash stays inside its part. */
static bool split(struct httpd_req *r, const char *path)
{
	char *copy = strdup(path), *save = NULL;

	if (!copy)
		return false;
	for (char *p = strtok_r(copy, "/", &save); p; p = strtok_r(NULL, "/", &save)) {
		if (r->n_seg == HTTPD_MAX_SEGMENTS ||
		    !(r->seg[r->n_seg] = evhttp_uridecode(p, 0, NULL))) {
			free(copy);
			return false;
		}
		r->n_seg++;
	}
	free(copy);
	return true;
}

static void read_body(struct httpd_req *r, struct evhttp_request *req)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(req);
	size_t n = evbuffer_get_length(in);
	const char *p = n ? (const char *)evbuffer_pullup(in, -1) : NULL;

	if (!p)
		return;
	r->body = json_loadb(p, n, 0, NULL);
	r->bad_body = r->body == NULL;
}

static void on_request(struct evhttp_request *req, void *arg)
{
	struct httpd *d = arg;
	struct running run = {.req = req};
	struct httpd_req r = {.ev = &run, .method = method_name(req)};
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
	const char *query = evhttp_uri_get_query(uri);

	TAILQ_INIT(&run.query);
	if (query)
		evhttp_parse_query_str(query, &run.query);
	read_body(&r, req);
	if (split(&r, evhttp_uri_get_path(uri) ? evhttp_uri_get_path(uri) : "/"))
		d->h(&r, d->arg);
	else
		httpd_reply(&r, 414, NULL);
	for (unsigned i = 0; i < r.n_seg; i++)
		free(r.seg[i]);
	evhttp_clear_headers(&run.query);
	json_decref(r.body);
}

int httpd_alloc(struct httpd **out, struct event_base *base, const char *ip, uint16_t port,
		httpd_h *h, void *arg)
{
	struct httpd *d = calloc(1, sizeof(*d));
	struct evhttp_bound_socket *s;
	struct sockaddr_in a = {0};
	socklen_t n = sizeof(a);

	if (!d)
		return ENOMEM;
	d->h = h;
	d->arg = arg;
	d->http = evhttp_new(base);
	s = d->http ? evhttp_bind_socket_with_handle(d->http, ip, port) : NULL;
	if (!s || getsockname(evhttp_bound_socket_get_fd(s), (struct sockaddr *)&a, &n)) {
		httpd_free(d);
		return EIO;
	}
	d->port = ntohs(a.sin_port);
	evhttp_set_max_body_size(d->http, MAX_BODY);
	evhttp_set_allowed_methods(d->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PUT |
						    EVHTTP_REQ_PATCH | EVHTTP_REQ_DELETE);
	evhttp_set_gencb(d->http, on_request, d);
	*out = d;
	return 0;
}

struct httpd *httpd_free(struct httpd *d)
{
	if (!d)
		return NULL;
	if (d->http)
		evhttp_free(d->http);
	free(d);
	return NULL;
}

uint16_t httpd_port(const struct httpd *d)
{
	return d->port;
}

const char *httpd_header(const struct httpd_req *req, const char *name)
{
	const struct running *run = req->ev;

	return evhttp_find_header(evhttp_request_get_input_headers(run->req), name);
}

const char *httpd_query(const struct httpd_req *req, const char *name)
{
	const struct running *run = req->ev;

	return evhttp_find_header(&run->query, name);
}

void httpd_set(struct httpd_req *req, const char *name, const char *value)
{
	const struct running *run = req->ev;

	evhttp_add_header(evhttp_request_get_output_headers(run->req), name, value);
}

void httpd_reply(struct httpd_req *req, int status, json_t *body)
{
	const struct running *run = req->ev;
	struct evbuffer *out = body ? evbuffer_new() : NULL;
	char *text = out ? json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	if (text) {
		httpd_set(req, "Content-Type", "application/json");
		evbuffer_add(out, text, strlen(text));
	}
	evhttp_send_reply(run->req, status, status == 204 ? "No Content" : NULL, out);
	free(text);
	if (out)
		evbuffer_free(out);
	json_decref(body);
}
