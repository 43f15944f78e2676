/* What the server tells while things happen, and the orders that it takes. */
#include "tests/unit/control/web/web_scene.h"

#include <errno.h>
#include <string.h>
#include <jansson.h>

/* ---- the event stream ---- */

static struct {
	char text[8192];
	size_t n;
	const char *want;
} stream;

static void on_part(const struct http_resp *resp, void *arg)
{
	size_t n = resp->body.n;

	(void)arg;
	if (n > sizeof stream.text - 1 - stream.n)
		n = sizeof stream.text - 1 - stream.n;
	memcpy(stream.text + stream.n, resp->body.p, n);
	stream.n += n;
	stream.text[stream.n] = '\0';
	if (strstr(stream.text, stream.want))
		env_stop(web_scene.l.env);
}

static struct http_req *read_events(const char *query, const char *last_id)
{
	char url[256], id[80];
	const char *const headers[] = {"Authorization: Bearer " TOKEN, *last_id ? id : NULL, NULL};
	struct http_call call = {.method = "GET", .url = url, .headers = headers, .parth = on_part};
	struct http_req *req = NULL;

	snprintf(url, sizeof url, "http://127.0.0.1:%u/api/events%s", web_port(web_scene.web),
		 query);
	snprintf(id, sizeof id, "Last-Event-ID: %s", last_id);
	stream.n = 0;
	stream.text[0] = '\0';
	return http_request(&req, web_scene.http, &call, web_scene_on_answer, NULL) ? NULL : req;
}

/* Until this text has come. */
static bool await_events(const char *text)
{
	stream.want = text;
	return strstr(stream.text, text) || (loop_run(&web_scene.l) && strstr(stream.text, text));
}

static void publish_session(uint64_t guild, enum event_type type, const char *why)
{
	struct bus_event ev = {.type = type, .at_ms = 1, .guild = guild};

	ev.session = (struct event_session){.session = 1, .channel = 8, .why = why};
	bus_publish(web_scene.bus, &ev);
}

TEST(events_of_the_bus_are_streamed_to_readers_that_ask_for_them)
{
	char id[64];
	struct http_req *req;

	CHECK(web_scene_open(NULL));
	/* Before anybody reads, nothing is kept. */
	publish_session(7, EVENT_SESSION_OVER, "before");
	req = read_events("?type=turn,session_over&guild=7", "");
	CHECK(await_events(":\n\n"));
	publish_session(7, EVENT_SESSION_STARTED, "");
	publish_session(8, EVENT_SESSION_OVER, "another guild");
	publish_session(7, EVENT_SESSION_OVER, "first");
	CHECK(await_events("first"));
	CHECK(strstr(stream.text, "event: session_over\ndata: {\"event\":\"session_over\""));
	CHECK(!strstr(stream.text, "before") && !strstr(stream.text, "another"));
	CHECK(!strstr(stream.text, "session_started"));
	snprintf(id, sizeof id, "%.*s", (int)strcspn(strstr(stream.text, "id: ") + 4, "\n"),
		 strstr(stream.text, "id: ") + 4);
	http_req_cancel(req);
	/* A reader that comes back gets what it missed. */
	publish_session(7, EVENT_SESSION_OVER, "second");
	publish_session(7, EVENT_SESSION_STARTED, "");
	req = read_events("", id);
	CHECK(await_events("session_started"));
	CHECK(strstr(stream.text, "second") && !strstr(stream.text, "first"));
	CHECK(!strstr(stream.text, "gap"));
	http_req_cancel(req);
	req = read_events("", "00000000-7");
	CHECK(await_events("event: gap\n"));
	http_req_cancel(req);
	web_scene_close();
}

/* As uptime monitors ask (RFC 9110 section 9.1). */
TEST(what_can_be_got_can_be_asked_about)
{
	CHECK(web_scene_open(NULL));
	CHECK_INT(web_scene_ask_as("", "HEAD", "/healthz", NULL), 200);
	CHECK_INT(web_scene_ask_as("", "HEAD", "/", NULL), 200);
	CHECK_INT(web_scene_ask_as("", "HEAD", "/api/rooms", NULL), 401);
	CHECK_INT(web_scene_ask("HEAD", "/api/rooms/42/leave", NULL), 405);
	web_scene_close();
}

TEST(an_event_stream_needs_the_token_and_a_query_that_names_events)
{
	CHECK(web_scene_open(NULL));
	CHECK_INT(web_scene_ask_as("", "GET", "/api/events", NULL), 401);
	CHECK_INT(web_scene_ask("GET", "/api/events?type=turn,nothing", NULL), 400);
	CHECK_STR(web_scene_text_of("error"), "bad_query");
	CHECK_INT(web_scene_ask("GET", "/api/events?type=", NULL), 400);
	CHECK_INT(web_scene_ask("GET", "/api/events?type=turn,", NULL), 400);
	CHECK_INT(web_scene_ask("GET", "/api/events?guild=x", NULL), 400);
	CHECK_INT(web_scene_ask("GET", "/api/events?guild=0", NULL), 400);
	CHECK_INT(web_scene_ask("GET", "/api/events?guild", NULL), 400);
	web_scene_close();
}

TEST(web_tells_the_state_of_mcp_servers_to_viewers_alone)
{
	CHECK(web_scene_open(NULL));
	CHECK_INT(web_scene_ask("GET", "/api/mcp/status", NULL), 200);
	CHECK_STR(json_string_value(json_object_get(
			  json_array_get(json_object_get(web_scene.got, "servers"), 0),
			  "serverName")),
		  "notes");
	CHECK_INT(web_scene_ask_as("wrong", "GET", "/api/mcp/status", NULL), 401);
	CHECK_INT(web_scene_ask("POST", "/api/mcp/status", "{}"), 405);
	web_scene_close();
}

static void take_action(const struct bus_event *ev, void *arg)
{
	char *told = arg;

	snprintf(told, 128, "%s, %s: %s", ev->action.kind, ev->action.target, ev->action.result);
}

TEST(orders_reach_the_room_and_the_audit)
{
	char told[128] = "", said[128];

	CHECK(web_scene_open(NULL));
	CHECK_INT(bus_subscribe(web_scene.bus, BUS_MASK(EVENT_OPERATOR_ACTION), take_action, told),
		  0);
	CHECK_INT(web_scene_ask("POST", "/api/rooms/42/say", "{\"text\": \"good evening\"}"), 202);
	CHECK_STR(web_scene.order, "say 42 0 good evening");
	/* It waits for a quiet room; by its number the bus tells how it ended. */
	snprintf(said, sizeof said, "say, server 42, order %s: accepted", web_scene_text_of("id"));
	CHECK_STR(told, said);
	CHECK_INT(web_scene_ask("POST", "/api/rooms/42/stop", NULL), 202);
	CHECK_STR(web_scene.order, "stop 42 0 ");
	CHECK_INT(web_scene_ask("POST", "/api/rooms/42/mute", "{\"muted\": true}"), 202);
	CHECK_STR(web_scene.order, "mute 42 0 ");
	CHECK_INT(web_scene_ask("POST", "/api/rooms/42/mute", "{\"muted\": false}"), 202);
	CHECK_STR(web_scene.order, "unmute 42 0 ");
	CHECK_INT(web_scene_ask("POST", "/api/rooms/42/leave", NULL), 202);
	CHECK_STR(web_scene.order, "leave 42 0 ");
	web_scene.order_err = EBUSY;
	CHECK_INT(web_scene_ask("POST", "/api/rooms/42/move", "{\"channel\": \"7\"}"), 409);
	CHECK_STR(web_scene.order, "move 42 7 ");
	CHECK_STR(web_scene_text_of("title"), "It is full.");
	CHECK_STR(told, "move, server 42: refused");
	web_scene.order_err = ENOENT;
	CHECK_INT(web_scene_ask("POST", "/api/voice/join",
				"{\"guildId\": \"9\", \"channelId\": \"7\"}"),
		  404);
	CHECK_STR(web_scene.order, "move 9 7 ");
	web_scene.order_err = ENOTCONN;
	CHECK_INT(web_scene_ask("POST", "/api/rooms/42/stop", NULL), 409);
	CHECK_STR(web_scene_text_of("error"), "no_conversation");
	web_scene_close();
}

TEST(orders_of_another_form_reach_nobody)
{
	static const struct {
		const char *path, *body;
		int status;
	} bad[] = {
		{"/api/rooms/42/say", "{\"text\": \" \"}", 400},
		{"/api/rooms/42/say", "{}", 400},
		{"/api/rooms/42/mute", "{\"muted\": 1}", 400},
		{"/api/rooms/42/move", "{\"channel\": 7}", 400},
		{"/api/voice/join", "{\"guildId\": \"9\"}", 400},
		{"/api/rooms/0/stop", NULL, 404},
		{"/api/rooms/x/stop", NULL, 404},
		{"/api/rooms/42/stop/now", NULL, 404},
		{"/api/rooms/42", NULL, 404},
		{"/api/rooms//stop", NULL, 404},
	};

	CHECK(web_scene_open(NULL));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_INT(web_scene_ask("POST", bad[i].path, bad[i].body), bad[i].status);
	CHECK_STR(web_scene.order, "");
	CHECK_INT(web_scene_ask("GET", "/api/guilds", NULL), 200);
	CHECK_INT(web_scene_ask("GET", "/api/guilds/42/channels", NULL), 200);
	CHECK_INT(web_scene_ask("GET", "/api/guilds/43/channels", NULL), 404);
	web_scene_close();
}
