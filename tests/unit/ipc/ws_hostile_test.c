/* What a server may do to a WebSocket before it stands. */
#include "ipc/ws.h"
#include "tests/unit/ipc/loop.h"

#include <arpa/inet.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <string.h>
#include <sys/socket.h>

static struct fixture {
	struct loop l;
	struct ws_ctx *ctx;
	struct evconnlistener *asked, *elsewhere;
	struct bufferevent *end[8];
	unsigned n_asked, n_elsewhere;
	uint16_t port, asked_port; /* port: of elsewhere */
	struct ws *cli;
	bool closed;
	char reply[256], reason[160];
} fx;

static void on_request(struct bufferevent *bev, void *arg)
{
	(void)arg;
	bufferevent_write(bev, fx.reply, strlen(fx.reply));
}

static void on_asked(struct evconnlistener *at, evutil_socket_t fd, struct sockaddr *sa, int n,
		     void *arg)
{
	struct bufferevent *bev =
		bufferevent_socket_new(evconnlistener_get_base(at), fd, BEV_OPT_CLOSE_ON_FREE);

	(void)sa, (void)n, (void)arg;
	fx.end[fx.n_asked++] = bev;
	bufferevent_setcb(bev, on_request, NULL, NULL, NULL);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
}

static void on_elsewhere(struct evconnlistener *at, evutil_socket_t fd, struct sockaddr *sa, int n,
			 void *arg)
{
	(void)at, (void)sa, (void)n, (void)arg;
	fx.n_elsewhere++;
	close(fd);
	env_stop(fx.l.env);
}

static struct evconnlistener *listen_at(evconnlistener_cb h, uint16_t *port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof sa;
	struct evconnlistener *l =
		evconnlistener_new_bind(env_base(fx.l.env), h, NULL, LEV_OPT_CLOSE_ON_FREE, -1,
					(struct sockaddr *)&sa, sizeof sa);

	if (l && getsockname(evconnlistener_get_fd(l), (struct sockaddr *)&sa, &n) == 0)
		*port = ntohs(sa.sin_port);
	return l;
}

static void on_cli(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		   void *arg)
{
	(void)ws, (void)code, (void)arg;
	fx.closed = ev == WS_CLOSED;
	snprintf(fx.reason, sizeof fx.reason, "%.*s", (int)len, len ? (const char *)data : "");
	env_stop(fx.l.env);
}

static void begin(void)
{
	memset(&fx, 0, sizeof fx);
	CHECK_INT(loop_open(&fx.l, NULL), 0);
	CHECK_INT(ws_ctx_alloc(&fx.ctx, fx.l.env, NULL), 0);
	fx.elsewhere = listen_at(on_elsewhere, &fx.port);
	fx.asked = listen_at(on_asked, &fx.asked_port);
	CHECK(fx.asked && fx.elsewhere);
}

/* A handshake that is answered with fx.reply. */
static void dial(void)
{
	static const char *const headers[] = {"Authorization: Bearer sesame", NULL};
	struct ws_dial d = {.headers = headers};
	char url[64];

	snprintf(url, sizeof url, "ws://127.0.0.1:%u/", fx.asked_port);
	d.url = url;
	fx.closed = false;
	CHECK_INT(ws_connect(&fx.cli, fx.ctx, &d, on_cli, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK(fx.closed);
	ws_free(fx.cli);
}

static void end(void)
{
	for (unsigned i = 0; i < fx.n_asked; i++)
		bufferevent_free(fx.end[i]);
	evconnlistener_free(fx.asked);
	evconnlistener_free(fx.elsewhere);
	ws_ctx_free(fx.ctx);
	loop_close(&fx.l);
}

/* The key in the headers is meant for the address of the settings alone. */
TEST(ws_does_not_follow_a_redirect)
{
	begin();
	snprintf(fx.reply, sizeof fx.reply,
		 "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%u/\r\nContent-Length: 0\r\n"
		 "\r\n",
		 fx.port);
	dial();
	CHECK_INT(fx.n_elsewhere, 0);
	CHECK_INT(fx.n_asked, 1);
	end();
}

TEST(ws_tells_how_a_handshake_was_refused)
{
	static const struct {
		const char *reply, *reason;
	} rows[] = {
		{"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n",
		 "refused with status 429 rate_limit_exceeded, retry after 2000 ms"},
		{"HTTP/1.1 429 No\r\nRetry-After: 2\r\nretry-after-ms: 150\r\n"
		 "Content-Length: 0\r\n\r\n",
		 "refused with status 429 rate_limit_exceeded, retry after 150 ms"},
		{"HTTP/1.1 503 Busy\r\nDate: Sun, 22 Nov 2026 23:59:58 GMT\r\n"
		 "Retry-After: Mon, 23 Nov 2026 00:00:01 GMT\r\nContent-Length: 0\r\n\r\n",
		 "refused with status 503, retry after 3000 ms"},
		{"HTTP/1.1 429 No\r\nContent-Length: 0\r\n\r\n",
		 "refused with status 429 rate_limit_exceeded"},
		{"HTTP/1.1 401 No\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n",
		 "HS: ws upgrade unauthorized"},
	};

	begin();
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(fx.reply, sizeof fx.reply, "%s", rows[i].reply);
		dial();
		CHECK_STR(fx.reason, rows[i].reason);
	}
	end();
}
