#include "tests/guildd/httpd.h"

#include "tests/guildd/form.h"

#include "ipc/http_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A bench, or chaos, is one address with many clients. */
enum { MAX_BODY = 16 << 20, MAX_PER_ADDRESS = 1024, PARAMETERS = 4, PARAMETER_SIZE = 512 };

struct httpd {
	struct http_server *http;
	httpd_h *h;
	void *arg;
};

/* What httpd_req.running points to while a handler runs. */
struct running {
	struct http_exchange *x;
	char parameters[PARAMETERS][PARAMETER_SIZE]; /* that were asked for */
	unsigned n_parameters;
};

/* No part holds an encoded slash: the server refuses them. */
static bool split(struct httpd_req *r, const char *path)
{
	char *copy = strdup(path), *save = NULL;

	if (!copy)
		return false;
	for (char *p = strtok_r(copy, "/", &save); p; p = strtok_r(NULL, "/", &save)) {
		if (r->n_seg == HTTPD_MAX_SEGMENTS || !(r->seg[r->n_seg] = strdup(p))) {
			free(copy);
			return false;
		}
		r->n_seg++;
	}
	free(copy);
	return true;
}

static void on_body(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
{
	struct httpd *d = arg;
	const struct http_head *head = http_request_head(x);
	struct running run = {.x = x};
	struct httpd_req r = {.running = &run, .method = http_method_name(head->method)};

	(void)last;
	if (n) {
		r.body = form_parse(httpd_header(&r, "Content-Type"), (const char *)data, n);
		if (!r.body)
			r.body = form_parse_fields(httpd_header(&r, "Content-Type"),
						   (const char *)data, n);
		if (!r.body)
			r.body = json_loadb((const char *)data, n, 0, NULL);
		r.bad_body = r.body == NULL;
	}
	if (split(&r, head->path))
		d->h(&r, d->arg);
	else
		httpd_reply(&r, 414, NULL);
	for (unsigned i = 0; i < r.n_seg; i++)
		free(r.seg[i]);
	json_decref(r.body);
}

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	(void)head;
	http_take_body(x, &(struct http_body_limits){.max = MAX_BODY}, on_body, arg);
}

int httpd_alloc(struct httpd **out, struct env *env, const char *ip, uint16_t port, httpd_h *h,
		void *arg)
{
	struct httpd *d = calloc(1, sizeof(*d));
	const struct http_server_conf conf = {.host = ip,
					      .port = port,
					      .max_per_address = MAX_PER_ADDRESS,
					      .h = on_request,
					      .arg = d};
	int err;

	if (!d)
		return ENOMEM;
	d->h = h;
	d->arg = arg;
	err = http_server_alloc(&d->http, env, &conf);
	if (err) {
		httpd_free(d);
		return err;
	}
	*out = d;
	return 0;
}

struct httpd *httpd_free(struct httpd *d)
{
	if (!d)
		return NULL;
	http_server_free(d->http);
	free(d);
	return NULL;
}

uint16_t httpd_port(const struct httpd *d)
{
	return http_server_port(d->http);
}

/* Copied out, so that it ends with NUL. */
static const char *parameter(struct running *run,
			     bool (*copy)(const struct http_head *h, const char *name, char *buf,
					  size_t size),
			     const char *name)
{
	char *buf = run->parameters[run->n_parameters % PARAMETERS];

	if (!copy(http_request_head(run->x), name, buf, PARAMETER_SIZE))
		return NULL;
	run->n_parameters++;
	return buf;
}

const char *httpd_header(const struct httpd_req *req, const char *name)
{
	return parameter(req->running, http_head_copy, name);
}

const char *httpd_query(const struct httpd_req *req, const char *name)
{
	return parameter(req->running, http_head_query, name);
}

void httpd_set(struct httpd_req *req, const char *name, const char *value)
{
	const struct running *run = req->running;

	http_reply_field(run->x, name, value);
}

void httpd_reply(struct httpd_req *req, int status, json_t *body)
{
	const struct running *run = req->running;
	char *text = body ? json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	http_reply(run->x, status, text ? "application/json" : NULL, text, text ? strlen(text) : 0);
	free(text);
	json_decref(body);
}

void httpd_reply_file(struct httpd_req *req, const char *type, const void *data, size_t n)
{
	const struct running *run = req->running;

	http_reply(run->x, 200, type, data, n);
}
