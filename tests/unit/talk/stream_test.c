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
	char auth[80], id[64], got[256];
} fx;

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	(void)arg;
	fx.joins++;
	http_head_copy(head, "Authorization", fx.auth, sizeof fx.auth);
	http_head_copy(head, "Last-Event-ID", fx.id, sizeof fx.id);
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

TEST_OOM(stream_survives_no_memory)
{
	int err = begin();

	end();
	CHECK_OOM(err, (void)0);
}
