/* How a provider's session is torn down (statement 8): against a server that reads the close and
 * does not answer it. */
#include "tests/test.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <strings.h>

#include "control/engine/engine.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "tests/standins/frame.h"

enum { EARLY_MS = 1300, LATE_MS = 2700 };

static struct silence {
	struct env *env;
	struct ws_ctx *ctx;
	struct evconnlistener *listener;
	struct bufferevent *peer;
	struct tmr *early, *late;
	bool upgraded, too_early, too_late;
	unsigned closes, code; /* close frames that came, and the last one's code */
	bool stop_at_close;
	bool ended; /* the connection */
	char url[64];
	void *engine;
	unsigned events; /* that the engine told */
	bool down;
} sx;

/* ---- the server ---- */

static void send_text(const char *text)
{
	uint8_t head[SI_FRAME_HEAD];
	size_t n = si_frame_head(head, SI_TEXT, true, strlen(text));

	bufferevent_write(sx.peer, head, n);
	bufferevent_write(sx.peer, text, strlen(text));
}

static void upgrade(struct evbuffer *in)
{
	static const char name[] = "sec-websocket-key: ";
	char key[64] = "", accept[SI_FRAME_ACCEPT], *line;

	if (evbuffer_search(in, "\r\n\r\n", 4, NULL).pos < 0)
		return;
	while ((line = evbuffer_readln(in, NULL, EVBUFFER_EOL_CRLF)) && *line) {
		if (strncasecmp(line, name, strlen(name)) == 0)
			snprintf(key, sizeof key, "%s", line + strlen(name));
		free(line);
	}
	free(line);
	si_frame_accept(key, accept);
	evbuffer_add_printf(bufferevent_get_output(sx.peer),
			    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
			    "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
			    accept);
	sx.upgraded = true;
	send_text("{\"type\":\"session.created\",\"session\":{}}");
}

static void take_frame(const struct si_frame *f, uint8_t *p)
{
	si_frame_unmask(f, p);
	if (f->opcode != SI_CLOSE)
		return;
	sx.closes++;
	sx.code = f->length >= 2 ? (unsigned)(p[0] << 8 | p[1]) : 0;
	/* What comes behind a close is nobody's any more. */
	send_text("{\"type\":\"error\",\"error\":{\"code\":\"session_expired\"}}");
	if (sx.stop_at_close)
		env_stop(sx.env);
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct si_frame f;

	(void)arg;
	if (!sx.upgraded)
		upgrade(in);
	while (sx.upgraded && evbuffer_get_length(in)) {
		uint8_t *p = evbuffer_pullup(in, -1);

		if (si_frame_parse(&f, p, evbuffer_get_length(in)) ||
		    evbuffer_get_length(in) < f.head + f.length)
			return;
		take_frame(&f, p + f.head);
		evbuffer_drain(in, f.head + f.length);
	}
}

static void on_end(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	(void)arg;
	if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
		return;
	sx.ended = true;
	env_stop(sx.env);
}

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *from, int n,
		      void *arg)
{
	(void)from;
	(void)n;
	(void)arg;
	/* A session that is opened after it is not looked at. */
	if (sx.peer) {
		evutil_closesocket(fd);
		return;
	}
	sx.peer = bufferevent_socket_new(evconnlistener_get_base(l), fd, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(sx.peer, on_read, NULL, on_end, NULL);
	bufferevent_enable(sx.peer, EV_READ | EV_WRITE);
}

/* ---- the engine ---- */

static void take_event(const struct engine_event *ev, void *arg)
{
	(void)arg;
	sx.events++;
	sx.down = sx.down || ev->type == ENGINE_LINK_DOWN;
	if (ev->type == ENGINE_LINK_UP)
		env_stop(sx.env);
}

static void be_early(void *arg)
{
	(void)arg;
	sx.too_early = sx.ended;
}

static void be_late(void *arg)
{
	(void)arg;
	sx.too_late = true;
	env_stop(sx.env);
}

static bool listen_silently(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof a;

	sx.listener =
		evconnlistener_new_bind(env_base(sx.env), on_accept, NULL, LEV_OPT_CLOSE_ON_FREE, 8,
					(struct sockaddr *)&a, sizeof a);
	if (!sx.listener ||
	    getsockname(evconnlistener_get_fd(sx.listener), (struct sockaddr *)&a, &n))
		return false;
	snprintf(sx.url, sizeof sx.url, "ws://127.0.0.1:%u/v1/realtime", ntohs(a.sin_port));
	return true;
}

static bool begin(void)
{
	struct engine_conf conf = {.caps = engine_caps(DIALECT_OPENAI, ROLE_VOICE),
				   .socket_url = sx.url,
				   .model = "m",
				   .voice = "v",
				   .silent_ms = 8000,
				   .key = "",
				   .h = take_event};

	memset(&sx, 0, sizeof sx);
	if (env_alloc(&sx.env, &(struct env_conf){.loop = true}) ||
	    ws_ctx_alloc(&sx.ctx, sx.env, NULL) || tmr_alloc(&sx.early, sx.env, be_early, NULL) ||
	    tmr_alloc(&sx.late, sx.env, be_late, NULL) || !listen_silently())
		return false;
	conf.env = sx.env;
	conf.ws = sx.ctx;
	return engine_realtime.alloc(&sx.engine, &conf) == 0;
}

/* Until the connection is over: neither at once nor long after the limit. */
static void wait_for_the_end(void)
{
	tmr_start(sx.early, EARLY_MS * NS_PER_MS);
	tmr_start(sx.late, LATE_MS * NS_PER_MS);
	while (!sx.ended && !sx.too_late)
		env_run(sx.env);
	CHECK(sx.ended && !sx.too_early && !sx.too_late);
}

static void end(void)
{
	engine_realtime.free(sx.engine);
	if (sx.peer)
		bufferevent_free(sx.peer);
	evconnlistener_free(sx.listener);
	tmr_free(sx.early);
	tmr_free(sx.late);
	ws_ctx_free(sx.ctx);
	env_free(sx.env);
}

TEST(rule_008_a_session_is_closed_with_1000_and_ended_1500_ms_later)
{
	unsigned told;

	CHECK(begin());
	env_run(sx.env);
	CHECK_INT(sx.events, 1);
	told = sx.events;
	engine_realtime.free(sx.engine);
	sx.engine = NULL;
	wait_for_the_end();
	CHECK_INT(sx.closes, 1);
	CHECK_INT(sx.code, 1000);
	/* Its handler heard nothing of it, nor of what the server sent after it. */
	CHECK_INT(sx.events, told);
	end();
}

TEST(rule_008_a_second_teardown_does_nothing)
{
	CHECK(begin());
	env_run(sx.env);
	send_text("{\"type\":\"error\",\"error\":{\"code\":\"session_expired\"}}");
	sx.stop_at_close = true;
	env_run(sx.env);
	CHECK(sx.down && sx.closes == 1);
	engine_realtime.free(sx.engine);
	sx.engine = NULL;
	engine_realtime.free(sx.engine);
	wait_for_the_end();
	CHECK_INT(sx.closes, 1);
	CHECK_INT(sx.code, 1000);
	end();
}

TEST(rule_008_the_close_is_sent_when_the_program_ends)
{
	CHECK(begin());
	env_run(sx.env);
	engine_realtime.free(sx.engine);
	sx.engine = NULL;
	sx.ctx = ws_ctx_free(sx.ctx);
	tmr_start(sx.late, LATE_MS * NS_PER_MS);
	env_run(sx.env);
	CHECK(sx.ended);
	CHECK_INT(sx.closes, 1);
	CHECK_INT(sx.code, 1000);
	end();
}
