#include "tests/talk/stream.h"

#include "ipc/http.h"
#include "ipc/http_server.h"
#include "tests/unit/ipc/loop.h"

static struct fixture {
	struct loop l;
	struct http_server *server;
	struct http_events *events;
	struct http *http;
	struct stream *stream;
	unsigned joins;
	const char *cut; /* what the first reader gets before its connection ends */
	char auth[80], id[64], got[256];
} fx;

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	(void)arg;
	fx.joins++;
	http_head_copy(head, "Authorization", fx.auth, sizeof fx.auth);
	http_head_copy(head, "Last-Event-ID", fx.id, sizeof fx.id);
	if (fx.joins == 1 && fx.cut) {
		http_reply_begin(x, 200, "text/event-stream");
		http_reply_write(x, fx.cut, strlen(fx.cut));
		http_reply_end(x);
		return;
	}
	http_events_join(fx.events, x, head, NULL);
	env_stop(fx.l.env);
}

static void on_event(const char *data, size_t n, void *arg)
{
	size_t at = strlen(fx.got);

	(void)arg;
	snprintf(fx.got + at, sizeof fx.got - at, "%.*s|", (int)n, data);
	env_stop(fx.l.env);
}

static int begin(void)
{
	struct http_server_conf sc = {.h = on_request};
	char url[64];
	int err;

	memset(&fx, 0, sizeof fx);
	err = loop_open(&fx.l, NULL);
	if (!err)
		err = http_events_alloc(&fx.events, fx.l.env, NULL, NULL);
	if (!err)
		err = http_server_alloc(&fx.server, fx.l.env, &sc);
	if (!err)
		err = http_alloc(&fx.http, fx.l.env, NULL, "test");
	if (err)
		return err;
	snprintf(url, sizeof url, "http://127.0.0.1:%u/", http_server_port(fx.server));
	return stream_alloc(&fx.stream, fx.l.env, fx.http, url, "token", on_event, NULL);
}

static void end(void)
{
	fx.stream = stream_free(fx.stream);
	http_free(fx.http);
	http_events_free(fx.events);
	http_server_free(fx.server);
	loop_close(&fx.l);
}

static void publish(const char *data)
{
	http_events_publish(fx.events, NULL, "turn", data, strlen(data));
}

/* A stream that ends, as with a control that was restarted, goes on behind its last event. */
TEST(stream_comes_back_and_misses_nothing)
{
	CHECK_INT(begin(), 0);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.auth, "Bearer token");
	CHECK_STR(fx.id, "");
	publish("one");
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "one|");
	publish("two");
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "one|two|");
	fx.events = http_events_free(fx.events);
	CHECK_INT(http_events_alloc(&fx.events, fx.l.env, NULL, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK_INT(fx.joins, 2);
	CHECK(strstr(fx.id, "-2") != NULL);
	end();
}

/* Behind an event that came in part, its words would be lost. */
TEST(stream_asks_again_for_an_event_that_came_in_part)
{
	CHECK_INT(begin(), 0);
	fx.cut = "id: 0000002a-6\nevent: turn\ndata: six\n\n"
		 "id: 0000002a-7\nevent: turn\ndata: sev\n";
	/* The event, then the second request. */
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "six|");
	CHECK(loop_run(&fx.l));
	CHECK_INT(fx.joins, 2);
	CHECK_STR(fx.id, "0000002a-6");
	CHECK_STR(fx.got, "six|");
	end();
}

TEST_OOM(stream_survives_no_memory)
{
	int err = begin();

	end();
	CHECK_OOM(err, (void)0);
}
