/* Sessions of browsers, with a real client on loopback. */
#include "control/web/web.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>

#include <jansson.h>

#include "control/configure/live_settings.h"
#include "control/events/events.h"
#include "control/web/roles.h"
#include "control/web/routes.def"
#include "control/web/sessions.h"
#include "ipc/http.h"
#include "tests/unit/ipc/loop.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static struct fixture {
	struct loop l;
	struct settings *settings;
	struct live_settings *live;
	struct bus *bus;
	struct web *web;
	struct http *http;
	json_t *got;
	int status;
	char cookie[160], attributes[160], policy[512], type[64], retry[16];
	char coding[16], tag[48]; /* of files of the page */
	size_t n;		  /* bytes of the body */
	uint8_t magic[2];	  /* its first */
	char actions[1024];
	unsigned described; /* how often the rooms were */
	bool closed;	    /* the room's channel, to some members */
} fx;

static int on_save(const struct live_settings_version *version, void *arg)
{
	(void)version;
	(void)arg;
	return EIO;
}

static void on_changed(void *arg)
{
	(void)arg;
}

static void on_told(const char *name, enum settings_when when, const char *author, void *arg)
{
	(void)name;
	(void)when;
	(void)author;
	(void)arg;
}

static json_t *on_ready(void *arg)
{
	(void)arg;
	return json_pack("{s:b}", "ready", 1);
}

static char *on_metrics(void *arg)
{
	(void)arg;
	return strdup("parley_up 1\n");
}

static json_t *on_rooms(void *arg)
{
	(void)arg;
	fx.described++;
	return json_pack("[{s:s,s:s,s:[{s:s,s:[{s:i,s:s}]}]}]", "guild", "42", "channel", "7",
			 "screens", "name", "Alice", "notes", "changed", 10, "text", "a letter");
}

/* What the note about a screen says in this room or session. */
static const char *note_word(const json_t *shares)
{
	const json_t *notes = json_object_get(json_array_get(shares, 0), "notes");
	const char *text = json_string_value(json_object_get(json_array_get(notes, 0), "text"));

	return text ? text : "";
}

static const char *room_note(void)
{
	return note_word(
		json_object_get(json_array_get(json_object_get(fx.got, "rooms"), 0), "screens"));
}

static const char *session_note(void)
{
	const json_t *s = json_array_get(json_object_get(fx.got, "sessions"), 0);

	return note_word(json_object_get(json_object_get(s, "streamWatch"), "shares"));
}

static bool on_open(uint64_t guild, uint64_t channel, void *arg)
{
	(void)arg;
	return guild == 42 && channel == 7 && !fx.closed;
}

/* Somebody speaks to the bot in server 42. */
static void tell_turn(void)
{
	bus_publish(fx.bus, &(struct bus_event){.type = EVENT_TURN_ADMITTED,
						.guild = 42,
						.turn = {.turn = 1, .heard = "hello"}});
}

/* What /api/rooms shows of it; "": nothing. */
static const char *heard_word(void)
{
	const json_t *room = json_array_get(json_object_get(fx.got, "rooms"), 0);
	const json_t *turn = json_array_get(json_object_get(room, "turns"), 0);
	const char *text = json_string_value(json_object_get(turn, "heard"));

	return text ? text : "";
}

static void on_action(const struct bus_event *ev, void *arg)
{
	size_t n = strlen(fx.actions);

	(void)arg;
	snprintf(fx.actions + n, sizeof fx.actions - n, "%s/%s/%s ", ev->action.kind,
		 ev->action.actor, ev->action.result);
}

static json_t *on_channels(uint64_t guild, void *arg)
{
	(void)guild;
	(void)arg;
	return json_pack("[{s:s},{s:s}]", "id", "7", "id", "8");
}

static int on_order(const struct web_order *o, char why[WEB_WHY_SIZE], void *arg)
{
	(void)o;
	(void)why;
	(void)arg;
	return 0;
}

static bool open_with(const json_t *kept)
{
	static const uint32_t hours = 2;
	struct live_settings_conf lc = {.saveh = on_save, .changedh = on_changed, .toldh = on_told};
	struct web_conf wc = {.listen = "127.0.0.1:0",
			      .origin = "https://parley.example.org",
			      .share_origin = "https://share.example.org",
			      .proxies = "127.0.0.1",
			      .token = TOKEN,
			      .sessions = kept,
			      .session_hours = &hours,
			      .mcph = on_ready,
			      .readyh = on_ready,
			      .reasonsh = on_ready,
			      .statsh = on_ready,
			      .guildsh = on_rooms,
			      .channelsh = on_channels,
			      .openh = on_open,
			      .orderh = on_order,
			      .roomsh = on_rooms,
			      .metricsh = on_metrics};

	int err;

	memset(&fx, 0, sizeof fx);
	if (loop_open(&fx.l, NULL) || settings_alloc(&fx.settings))
		return false;
	lc.settings = fx.settings;
	lc.kept = json_pack("{s:[{s:i,s:s,s:s,s:{s:i}}]}", "versions", "version", 1, "updatedAt",
			    "2026-11-22T12:00:00.000Z", "author", "alice", "intent", "hold_ms", 9);
	err = live_settings_alloc(&fx.live, &lc);
	json_decref((json_t *)lc.kept);
	if (err || bus_alloc(&fx.bus) ||
	    bus_subscribe(fx.bus, BUS_MASK(EVENT_OPERATOR_ACTION), on_action, NULL))
		return false;
	wc.env = fx.l.env;
	wc.live = fx.live;
	wc.bus = fx.bus;
	return web_alloc(&fx.web, &wc) == 0 && http_alloc(&fx.http, fx.l.env, NULL, "test") == 0;
}

static void close_all(void)
{
	http_free(fx.http);
	web_free(fx.web);
	bus_free(fx.bus);
	live_settings_free(fx.live);
	settings_free(fx.settings);
	json_decref(fx.got);
	loop_close(&fx.l);
}

/* Keeps "name=secret" and what follows. */
static void keep_cookie(const struct http_resp *resp)
{
	char field[320];
	char *end;

	if (!http_header(resp, "Set-Cookie", field, sizeof field))
		return;
	end = strchr(field, ';');
	if (end)
		*end++ = '\0';
	snprintf(fx.cookie, sizeof fx.cookie, "%.159s", field);
	snprintf(fx.attributes, sizeof fx.attributes, "%.159s", end ? end : "");
}

static void on_answer(const struct http_resp *resp, void *arg)
{
	(void)arg;
	env_stop(fx.l.env);
	fx.status = resp->status;
	json_decref(fx.got);
	fx.got = json_loadb(resp->body.p, resp->body.n, 0, NULL);
	keep_cookie(resp);
	http_header(resp, "Content-Security-Policy", fx.policy, sizeof fx.policy);
	http_header(resp, "Content-Type", fx.type, sizeof fx.type);
	fx.coding[0] = '\0';
	http_header(resp, "Content-Encoding", fx.coding, sizeof fx.coding);
	http_header(resp, "ETag", fx.tag, sizeof fx.tag);
	fx.n = resp->body.n;
	memcpy(fx.magic, resp->body.p ? (const char *)resp->body.p : "", fx.n < 2 ? fx.n : 2);
	http_header(resp, "Retry-After", fx.retry, sizeof fx.retry);
}

/* Up to four header lines, NULL for none. The status. */
static int ask(const char *method, const char *path, const char *const lines[4])
{
	const char *headers[6] = {"Content-Type: application/json"};
	struct http_call call = {.method = method, .headers = headers, .timeout_ms = 5000};
	unsigned n = 1;
	char url[200];

	for (unsigned i = 0; i < 4; i++)
		if (lines[i])
			headers[n++] = lines[i];
	snprintf(url, sizeof url, "http://127.0.0.1:%u%s", web_port(fx.web), path);
	call.url = url;
	fx.status = 0;
	if (http_request(NULL, fx.http, &call, on_answer, NULL))
		return -1;
	loop_run(&fx.l);
	return fx.status;
}

static const char *cookie_line(void)
{
	static char line[200];

	snprintf(line, sizeof line, "Cookie: other=1; %s; third=2", fx.cookie);
	return line;
}

static const char *origin_line(void)
{
	static char line[80];

	snprintf(line, sizeof line, "Origin: http://127.0.0.1:%u", web_port(fx.web));
	return line;
}

static int get(const char *path)
{
	return ask("GET", path, (const char *const[4]){cookie_line()});
}

static int sign_in(const char *credentials)
{
	char line[256];

	snprintf(line, sizeof line, "Authorization: Bearer %s", credentials);
	return ask("POST", "/api/auth/session",
		   (const char *const[4]){line, origin_line(), "Sec-Fetch-Site: same-origin"});
}

static int sign_in_as(enum web_role role, uint8_t nonce)
{
	struct sign_in s = {
		.role = role, .expires_ms = env_wall_ms(fx.l.env) + 60000, .nonce = {nonce}};
	char code[SIGN_IN_MAX];

	if (sign_in_format(code, sizeof code, &s, TOKEN))
		return -1;
	return sign_in(code);
}

static const char *text_of(const char *name)
{
	const char *text = json_string_value(json_object_get(fx.got, name));

	return text ? text : "";
}

/* A guess at any path is a try, and whoever makes many waits. The token itself goes on. */
TEST(guessed_tokens_are_audited_and_held_up)
{
	const char *const guess[4] = {"Authorization: Bearer 0123456789abcdef0123456789abcdeF"};

	CHECK(open_with(NULL));
	for (unsigned i = 0; i < 5; i++)
		CHECK_INT(ask("GET", "/api/rooms", guess), 401);
	CHECK_INT(ask("GET", "/api/rooms", guess), 429);
	CHECK_INT(ask("GET", "/api/turns", guess), 429);
	CHECK_STR(fx.retry, "30");
	CHECK_INT(ask("GET", "/api/rooms", (const char *const[4]){"Authorization: Bearer " TOKEN}),
		  200);
	CHECK_INT(ask("GET", "/api/rooms", (const char *const[4]){NULL}), 401);
	CHECK(strstr(fx.actions, "token/nobody/refused token/nobody/too many tries "));
	CHECK(!strstr(strstr(fx.actions, "many tries") + 1, "many tries"));
	CHECK_INT(sign_in(TOKEN), 201);
	close_all();
}

TEST(a_browser_signs_in_with_the_token_and_out_again)
{
	char old[160];

	CHECK(open_with(NULL));
	CHECK_INT(get("/api/auth/session"), 401);
	CHECK_INT(sign_in(TOKEN), 201);
	CHECK_STR(text_of("role"), "admin");
	CHECK(strncmp(fx.cookie, "__Host-parley-", 14) == 0);
	CHECK_STR(fx.attributes, " Path=/; Max-Age=7200; Secure; HttpOnly; SameSite=Strict");
	CHECK_INT(get("/api/auth/session"), 200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "sessions")), 1);
	CHECK_INT(get("/api/settings"), 200);
	snprintf(old, sizeof old, "%s", fx.cookie);
	CHECK_INT(ask("DELETE", "/api/auth/session",
		      (const char *const[4]){cookie_line(), origin_line()}),
		  204);
	CHECK(strstr(fx.attributes, "Max-Age=0") != NULL);
	snprintf(fx.cookie, sizeof fx.cookie, "%s", old);
	CHECK_INT(get("/api/settings"), 401);
	CHECK_STR(fx.actions, "sign_in/session 1 (admin)/granted sign_out/session 1 (admin)/done ");
	close_all();
}

TEST(rooms_are_described_once_for_many_who_ask)
{
	enum { TIMES = 20 };
	char viewer[160], operator[160];

	CHECK(open_with(NULL));
	CHECK_INT(sign_in_as(WEB_VIEWER, 1), 201);
	memcpy(viewer, fx.cookie, sizeof viewer);
	CHECK_INT(sign_in_as(WEB_OPERATOR, 2), 201);
	memcpy(operator, fx.cookie, sizeof operator);
	tell_turn();
	fx.described = 0;
	for (unsigned i = 0; i < TIMES; i++) {
		memcpy(fx.cookie, operator, sizeof operator);
		CHECK_INT(get("/api/rooms"), 200);
		CHECK_STR(heard_word(), "hello");
		/* What is kept for one role is not told to another. */
		memcpy(fx.cookie, viewer, sizeof viewer);
		CHECK_INT(get("/api/rooms"), 200);
		CHECK_STR(heard_word(), "");
	}
	CHECK(fx.described < 2 * TIMES);
	/* What an event tells is seen at once. */
	memcpy(fx.cookie, operator, sizeof operator);
	for (unsigned i = 0; i < TIMES; i++) {
		bus_publish(fx.bus, &(struct bus_event){.type = EVENT_SESSION_OVER, .guild = 42});
		CHECK_INT(get("/api/rooms"), 200);
		CHECK_STR(heard_word(), "");
		tell_turn();
		CHECK_INT(get("/api/rooms"), 200);
		CHECK_STR(heard_word(), "hello");
	}
	close_all();
}

/* Numbers, but no texts, which may be prompts, paths, addresses and ids. */
static void check_settings_for_all(void)
{
	const json_t *effective = json_object_get(fx.got, "effective");
	const json_t *roles = json_object_get(json_object_get(fx.got, "bindings"), "roles");
	const json_t *voice = json_array_get(json_object_get(roles, "voice"), 0);

	CHECK(json_object_get(effective, "hold_ms"));
	CHECK(json_is_object(json_object_get(effective, "instructions")));
	CHECK(json_is_object(json_object_get(effective, "blocked_users")));
	CHECK(json_object_get(voice, "dialect") && json_is_null(json_object_get(voice, "url")));
}

TEST(roles_see_what_they_may)
{
	CHECK(open_with(NULL));
	tell_turn();
	CHECK_INT(sign_in_as(WEB_VIEWER, 1), 201);
	CHECK_STR(text_of("role"), "viewer");
	CHECK(json_is_null(json_object_get(fx.got, "sessions")));
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_STR(heard_word(), "");
	CHECK_INT(get("/api/costs"), 403);
	CHECK_STR(text_of("error"), "forbidden");
	CHECK_INT(get("/api/audit"), 403);
	CHECK_INT(get("/api/settings/history"), 403);
	CHECK_INT(get("/api/settings"), 200);
	CHECK_INT(json_object_size(json_object_get(fx.got, "intent")), 0);
	check_settings_for_all();
	CHECK_INT(sign_in_as(WEB_OPERATOR, 2), 201);
	CHECK_INT(get("/api/settings?guild=42"), 200);
	CHECK_INT(json_object_size(json_object_get(fx.got, "intent")), 0);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_STR(heard_word(), "hello");
	CHECK_INT(get("/api/audit"), 403);
	/* Without a database there is no history. */
	CHECK_INT(get("/api/turns"), 503);
	CHECK_STR(text_of("error"), "no_history");
	CHECK_INT(get("/api/turns?limit=0"), 400);
	CHECK_INT(get("/api/turns/7"), 503);
	CHECK_INT(get("/api/turns/7x"), 404);
	CHECK_INT(get("/api/turns/"), 404);
	CHECK_INT(get("/api/turns/99999999999999999999"), 404);
	close_all();
}

TEST(a_code_signs_in_once_and_others_not_at_all)
{
	struct sign_in late = {.role = WEB_ADMIN, .expires_ms = 1000};
	char code[SIGN_IN_MAX];

	CHECK(open_with(NULL));
	CHECK_INT(sign_in_as(WEB_ADMIN, 1), 201);
	CHECK_INT(sign_in_as(WEB_ADMIN, 1), 401);
	CHECK_STR(text_of("error"), "sign_in_refused");
	CHECK_INT(sign_in_format(code, sizeof code, &late, TOKEN), 0);
	CHECK_INT(sign_in(code), 401);
	late.expires_ms = env_wall_ms(fx.l.env) + 60000;
	CHECK_INT(sign_in_format(code, sizeof code, &late, "another token than that of the file"),
		  0);
	CHECK_INT(sign_in(code), 401);
	CHECK(strstr(fx.actions, "sign_in/nobody/refused") != NULL);
	close_all();
}

TEST(who_guesses_must_wait)
{
	CHECK(open_with(NULL));
	for (unsigned i = 0; i < 5; i++)
		CHECK_INT(sign_in("0123456789abcdef0123456789abcdeF"), 401);
	CHECK_INT(sign_in("0123456789abcdef0123456789abcdeF"), 429);
	CHECK_STR(fx.retry, "30");
	/* The right one, too: otherwise a guess would tell itself by its answer. */
	CHECK_INT(sign_in(TOKEN), 429);
	CHECK_STR(strstr(fx.actions, "sign_in/nobody/too many tries"),
		  "sign_in/nobody/too many tries ");
	close_all();
}

TEST(requests_of_other_sites_change_and_read_nothing)
{
	char foreign[100];

	CHECK(open_with(NULL));
	CHECK_INT(ask("POST", "/api/auth/session",
		      (const char *const[4]){"Authorization: Bearer " TOKEN,
					     "Origin: http://evil.example"}),
		  403);
	CHECK_STR(text_of("error"), "cross_origin");
	CHECK_INT(sign_in(TOKEN), 201);
	/* A request that changes something without an origin, with that of another port, and with
	 * one that only begins with ours. */
	CHECK_INT(ask("DELETE", "/api/auth/session", (const char *const[4]){cookie_line()}), 403);
	snprintf(foreign, sizeof foreign, "Origin: http://127.0.0.1:%u", web_port(fx.web) ^ 1u);
	CHECK_INT(
		ask("DELETE", "/api/auth/session", (const char *const[4]){cookie_line(), foreign}),
		403);
	snprintf(foreign, sizeof foreign, "%s0", origin_line());
	CHECK_INT(
		ask("DELETE", "/api/auth/sessions", (const char *const[4]){cookie_line(), foreign}),
		403);
	CHECK_INT(ask("DELETE", "/api/auth/session",
		      (const char *const[4]){cookie_line(), "Origin: null"}),
		  403);
	CHECK_INT(ask("PUT", "/api/settings",
		      (const char *const[4]){cookie_line(), origin_line(),
					     "Sec-Fetch-Site: same-site"}),
		  403);
	CHECK_INT(ask("GET", "/api/rooms",
		      (const char *const[4]){cookie_line(), "Sec-Fetch-Site: same-site"}),
		  403);
	CHECK_INT(ask("GET", "/api/rooms",
		      (const char *const[4]){cookie_line(), "Sec-Fetch-Site: none"}),
		  200);
	/* The token is no cookie: no browser sends it by itself. */
	CHECK_INT(ask("GET", "/api/rooms", (const char *const[4]){"Authorization: Bearer " TOKEN}),
		  200);
	close_all();
}

/* A reader of events with the session of fx.cookie. */
static struct stream {
	struct http_req *req;
	char text[2048];
	size_t n;
	bool over;
} streams[16];

static void on_stream_part(const struct http_resp *resp, void *arg)
{
	struct stream *s = arg;
	size_t room = sizeof s->text - 1 - s->n, n = resp->body.n < room ? resp->body.n : room;

	memcpy(s->text + s->n, resp->body.p, n);
	s->n += n;
	s->text[s->n] = '\0';
}

static void on_stream_over(const struct http_resp *resp, void *arg)
{
	struct stream *s = arg;

	(void)resp;
	s->over = true;
}

static bool read_events(struct stream *s)
{
	const char *headers[] = {cookie_line(), NULL};
	char url[80];

	*s = (struct stream){0};
	snprintf(url, sizeof url, "http://127.0.0.1:%u/api/events", web_port(fx.web));
	return http_request(&s->req, fx.http,
			    &(struct http_call){.method = "GET",
						.url = url,
						.headers = headers,
						.parth = on_stream_part},
			    on_stream_over, s) == 0 &&
	       get("/api/rooms") == 200; /* by now the server has it */
}

TEST(a_viewer_who_signs_out_ends_nobody_elses_stream)
{
	char first[160];

	CHECK(open_with(NULL));
	CHECK_INT(sign_in_as(WEB_VIEWER, 1), 201);
	CHECK(read_events(&streams[0]));
	snprintf(first, sizeof first, "%s", fx.cookie);
	CHECK_INT(sign_in_as(WEB_VIEWER, 2), 201);
	CHECK(read_events(&streams[1]));
	CHECK_INT(ask("DELETE", "/api/auth/sessions",
		      (const char *const[4]){cookie_line(), origin_line()}),
		  200);
	CHECK_INT(json_integer_value(json_object_get(fx.got, "ended")), 1);
	tell_turn();
	snprintf(fx.cookie, sizeof fx.cookie, "%s", first);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK(streams[1].over && !strstr(streams[1].text, "turn_admitted"));
	CHECK(!streams[0].over && strstr(streams[0].text, "turn_admitted"));
	http_req_cancel(streams[0].req);
	close_all();
}

/* They tell what people show. */
TEST(sentences_about_screens_are_for_operators)
{
	CHECK(open_with(NULL));
	CHECK_INT(sign_in_as(WEB_VIEWER, 1), 201);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_STR(room_note(), "");
	CHECK_INT(get("/api/voice/state"), 200);
	CHECK_STR(session_note(), "");
	CHECK_INT(sign_in_as(WEB_OPERATOR, 2), 201);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_STR(room_note(), "a letter");
	CHECK_INT(get("/api/voice/state"), 200);
	CHECK_STR(session_note(), "a letter");
	/* Of a room that is only in the list there are none. */
	CHECK_INT(get("/api/rooms?whole=41771983423143937"), 200);
	CHECK_STR(room_note(), "");
	close_all();
}

TEST(everybody_is_signed_out_at_once)
{
	char viewer[160], admin[160];

	CHECK(open_with(NULL));
	CHECK_INT(sign_in(TOKEN), 201);
	snprintf(admin, sizeof admin, "%s", fx.cookie);
	CHECK_INT(sign_in_as(WEB_VIEWER, 1), 201);
	snprintf(viewer, sizeof viewer, "%s", fx.cookie);
	CHECK_INT(ask("DELETE", "/api/auth/sessions",
		      (const char *const[4]){cookie_line(), origin_line()}),
		  200);
	CHECK_INT(json_integer_value(json_object_get(fx.got, "ended")), 1);
	snprintf(fx.cookie, sizeof fx.cookie, "%s", admin);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_INT(ask("DELETE", "/api/auth/sessions",
		      (const char *const[4]){"Authorization: Bearer " TOKEN}),
		  200);
	CHECK_INT(json_integer_value(json_object_get(fx.got, "ended")), 1);
	snprintf(fx.cookie, sizeof fx.cookie, "%s", admin);
	CHECK_INT(get("/api/rooms"), 401);
	close_all();
}

static int sign_out_one(const char *id, const char *const lines[4])
{
	char path[64];

	snprintf(path, sizeof path, "/api/auth/sessions/%s", id);
	return ask("DELETE", path, lines);
}

/* A laptop that was lost is signed out without everybody else. */
TEST(one_browser_is_signed_out_by_an_admin_or_by_itself)
{
	char viewer[160], operator[160];
	const json_t *list;

	CHECK(open_with(NULL));
	CHECK_INT(sign_in_as(WEB_OPERATOR, 1), 201);
	snprintf(operator, sizeof operator, "%s", fx.cookie);
	CHECK_INT(sign_in_as(WEB_VIEWER, 2), 201);
	snprintf(viewer, sizeof viewer, "%s", fx.cookie);
	CHECK_INT(sign_out_one("1", (const char *const[4]){cookie_line(), origin_line()}), 404);
	CHECK_STR(text_of("error"), "no_such_session");
	CHECK_INT(sign_out_one("2", (const char *const[4]){cookie_line(), origin_line()}), 204);
	CHECK(strstr(fx.actions, "sign_out/session 2 (viewer)/done"));
	snprintf(fx.cookie, sizeof fx.cookie, "%s", viewer);
	CHECK_INT(get("/api/rooms"), 401);
	CHECK_INT(sign_in(TOKEN), 201);
	CHECK_INT(get("/api/auth/session"), 200);
	list = json_object_get(fx.got, "sessions");
	CHECK_INT(json_array_size(list), 2);
	CHECK(json_is_null(json_object_get(json_array_get(list, 0), "user")));
	CHECK_INT(sign_out_one("1", (const char *const[4]){cookie_line(), origin_line()}), 204);
	CHECK_INT(sign_out_one("1", (const char *const[4]){cookie_line(), origin_line()}), 404);
	snprintf(fx.cookie, sizeof fx.cookie, "%s", operator);
	CHECK_INT(get("/api/rooms"), 401);
	close_all();
}

/* A client that sends the head of an order and the rest of its body later. */
static int begin_order(const char *body, size_t length)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(web_port(fx.web)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char text[640];
	int n = snprintf(text, sizeof text,
			 "POST /api/rooms/42/say HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s\r\n%s\r\n"
			 "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			 web_port(fx.web), cookie_line(), origin_line(), length, body);

	if (fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof to) &&
	    send(fd, text, (size_t)n, 0) == n)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

TEST(an_order_whose_session_ends_before_its_body_is_refused)
{
	char answer[64] = "";
	int fd;

	CHECK(open_with(NULL));
	CHECK_INT(sign_in_as(WEB_OPERATOR, 1), 201);
	fd = begin_order("{\"text\": ", strlen("{\"text\": \"hello\"}"));
	CHECK(fd >= 0);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_INT(ask("DELETE", "/api/auth/sessions",
		      (const char *const[4]){"Authorization: Bearer " TOKEN}),
		  200);
	CHECK_INT(send(fd, "\"hello\"}", 8, 0), 8);
	CHECK_INT(get("/api/rooms"), 401);
	CHECK(recv(fd, answer, sizeof answer - 1, MSG_DONTWAIT) > 0);
	CHECK(strstr(answer, " 401 "));
	CHECK(!strstr(fx.actions, "say/"));
	close(fd);
	close_all();
}

TEST(kept_sessions_go_on_until_they_are_over)
{
	struct sessions kept = {.token = TOKEN};
	const uint8_t a[SESSION_NONCE] = {1}, b[SESSION_NONCE] = {2};
	uint64_t now = UINT64_C(4000000000000);
	char good[WEB_KEYED_HEX], late[WEB_KEYED_HEX];
	json_t *j;

	sessions_secret(&kept, a, good);
	sessions_secret(&kept, b, late);
	sessions_add(&kept,
		     &(struct session){.role = WEB_VIEWER, .created_ms = 1000, .expires_ms = now},
		     good);
	sessions_add(&kept,
		     &(struct session){.role = WEB_VIEWER, .created_ms = 1000, .expires_ms = 2000},
		     late);
	j = sessions_format(&kept);
	CHECK(open_with(j));
	json_decref(j);
	snprintf(fx.cookie, sizeof fx.cookie, "__Host-parley-%u=%s", web_port(fx.web), good);
	CHECK_INT(get("/api/rooms"), 200);
	snprintf(fx.cookie, sizeof fx.cookie, "__Host-parley-%u=%s", web_port(fx.web), late);
	CHECK_INT(get("/api/rooms"), 401);
	snprintf(fx.cookie, sizeof fx.cookie, "__Host-parley-1=%s", good);
	CHECK_INT(get("/api/rooms"), 401);
	close_all();
}

/* A browser that signed in with Discord as an operator of one server. */
static bool open_as(uint64_t guild, bool open)
{
	const struct session of = {.role = WEB_OPERATOR,
				   .discord = true,
				   .guild = guild,
				   .open = open,
				   .created_ms = 1000,
				   .expires_ms = UINT64_C(4000000000000)};
	struct sessions kept = {.token = TOKEN};
	const uint8_t nonce[SESSION_NONCE] = {1};
	char secret[WEB_KEYED_HEX];
	json_t *j;
	bool opened;

	sessions_secret(&kept, nonce, secret);
	sessions_add(&kept, &of, secret);
	j = sessions_format(&kept);
	opened = open_with(j);
	json_decref(j);
	snprintf(fx.cookie, sizeof fx.cookie, "__Host-parley-%u=%s", web_port(fx.web), secret);
	return opened;
}

static bool open_as_operator_of(uint64_t guild)
{
	return open_as(guild, false);
}

static int order(const char *path)
{
	return ask("POST", path, (const char *const[4]){cookie_line(), origin_line()});
}

static void tell_in(uint64_t channel, uint64_t turn)
{
	bus_publish(fx.bus,
		    &(struct bus_event){.type = EVENT_TURN_ADMITTED,
					.guild = 42,
					.turn = {.channel = channel, .turn = turn, .stage = "x"}});
}

/* Discord hides channels from members who are no administrators. */
TEST(who_does_not_see_every_channel_sees_what_everybody_may_enter)
{
	static const char *const refused[] = {"/api/memory/facts", "/api/costs",
					      "/api/errors",	   "/api/turns/1/audio?utterance=1",
					      "/api/voice/events", "/api/memory/writes"};

	CHECK(open_as(42, true));
	CHECK_INT(get("/api/auth/session"), 200);
	CHECK(json_is_true(json_object_get(fx.got, "openOnly")));
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "rooms")), 1);
	CHECK_INT(get("/api/guilds/42/channels"), 200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "channels")), 1);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		if (get(refused[i]) != 403)
			test_fail(__FILE__, __LINE__, "%s: %d", refused[i], fx.status);
	CHECK(read_events(&streams[0]));
	tell_in(7, 71);
	tell_in(8, 81);
	bus_publish(fx.bus, &(struct bus_event){.type = EVENT_FAULT, .guild = 42});
	tell_in(7, 72);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK(strstr(streams[0].text, "\"turn\":71") && strstr(streams[0].text, "\"turn\":72"));
	CHECK(!strstr(streams[0].text, "\"turn\":81") && !strstr(streams[0].text, "fault"));
	http_req_cancel(streams[0].req);
	CHECK_INT(order("/api/rooms/42/stop"), 202);
	fx.closed = true;
	tell_in(8, 82);
	CHECK_INT(order("/api/rooms/42/stop"), 404);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "rooms")), 0);
	CHECK_INT(get("/api/voice/state"), 200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "sessions")), 0);
	close_all();
}

TEST(an_operator_of_one_server_sees_and_orders_that_one_alone)
{
	static const char *const outside[] = {
		"/api/guilds/42/channels",
		"/api/turns?guild=42",
		"/api/actions?guildId=42",
		"/api/settings?guild=42",
		"/api/memory/search?guild=42&q=a",
		"/api/events?guild=42",
		"/api/voice/history/sessions/42-1790000000000/events",
		"/api/voice/events?guild=42",
		"/api/activity/events", /* they tell of all servers */
		"/api/stats",
		"/metrics",
	};

	CHECK(open_as_operator_of(43));
	tell_turn();
	for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
		if (get(outside[i]) != 403)
			test_fail(__FILE__, __LINE__, "%s: %d", outside[i], fx.status);
	CHECK_INT(order("/api/rooms/42/stop"), 403);
	CHECK_STR(text_of("error"), "forbidden");
	CHECK_INT(order("/api/rooms/43/stop"), 202);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "rooms")), 0);
	CHECK_INT(get("/api/voice/state"), 200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "sessions")), 0);
	CHECK_INT(get("/api/guilds/43/channels"), 200);
	CHECK(read_events(&streams[0]));
	tell_turn();
	bus_publish(fx.bus, &(struct bus_event){.type = EVENT_SESSION_OVER, .guild = 43});
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK(strstr(streams[0].text, "session_over") && !strstr(streams[0].text, "turn_admitted"));
	http_req_cancel(streams[0].req);
	close_all();

	CHECK(open_as_operator_of(42));
	tell_turn();
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_STR(heard_word(), "hello");
	CHECK_INT(get("/api/voice/state"), 200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "sessions")), 1);
	CHECK_INT(order("/api/rooms/42/stop"), 202);
	close_all();
}

static void use_command(void)
{
	bus_publish(fx.bus, &(struct bus_event){.type = EVENT_COMMAND,
						.guild = 42,
						.user = 501,
						.command = {.kind = "privacy"}});
	bus_publish(fx.bus, &(struct bus_event){.type = EVENT_SESSION_OVER, .guild = 42});
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_INT(get("/api/rooms"), 200);
}

/* Discord shows a command to its user alone. */
TEST(viewers_see_nothing_that_is_for_one_person)
{
	CHECK(open_with(NULL));
	CHECK_INT(sign_in_as(WEB_VIEWER, 1), 201);
	CHECK(read_events(&streams[0]));
	use_command();
	CHECK(strstr(streams[0].text, "session_over") && !strstr(streams[0].text, "privacy"));
	CHECK_INT(sign_in_as(WEB_OPERATOR, 2), 201);
	CHECK(read_events(&streams[1]));
	use_command();
	CHECK(strstr(streams[1].text, "privacy") != NULL);
	CHECK(!strstr(streams[0].text, "privacy"));
	http_req_cancel(streams[0].req);
	http_req_cancel(streams[1].req);
	close_all();
}

/* Whoever may see figures takes no connections from everybody else. */
TEST(a_session_reads_a_few_streams_of_events)
{
	CHECK(open_as_operator_of(43));
	for (unsigned i = 0; i < 16; i++)
		CHECK(read_events(&streams[i]));
	CHECK_INT(get("/api/events"), 429);
	CHECK_STR(text_of("error"), "too_many_streams");
	CHECK_INT(get("/api/rooms"), 200);
	http_req_cancel(streams[3].req);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK_INT(get("/api/rooms"), 200);
	CHECK(read_events(&streams[3]));
	for (unsigned i = 0; i < 16; i++)
		http_req_cancel(streams[i].req);
	close_all();
}

static int get_from(const char *host, const char *path)
{
	return ask("GET", path,
		   (const char *const[4]){host, "Authorization: Bearer " TOKEN, cookie_line()});
}

TEST(the_origin_of_shares_serves_shares_and_nothing_else)
{
	const char *share = "Host: share.example.org", *own = "Host: parley.example.org";

	CHECK(open_with(NULL));
	CHECK_INT(get_from(share, "/share/abc"), 200);
	CHECK_INT(get_from(share, "/share/share.js"), 200);
	CHECK_INT(get_from(share, "/"), 404);
	CHECK_INT(get_from(share, "/page.js"), 404);
	CHECK_INT(get_from(share, "/healthz"), 404);
	CHECK_INT(get_from(share, "/metrics"), 404);
	CHECK_INT(get_from(share, "/api/settings"), 404);
	CHECK_INT(get_from(share, "/api/auth/session"), 404);
	CHECK_INT(get_from(own, "/api/settings"), 200);
	CHECK_INT(get_from(own, "/share/abc"), 200);
	CHECK_INT(get_from("Host: parley.example.org.evil.example", "/"), 421);
	CHECK_INT(get_from("Host: share.example.org:81", "/share/abc"), 421);
	close_all();
}

static int sign_in_behind(const char *host, const char *origin, const char *client)
{
	return ask("POST", "/api/auth/session",
		   (const char *const[4]){host, origin, client, "Authorization: Bearer " TOKEN});
}

TEST(behind_a_proxy_browsers_sign_in_by_the_proxy_s_origin)
{
	const char *own = "Host: parley.example.org", *page = "Origin: https://parley.example.org";

	CHECK(open_with(NULL));
	CHECK_INT(sign_in_behind(own, page, "X-Forwarded-For: 192.0.2.1"), 201);
	CHECK(strstr(fx.attributes, "Secure") != NULL);
	CHECK_INT(sign_in_behind(own, "Origin: http://parley.example.org", NULL), 403);
	CHECK_INT(sign_in_behind(own, "Origin: https://share.example.org", NULL), 403);
	CHECK_INT(sign_in_behind("Host: share.example.org", page, NULL), 404);
	close_all();
}

/* What a client itself writes into the field does not give it more tries. */
TEST(tries_count_by_the_client_that_the_proxy_names)
{
	char line[64];
	const char *lines[4] = {"Host: parley.example.org", "Origin: https://parley.example.org",
				line, "Authorization: Bearer wrong wrong wrong"};

	CHECK(open_with(NULL));
	for (unsigned i = 0; i < 5; i++) {
		snprintf(line, sizeof line, "X-Forwarded-For: 198.51.100.%u, 192.0.2.1", i);
		CHECK_INT(ask("POST", "/api/auth/session", lines), 401);
	}
	CHECK_INT(ask("POST", "/api/auth/session", lines), 429);
	snprintf(line, sizeof line, "X-Forwarded-For: 192.0.2.2");
	CHECK_INT(ask("POST", "/api/auth/session", lines), 401);
	close_all();
}

/* Strangers at many addresses use up the tries of all, and hold nobody up who has a right secret.
 */
TEST(strangers_keep_nobody_from_signing_in)
{
	char line[64];
	const char *lines[4] = {"Host: parley.example.org", "Origin: https://parley.example.org",
				line, "Authorization: Bearer wrong wrong wrong"};
	unsigned refused = 0;

	CHECK(open_with(NULL));
	for (unsigned i = 0; i < 30; i++) {
		snprintf(line, sizeof line, "X-Forwarded-For: 192.0.2.%u", i + 1);
		refused += ask("POST", "/api/auth/session", lines) == 429;
	}
	CHECK(refused >= 8);
	lines[3] = "Authorization: Bearer " TOKEN;
	snprintf(line, sizeof line, "X-Forwarded-For: 198.51.100.9");
	CHECK_INT(ask("POST", "/api/auth/session", lines), 201);
	close_all();
}

TEST(the_api_describes_itself)
{
	const json_t *paths, *turn;
	char *text;

	CHECK(open_with(NULL));
	CHECK_INT(get("/api/openapi.json"), 401);
	CHECK_INT(sign_in_as(WEB_VIEWER, 1), 201);
	CHECK_INT(get("/api/openapi.json"), 200);
	CHECK_STR(text_of("openapi"), "3.1.0");
	paths = json_object_get(fx.got, "paths");
	turn = json_object_get(json_object_get(paths, "/api/turns/{id}"), "get");
	CHECK_STR(json_string_value(json_object_get(turn, "x-role")), "viewer");
	CHECK_INT(json_array_size(json_object_get(turn, "parameters")), 1);
	CHECK_INT(json_object_size(json_object_get(paths, "/api/auth/session")), 4);
	/* What the table says of queries, bodies and answers. */
	turn = json_object_get(json_object_get(paths, "/api/turns"), "get");
	CHECK_INT(json_array_size(json_object_get(turn, "parameters")), 8);
	CHECK_STR(json_string_value(json_object_get(
			  json_array_get(json_object_get(turn, "parameters"), 2), "name")),
		  "reason");
	text = json_dumps(
		json_object_get(json_object_get(paths, "/api/rooms/{guild}/music"), "post"),
		JSON_COMPACT);
	CHECK(text && strstr(text, "\"properties\":{\"action\":{\"type\":\"string\"}}"));
	free(text);
	text = json_dumps(json_object_get(json_object_get(paths, "/api/llm/models"), "get"),
			  JSON_COMPACT);
	CHECK(text && strstr(text, "\"items\":{\"$ref\":\"#/components/schemas/Model\"}"));
	free(text);
	CHECK(json_object_get(json_object_get(json_object_get(paths, "/api/settings"), "put"),
			      "requestBody") != NULL);
	close_all();
}

static bool refers_to_types(const char *text, const json_t *types)
{
	static const char to[] = "#/components/schemas/";
	char name[64];

	while ((text = strstr(text, to))) {
		text += strlen(to);
		snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "\""), text);
		if (!json_object_get(types, name))
			return false;
	}
	return true;
}

/* A client that is made of the document knows what it gets. */
TEST(the_api_describes_what_it_answers_and_takes)
{
	const json_t *types, *turn, *ingest;
	char *text;

	CHECK(open_with(NULL));
	CHECK_INT(sign_in_as(WEB_VIEWER, 1), 201);
	CHECK_INT(get("/api/openapi.json"), 200);
	types = json_object_get(json_object_get(fx.got, "components"), "schemas");
	turn = json_object_get(json_object_get(types, "Turn"), "properties");
	CHECK(json_object_size(turn) > 12);
	text = json_dumps(json_object_get(turn, "firstAudioMs"), JSON_COMPACT);
	CHECK_STR(text, "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}");
	free(text);
	ingest = json_object_get(
		json_object_get(json_object_get(fx.got, "paths"), "/api/voice/stream-ingest/frame"),
		"post");
	text = json_dumps(ingest, JSON_COMPACT);
	CHECK(text && strstr(text, "\"security\":[{\"ingest\":[]}]") &&
	      strstr(text, "\"dataBase64\":{\"type\":\"string\"}"));
	free(text);
	text = json_dumps(fx.got, JSON_COMPACT);
	CHECK(refers_to_types(text, types));
	free(text);
	close_all();
}

TEST(the_page_runs_no_code_but_its_own)
{
	CHECK(open_with(NULL));
	CHECK_INT(get("/"), 200);
	CHECK_STR(fx.type, "text/html; charset=utf-8");
	CHECK(strstr(fx.policy, "default-src 'none'; script-src 'self'; style-src 'self'") != NULL);
	CHECK(strstr(fx.policy, "frame-ancestors 'none'") != NULL);
	CHECK(strstr(fx.policy, "require-trusted-types-for 'script'") != NULL);
	CHECK(!strstr(fx.policy, "unsafe"));
	CHECK_INT(get("/page.js"), 200);
	CHECK_STR(fx.type, "text/javascript; charset=utf-8");
	CHECK_INT(get("/page.css"), 200);
	CHECK_INT(get("/page.html"), 404);
	close_all();
}

static int get_packed(const char *path, const char *accept, const char *known)
{
	char accepts[80], tag[80];

	snprintf(accepts, sizeof accepts, "Accept-Encoding: %s", accept);
	snprintf(tag, sizeof tag, "If-None-Match: %s", known ? known : "x");
	return ask("GET", path, (const char *const[4]){accepts, tag});
}

TEST(the_page_is_sent_packed_to_those_who_take_it)
{
	char plain[48];
	size_t n;

	CHECK(open_with(NULL));
	CHECK_INT(get("/page.js"), 200);
	CHECK_STR(fx.coding, "");
	n = fx.n;
	snprintf(plain, sizeof plain, "%s", fx.tag);
	CHECK_INT(get_packed("/page.js", "deflate, gzip;q=0.5, br", NULL), 200);
	CHECK_STR(fx.coding, "gzip");
	CHECK(fx.magic[0] == 0x1f && fx.magic[1] == 0x8b);
	CHECK(fx.n > 0 && fx.n < n / 2);
	CHECK(strcmp(fx.tag, plain) != 0);
	snprintf(plain, sizeof plain, "%s", fx.tag);
	CHECK_INT(get_packed("/page.js", "gzip", plain), 304);
	CHECK_INT(get_packed("/page.js", "gzip;q=0", NULL), 200);
	CHECK_STR(fx.coding, "");
	CHECK_INT(get_packed("/page.js", "x-gzip, br", NULL), 200);
	CHECK_STR(fx.coding, "");
	close_all();
}

/* The path of a route with numbers in it. */
static void fill_path(const char *path, char out[80])
{
	const char *colon = strchr(path, ':');
	bool session = colon && strncmp(colon, ":session", strlen(":session")) == 0;

	if (colon)
		snprintf(out, 80, "%.*s%s%s", (int)(colon - path), path, session ? "42-7" : "42",
			 colon + strcspn(colon, "/"));
	else
		snprintf(out, 80, "%s", path);
}

/* The status of each route above this role, as somebody of this role asks for it. */
static unsigned count_refused(enum web_role role, int status)
{
	static const struct {
		const char *method, *path;
		enum web_role role;
	} routes[] = {
#define ROUTE(METHOD, path, r, seen, handler, n, ms, text) {#METHOD, path, WEB_##r},
		WEB_ROUTES(ROUTE)
#undef ROUTE
	};
	unsigned n = 0;
	char path[80];

	for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
		if (routes[i].role <= role)
			continue;
		fill_path(routes[i].path, path);
		n++;
		if (ask(routes[i].method, path,
			role == WEB_NOBODY
				? (const char *const[4]){origin_line()}
				: (const char *const[4]){cookie_line(), origin_line()}) != status) {
			test_fail(__FILE__, __LINE__, "%s %s as %d: %d", routes[i].method, path,
				  role, fx.status);
			return 0;
		}
	}
	return n;
}

TEST(each_route_refuses_those_below_its_role)
{
	CHECK(open_with(NULL));
	CHECK(count_refused(WEB_NOBODY, 401) > 40);
	CHECK_INT(sign_in_as(WEB_VIEWER, 1), 201);
	CHECK(count_refused(WEB_VIEWER, 403) > 20);
	CHECK_INT(sign_in_as(WEB_OPERATOR, 2), 201);
	CHECK(count_refused(WEB_OPERATOR, 403) > 8);
	close_all();
}
