#include "ipc/http.h"
#include "proto/base/time.h"
#include "tests/unit/ipc/loop.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { BIG = 300000, MANY = 12, KEPT_MAX = 4 << 20 /* of an error */ };

/* A web server on the same loop. */
static struct {
	struct loop l;
	struct http *h;
	struct evhttp *srv;
	unsigned hits;
	/* A server that takes a request, never answers, and notes when the client goes. */
	int mute_listener, mute_fd;
	struct event *mute_accept, *mute_read;
	bool mute_has, mute_gone;
	char mute[64];
	uint16_t port;
	struct evhttp_request *slow; /* whose answer goes on */
	bool slow_gone;
	char base[64], seen[2048]; /* of the last request: method, target, headers, body */
} fx;

/* The last answer. */
static struct {
	unsigned n, want;
	int err, status;
	char errtext[256], header[64], body[256];
	size_t n_body;
	bool all_x;
} got;

static void write_down(struct evhttp_request *req)
{
	struct evkeyval *kv;
	struct evbuffer *in = evhttp_request_get_input_buffer(req);
	size_t n = 0, room = sizeof fx.seen;

	n += (size_t)snprintf(fx.seen, room, "%d %s\n", (int)evhttp_request_get_command(req),
			      evhttp_request_get_uri(req));
	for (kv = evhttp_request_get_input_headers(req)->tqh_first; kv && n < room;
	     kv = kv->next.tqe_next)
		n += (size_t)snprintf(fx.seen + n, room - n, "%s: %s\n", kv->key, kv->value);
	if (n < room)
		snprintf(fx.seen + n, room - n, "\n%.*s", (int)evbuffer_get_length(in),
			 (const char *)evbuffer_pullup(in, -1));
}

static void on_slow_gone(struct evhttp_connection *conn, void *arg)
{
	(void)conn;
	(void)arg;
	if (fx.slow) /* without its connection that frees it */
		evhttp_send_reply_end(fx.slow);
	fx.slow = NULL;
	fx.slow_gone = true;
	env_stop(fx.l.env);
}

static void on_request(struct evhttp_request *req, void *arg)
{
	const char *uri = evhttp_request_get_uri(req);
	struct evkeyvalq *h = evhttp_request_get_output_headers(req);
	struct evbuffer *out = evbuffer_new();
	static char big[BIG];

	(void)arg;
	fx.hits++;
	write_down(req);
	evhttp_add_header(h, "X-RateLimit-Bucket", "  abc123 ");
	if (strcmp(uri, "/empty") == 0) {
		evhttp_send_reply(req, 204, "No Content", NULL);
	} else if (strcmp(uri, "/big") == 0) {
		memset(big, 'x', sizeof big);
		evbuffer_add(out, big, sizeof big);
		evhttp_send_reply(req, 200, "OK", out);
	} else if (strcmp(uri, "/broken") == 0) {
		for (unsigned i = 0; i <= KEPT_MAX / BIG; i++)
			evbuffer_add(out, big, sizeof big);
		evhttp_send_reply(req, 500, "Broken", out);
	} else if (strcmp(uri, "/slow") == 0) {
		evhttp_connection_set_closecb(evhttp_request_get_connection(req), on_slow_gone,
					      NULL);
		evbuffer_add_printf(out, "one");
		evhttp_send_reply_start(req, 200, "OK");
		evhttp_send_reply_chunk(req, out);
		fx.slow = req;
	} else if (strcmp(uri, "/moved") == 0) {
		evhttp_add_header(h, "Location", "/text");
		evhttp_send_reply(req, 302, "Found", NULL);
	} else if (strcmp(uri, "/limited") == 0) {
		evbuffer_add_printf(out, "{\"retry_after\":1}");
		evhttp_send_reply(req, 429, "Too Many", out);
	} else {
		evbuffer_add_printf(out, "hello");
		evhttp_send_reply(req, 200, "OK", out);
	}
	evbuffer_free(out);
}

static bool serve(void)
{
	struct sockaddr_in sa;
	socklen_t n = sizeof sa;
	struct evhttp_bound_socket *s;

	fx.srv = evhttp_new(env_base(fx.l.env));
	if (!fx.srv)
		return false;
	evhttp_set_allowed_methods(fx.srv, 0xffff);
	evhttp_set_gencb(fx.srv, on_request, NULL);
	s = evhttp_bind_socket_with_handle(fx.srv, "127.0.0.1", 0);
	if (!s || getsockname(evhttp_bound_socket_get_fd(s), (struct sockaddr *)&sa, &n))
		return false;
	fx.port = ntohs(sa.sin_port);
	snprintf(fx.base, sizeof fx.base, "http://127.0.0.1:%u", fx.port);
	return true;
}

static void on_mute_read(evutil_socket_t fd, short what, void *arg)
{
	char buf[1024];

	(void)what;
	(void)arg;
	if (recv(fd, buf, sizeof buf, 0) > 0) {
		fx.mute_has = true;
	} else {
		fx.mute_gone = true;
		event_del(fx.mute_read);
	}
	env_stop(fx.l.env);
}

static void on_mute_accept(evutil_socket_t fd, short what, void *arg)
{
	(void)what;
	(void)arg;
	fx.mute_fd = accept(fd, NULL, NULL);
	fx.mute_read =
		event_new(env_base(fx.l.env), fx.mute_fd, EV_READ | EV_PERSIST, on_mute_read, NULL);
	event_add(fx.mute_read, NULL);
}

static bool serve_mute(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof sa;

	fx.mute_fd = -1;
	fx.mute_listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fx.mute_listener < 0 || bind(fx.mute_listener, (struct sockaddr *)&sa, n) ||
	    listen(fx.mute_listener, 4) ||
	    getsockname(fx.mute_listener, (struct sockaddr *)&sa, &n))
		return false;
	snprintf(fx.mute, sizeof fx.mute, "http://127.0.0.1:%u/", ntohs(sa.sin_port));
	fx.mute_accept = event_new(env_base(fx.l.env), fx.mute_listener, EV_READ | EV_PERSIST,
				   on_mute_accept, NULL);
	return fx.mute_accept && !event_add(fx.mute_accept, NULL);
}

static void end_mute(void)
{
	event_free(fx.mute_accept);
	if (fx.mute_read)
		event_free(fx.mute_read);
	close(fx.mute_listener);
	if (fx.mute_fd >= 0)
		close(fx.mute_fd);
}

static bool begin(struct journal *j)
{
	memset(&fx, 0, sizeof fx);
	memset(&got, 0, sizeof got);
	got.want = 1;
	return !loop_open(&fx.l, j) && serve() &&
	       !http_alloc(&fx.h, fx.l.env, NULL, "Tester (x, 1)");
}

static void end(void)
{
	fx.h = http_free(fx.h);
	if (fx.srv)
		evhttp_free(fx.srv);
	loop_close(&fx.l);
}

static void on_resp(const struct http_resp *r, void *arg)
{
	(void)arg;
	got.n++;
	got.err = r->err;
	got.status = r->status;
	snprintf(got.errtext, sizeof got.errtext, "%s", r->errtext);
	got.header[0] = '\0';
	http_header(r, "x-ratelimit-BUCKET", got.header, sizeof got.header);
	got.n_body = r->body.n;
	snprintf(got.body, sizeof got.body, "%.*s", (int)r->body.n, r->body.p ? r->body.p : "");
	got.all_x = r->body.n > 0;
	for (size_t i = 0; i < r->body.n; i++)
		got.all_x = got.all_x && r->body.p[i] == 'x';
	if (got.n >= got.want)
		env_stop(fx.l.env);
}

static int ask(struct http_req **out, const char *method, const char *tail, const char *body)
{
	static const char *const headers[] = {"Authorization: Bot abc", "X-Empty;", NULL};
	char url[256];
	const struct http_call call = {.method = method,
				       .url = url,
				       .headers = headers,
				       .body = body,
				       .body_len = body ? strlen(body) : 0};

	snprintf(url, sizeof url, "%s%s", fx.base, tail);
	return http_request(out, fx.h, &call, on_resp, NULL);
}

TEST(http_brings_status_headers_and_body)
{
	CHECK(begin(NULL));
	CHECK_INT(ask(NULL, "GET", "/text?a=1", NULL), 0);
	CHECK_INT(got.n, 0);
	CHECK(loop_run(&fx.l));
	CHECK(got.err == 0 && got.status == 200 && !got.errtext[0]);
	CHECK_STR(got.body, "hello");
	CHECK_STR(got.header, "abc123");
	CHECK(strncmp(fx.seen, "1 /text?a=1\n", 12) == 0);
	CHECK(strstr(fx.seen, "Authorization: Bot abc\n"));
	CHECK(strstr(fx.seen, "X-Empty: \n"));
	CHECK(strstr(fx.seen, "User-Agent: Tester (x, 1)\n"));
	CHECK(!strstr(fx.seen, "Content-Length") && !strstr(fx.seen, "Content-Type"));
	CHECK_INT(ask(NULL, "GET", "/empty", NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(got.n == 2 && got.err == 0 && got.status == 204 && got.n_body == 0);
	CHECK_INT(ask(NULL, "GET", "/limited", NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(got.err == 0 && got.status == 429);
	CHECK_STR(got.body, "{\"retry_after\":1}");
	end();
}

TEST(http_sends_methods_and_bodies)
{
	CHECK(begin(NULL));
	CHECK_INT(ask(NULL, "POST", "/text", "{\"a\":\"b\"}"), 0);
	CHECK(loop_run(&fx.l));
	CHECK(strstr(fx.seen, "\n\n{\"a\":\"b\"}") && strstr(fx.seen, "Content-Length: 9\n"));
	CHECK(!strstr(fx.seen, "Expect") && !strstr(fx.seen, "urlencoded"));
	CHECK(strncmp(fx.seen, "2 ", 2) == 0);
	/* Without a body a PUT says that it has none. */
	CHECK_INT(ask(NULL, "PUT", "/text", NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(strncmp(fx.seen, "8 ", 2) == 0 && strstr(fx.seen, "Content-Length: 0\n"));
	CHECK_INT(ask(NULL, "DELETE", "/empty", NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(strncmp(fx.seen, "16 ", 3) == 0 && got.status == 204);
	CHECK_INT(ask(NULL, "PATCH", "/text", "x"), 0);
	CHECK(loop_run(&fx.l));
	CHECK(strncmp(fx.seen, "256 ", 4) == 0 && strstr(fx.seen, "\n\nx"));
	CHECK_INT(ask(NULL, "HEAD", "/text", NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(strncmp(fx.seen, "4 ", 2) == 0 && got.status == 200 && got.n_body == 0);
	end();
}

/* ---- a body that is told while it comes ---- */

static struct {
	unsigned n, headers;
	char all[64];
	enum { PART_GO_ON, PART_CANCEL, PART_FREE } then;
	struct http_req *req;
} parts;

static void on_part(const struct http_resp *r, void *arg)
{
	char type[64];
	size_t at = strlen(parts.all);

	(void)arg;
	parts.n++;
	parts.headers += http_header(r, "x-ratelimit-bucket", type, sizeof type) != NULL;
	snprintf(parts.all + at, sizeof parts.all - at, "%.*s", (int)r->body.n, r->body.p);
	if (parts.then == PART_CANCEL)
		http_req_cancel(parts.req);
	if (parts.then == PART_FREE)
		fx.h = http_free(fx.h);
	if (fx.slow && parts.n == 1 && parts.then == PART_GO_ON) {
		struct evbuffer *out = evbuffer_new();

		evbuffer_add_printf(out, ", two");
		evhttp_send_reply_chunk(fx.slow, out);
		evhttp_send_reply_end(fx.slow);
		fx.slow = NULL;
		evbuffer_free(out);
	}
}

static int ask_parts(const char *tail, size_t max)
{
	char url[256];
	const struct http_call call = {
		.method = "GET", .url = url, .parth = on_part, .max_body = max};

	snprintf(url, sizeof url, "%s%s", fx.base, tail);
	return http_request(&parts.req, fx.h, &call, on_resp, NULL);
}

TEST(http_tells_a_body_while_it_comes)
{
	CHECK(begin(NULL));
	memset(&parts, 0, sizeof parts);
	CHECK_INT(ask_parts("/slow", 0), 0);
	CHECK(loop_run(&fx.l));
	CHECK(got.n == 1 && got.err == 0 && got.status == 200 && got.n_body == 0);
	CHECK(parts.n >= 2);
	CHECK_INT(parts.headers, 1);
	CHECK_STR(parts.all, "one, two");
	/* What is refused comes whole. */
	memset(&parts, 0, sizeof parts);
	CHECK_INT(ask_parts("/limited", 0), 0);
	CHECK(loop_run(&fx.l));
	CHECK(got.status == 429 && parts.n == 0);
	CHECK_STR(got.body, "{\"retry_after\":1}");
	/* The cap is of all parts together. */
	CHECK_INT(ask_parts("/big", BIG - 1), 0);
	CHECK(loop_run(&fx.l));
	CHECK_INT(got.err, EMSGSIZE);
	end();
}

/* A server could make its error as large as the caller's memory. */
TEST(http_bounds_an_error_where_the_caller_bounds_the_parts)
{
	CHECK(begin(NULL));
	memset(&parts, 0, sizeof parts);
	CHECK_INT(ask_parts("/broken", SIZE_MAX), 0);
	CHECK(loop_run(&fx.l));
	CHECK(got.n == 1 && got.err == EMSGSIZE && parts.n == 0);
	end();
}

TEST(http_is_cancelled_in_the_middle_of_a_body)
{
	CHECK(begin(NULL));
	memset(&parts, 0, sizeof parts);
	parts.then = PART_CANCEL;
	CHECK_INT(ask_parts("/slow", 0), 0);
	CHECK(loop_run(&fx.l));
	CHECK(fx.slow_gone && parts.n == 1 && got.n == 0);
	fx.slow_gone = false;
	memset(&parts, 0, sizeof parts);
	parts.then = PART_FREE;
	CHECK_INT(ask_parts("/slow", 0), 0);
	CHECK(loop_run(&fx.l));
	CHECK(fx.slow_gone && parts.n == 1 && got.n == 0);
	end();
}

TEST(http_does_not_follow_a_redirect)
{
	CHECK(begin(NULL));
	CHECK_INT(ask(NULL, "GET", "/moved", NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(got.status == 302 && fx.hits == 1);
	end();
}

TEST(http_body_above_the_cap_fails)
{
	char url[128];
	struct http_call call = {.method = "GET", .url = url, .max_body = BIG};

	CHECK(begin(NULL));
	snprintf(url, sizeof url, "%s/big", fx.base);
	CHECK_INT(http_request(NULL, fx.h, &call, on_resp, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(got.err == 0 && got.status == 200 && got.n_body == BIG && got.all_x);
	call.max_body = BIG - 1;
	CHECK_INT(http_request(NULL, fx.h, &call, on_resp, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(got.err == EMSGSIZE && got.status == 0 && got.n_body == 0);
	CHECK(got.errtext[0]);
	end();
}

TEST(http_times_out)
{
	const struct http_call call = {.method = "GET", .url = fx.mute, .timeout_ms = 60};
	uint64_t from;

	CHECK(begin(NULL) && serve_mute());
	from = env_now(fx.l.env);
	CHECK_INT(http_request(NULL, fx.h, &call, on_resp, NULL), 0);
	while (!got.n)
		CHECK(loop_run(&fx.l));
	CHECK(got.err == ETIMEDOUT && got.status == 0 && got.errtext[0]);
	CHECK(env_now(fx.l.env) - from >= 55 * NS_PER_MS);
	while (!fx.mute_gone) /* and lets go of the connection */
		CHECK(loop_run(&fx.l));
	end_mute();
	end();
}

TEST(http_cancel_closes_the_connection_at_once_and_calls_nobody)
{
	const struct http_call call = {.method = "GET", .url = fx.mute};
	struct http_req *req = NULL;
	uint64_t at;

	CHECK(begin(NULL) && serve_mute());
	CHECK_INT(http_request(&req, fx.h, &call, on_resp, NULL), 0);
	CHECK(req);
	CHECK(loop_run(&fx.l));
	CHECK(fx.mute_has && !fx.mute_gone && !got.n);
	at = env_now(fx.l.env);
	http_req_cancel(req);
	CHECK(loop_run(&fx.l));
	CHECK(fx.mute_gone && !got.n);
	CHECK(env_now(fx.l.env) - at < 500 * NS_PER_MS);
	/* One that the loop has not seen yet never leaves. */
	CHECK_INT(ask(&req, "GET", "/text", NULL), 0);
	http_req_cancel(req);
	http_req_cancel(NULL);
	loop_run_for(&fx.l, 5 * NS_PER_MS);
	CHECK(!got.n && !fx.hits);
	end_mute();
	end();
}

/* A port of loopback that nobody listens at. */
static uint16_t closed_port(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof sa;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, n) ||
	    getsockname(fd, (struct sockaddr *)&sa, &n))
		return 0;
	close(fd);
	return ntohs(sa.sin_port);
}

TEST(http_tells_what_went_wrong_and_never_inside_the_call)
{
	static const struct {
		const char *url;
		int err;
	} cases[] = {
		{"ftp://127.0.0.1/x", EINVAL},
		{"file:///etc/passwd", EINVAL},
		{"http://", EINVAL},
		{"http://name.invalid/", EHOSTUNREACH},
	};
	struct http_call call = {.method = "GET"};
	char url[128];

	CHECK(begin(NULL));
	snprintf(url, sizeof url, "http://127.0.0.1:%u/", closed_port());
	call.url = url;
	CHECK_INT(http_request(NULL, fx.h, &call, on_resp, NULL), 0);
	CHECK_INT(got.n, 0);
	CHECK(loop_run(&fx.l));
	CHECK_INT(got.err, ECONNREFUSED);
	CHECK(strncmp(got.errtext, "cannot connect: ", 16) == 0 && !got.status);
	/* TLS to a server that speaks none. */
	snprintf(url, sizeof url, "https://127.0.0.1:%u/", fx.port);
	CHECK_INT(http_request(NULL, fx.h, &call, on_resp, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(got.err == EPROTO && strncmp(got.errtext, "TLS failed: ", 12) == 0);
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		call.url = cases[i].url;
		got.n = 0;
		CHECK_INT(http_request(NULL, fx.h, &call, on_resp, NULL), 0);
		CHECK_INT(got.n, 0);
		CHECK(loop_run(&fx.l));
		CHECK_INT(got.err, cases[i].err);
	}
	end();
}

TEST(http_ipv6_literal)
{
	struct http_call call = {.method = "GET"};
	struct sockaddr_in6 sa;
	socklen_t n = sizeof sa;
	struct evhttp_bound_socket *s;
	char url[64];

	CHECK(begin(NULL));
	s = evhttp_bind_socket_with_handle(fx.srv, "::1", 0);
	CHECK(s && !getsockname(evhttp_bound_socket_get_fd(s), (struct sockaddr *)&sa, &n));
	snprintf(url, sizeof url, "http://[::1]:%u/text", ntohs(sa.sin6_port));
	call.url = url;
	CHECK_INT(http_request(NULL, fx.h, &call, on_resp, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK_INT(got.err, 0);
	CHECK_INT(got.status, 200);
	end();
}

/* A listener whose backlog is full answers no SYN: connecting has a deadline of its own. */
TEST(http_connect_deadline)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct http_call call = {.method = "GET", .connect_ms = 60, .timeout_ms = 60000};
	int fds[4];
	socklen_t n = sizeof sa;
	char url[64];

	CHECK(begin(NULL));
	for (unsigned i = 0; i < 4; i++)
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | (i ? SOCK_NONBLOCK : 0), 0);
	CHECK(!bind(fds[0], (struct sockaddr *)&sa, n) && !listen(fds[0], 0) &&
	      !getsockname(fds[0], (struct sockaddr *)&sa, &n));
	for (unsigned i = 1; i < 4; i++)
		CHECK(!connect(fds[i], (struct sockaddr *)&sa, n) || errno == EINPROGRESS);
	snprintf(url, sizeof url, "http://127.0.0.1:%u/", ntohs(sa.sin_port));
	call.url = url;
	CHECK_INT(http_request(NULL, fx.h, &call, on_resp, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK_INT(got.err, ETIMEDOUT);
	for (unsigned i = 0; i < 4; i++)
		close(fds[i]);
	end();
}

TEST(http_refuses_lines_that_would_smuggle_a_header)
{
	static const char *const bad[] = {"X: a\r\nY: b", NULL};
	struct http_call call = {.method = "GET", .url = "http://127.0.0.1/", .headers = bad};

	CHECK(begin(NULL));
	CHECK_INT(http_request(NULL, fx.h, &call, on_resp, NULL), EINVAL);
	call.headers = NULL;
	call.method = "GET / HTTP/1.1\r\nX: y";
	CHECK_INT(http_request(NULL, fx.h, &call, on_resp, NULL), EINVAL);
	call.method = "GET";
	call.url = "http://127.0.0.1/\nx";
	CHECK_INT(http_request(NULL, fx.h, &call, on_resp, NULL), EINVAL);
	call.url = NULL;
	CHECK_INT(http_request(NULL, fx.h, &call, on_resp, NULL), EINVAL);
	end();
}

/* ---- from inside a handler ---- */
static struct http_req *self, *others[3];

static void on_chain(const struct http_resp *r, void *arg)
{
	(void)arg;
	http_req_cancel(self); /* over already: nothing happens */
	if (++got.n < MANY) {
		char url[128];
		const struct http_call call = {.method = "GET", .url = url};

		snprintf(url, sizeof url, "%s/text", fx.base);
		if (r->status != 200 || http_request(&self, fx.h, &call, on_chain, NULL))
			env_stop(fx.l.env);
	} else {
		env_stop(fx.l.env);
	}
}

TEST(http_handlers_may_start_requests)
{
	char url[128];
	const struct http_call call = {.method = "GET", .url = url};

	CHECK(begin(NULL));
	snprintf(url, sizeof url, "%s/text", fx.base);
	CHECK_INT(http_request(&self, fx.h, &call, on_chain, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(got.n == MANY && fx.hits == MANY);
	end();
}

static void on_first(const struct http_resp *r, void *arg)
{
	struct http_req **mine = arg;

	(void)r;
	got.n++;
	*mine = NULL;
	for (unsigned i = 0; i < 3; i++)
		http_req_cancel(others[i]);
	memset(others, 0, sizeof others);
	env_stop(fx.l.env);
}

TEST(http_handlers_may_cancel_others)
{
	char url[128];
	const struct http_call call = {.method = "GET", .url = url};

	CHECK(begin(NULL));
	snprintf(url, sizeof url, "%s/text", fx.base);
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(http_request(&others[i], fx.h, &call, on_first, &others[i]), 0);
	CHECK(loop_run(&fx.l));
	loop_run_for(&fx.l, 5 * NS_PER_MS);
	CHECK_INT(got.n, 1);
	end();
}

static void on_free(const struct http_resp *r, void *arg)
{
	(void)arg;
	got.n++;
	fx.h = http_free(fx.h);
	got.status = r->status; /* still there */
	snprintf(got.body, sizeof got.body, "%.*s", (int)r->body.n, r->body.p);
	env_stop(fx.l.env);
}

TEST(http_may_be_freed_in_a_handler_and_with_requests_running)
{
	char url[128];
	const struct http_call call = {.method = "GET", .url = url};
	const struct http_call held = {.method = "GET", .url = fx.mute};

	CHECK(begin(NULL));
	snprintf(url, sizeof url, "%s/text", fx.base);
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(http_request(NULL, fx.h, &call, on_free, NULL), 0);
	CHECK(loop_run(&fx.l));
	loop_run_for(&fx.l, 5 * NS_PER_MS);
	CHECK(got.n == 1 && got.status == 200 && !fx.h);
	CHECK_STR(got.body, "hello");
	/* With one under way. */
	CHECK(serve_mute());
	CHECK_INT(http_alloc(&fx.h, fx.l.env, NULL, "Tester"), 0);
	CHECK_INT(http_request(NULL, fx.h, &held, on_resp, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(fx.mute_has);
	fx.h = http_free(fx.h);
	CHECK(loop_run(&fx.l));
	CHECK(fx.mute_gone && got.n == 1);
	end_mute();
	end();
}

/* ---- headers ---- */
TEST(http_header_finds_whole_names_only)
{
	static const char lines[] = "HTTP/1.1 200 OK\r\nX-Foo-Bar: 1\r\nx-foo:\t two words \r\n"
				    "Empty:\r\nLast: z";
	const struct http_resp r = {.errtext = "", .headers = {lines, sizeof lines - 1}};
	const struct http_resp none = {.errtext = ""};
	char buf[16];

	CHECK_STR(http_header(&r, "X-FOO", buf, sizeof buf), "two words");
	CHECK_STR(http_header(&r, "x-foo-bar", buf, sizeof buf), "1");
	CHECK_STR(http_header(&r, "empty", buf, sizeof buf), "");
	CHECK_STR(http_header(&r, "last", buf, sizeof buf), "z");
	CHECK(!http_header(&r, "x-fo", buf, sizeof buf));
	CHECK(!http_header(&r, "HTTP/1.1 200 OK", buf, sizeof buf));
	/* Half a value is no value. */
	CHECK(!http_header(&r, "x-foo", buf, 9));
	CHECK_STR(http_header(&r, "x-foo", buf, 10), "two words");
	CHECK(!http_header(&none, "x-foo", buf, sizeof buf));
}

/* ---- journal ---- */
static char said[256];

/* What is sent next hangs on what came. */
static void on_step(const struct http_resp *r, void *arg)
{
	struct env *env = arg;
	char url[300], bucket[32] = "";
	const struct http_call call = {.method = "GET", .url = url};

	http_header(r, "x-ratelimit-bucket", bucket, sizeof bucket);
	snprintf(said + strlen(said), sizeof said - strlen(said), "%d/%d/%s/%.*s ", r->err,
		 r->status, bucket, (int)r->body.n, r->body.p ? r->body.p : "");
	if (++got.n < 3) {
		snprintf(url, sizeof url, "%s/next?%.*s", got.n < 2 ? fx.base : "ftp://x",
			 (int)r->body.n, r->body.p ? r->body.p : "");
		http_request(NULL, fx.h, &call, on_step, arg);
	} else {
		env_stop(env);
	}
}

static int program(struct env *env)
{
	char url[128];
	const struct http_call call = {.method = "POST", .url = url, .body = "b", .body_len = 1};
	int err = http_alloc(&fx.h, env, NULL, "Tester");

	snprintf(url, sizeof url, "%s/text", fx.base);
	said[0] = '\0';
	return err ? err : http_request(NULL, fx.h, &call, on_step, env);
}

TEST(http_replays_without_a_network)
{
	struct env_conf conf = {.loop = true, .replaying = true};
	char dir[32], path[64], live[256], digest[65], now[65], recorded[1][65];
	struct journal_reader *r;
	struct journal *j;
	struct env *env;
	struct tmr *deadline;
	uint64_t at;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/journal", dir);
	CHECK_INT(journal_create(&j, path, 1, "{}"), 0);
	memset(&fx, 0, sizeof fx);
	memset(&got, 0, sizeof got);
	CHECK(!loop_open(&fx.l, j) && serve());
	CHECK_INT(program(fx.l.env), 0);
	CHECK(loop_run(&fx.l));
	env_finish(fx.l.env);
	env_digest(fx.l.env, digest);
	snprintf(live, sizeof live, "%s", said);
	CHECK_STR(live, "0/200/abc123/hello 0/200/abc123/hello 22/0// ");
	end();
	journal_free(j);

	/* fx.base still names the server that is gone now. */
	got.n = 0;
	CHECK_INT(journal_open(&r, path), 0);
	CHECK_INT(env_alloc(&env, &conf), 0);
	CHECK_INT(journal_attach(r, env, 0), 0);
	CHECK_INT(tmr_alloc(&deadline, env, loop_late, NULL), 0);
	CHECK_INT(program(env), 0);
	CHECK_INT(journal_replay(r, &env, 1, &at, recorded), 0);
	env_digest(env, now);
	CHECK_STR(said, live);
	CHECK_STR(now, recorded[0]);
	CHECK_STR(now, digest);
	CHECK(strspn(now, "0") < 64);
	http_free(fx.h);
	tmr_free(deadline);
	env_free(env);
	journal_close(r);
	folder_remove(dir);
}

TEST_OOM(http_survives_every_failed_allocation)
{
	int err;

	memset(&fx, 0, sizeof fx);
	memset(&got, 0, sizeof got);
	got.want = 1;
	err = loop_open(&fx.l, NULL);
	if (!err && !serve())
		err = EIO;
	if (!err)
		err = http_alloc(&fx.h, fx.l.env, "/nowhere/ca.pem", "Tester");
	if (!err)
		err = ask(NULL, "GET", "/text", NULL);
	if (!err && !loop_run(&fx.l))
		err = ETIMEDOUT;
	if (!err)
		err = got.err;
	end();
	CHECK_OOM(err, (void)0);
	CHECK_STR(got.body, "hello");
}
