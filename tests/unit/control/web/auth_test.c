/* Sessions of browsers, with a real client on loopback. */
#include "tests/unit/control/web/auth_scene.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <netinet/in.h>
#include <jansson.h>

#include "control/configure/live_settings.h"
#include "control/web/routes.def"
#include "control/web/sessions.h"

/* What the note about a screen says in this room or session. */
static const char *note_word(const json_t *shares)
{
	const json_t *notes = json_object_get(json_array_get(shares, 0), "notes");
	const char *text = json_string_value(json_object_get(json_array_get(notes, 0), "text"));

	return text ? text : "";
}

static const char *room_note(void)
{
	return note_word(json_object_get(
		json_array_get(json_object_get(auth_scene.got, "rooms"), 0), "screens"));
}

static const char *session_note(void)
{
	const json_t *s = json_array_get(json_object_get(auth_scene.got, "sessions"), 0);

	return note_word(json_object_get(json_object_get(s, "streamWatch"), "shares"));
}

/* Somebody speaks to the bot in server 42. */
static void tell_turn(void)
{
	bus_publish(auth_scene.bus, &(struct bus_event){.type = EVENT_TURN_ADMITTED,
							.guild = 42,
							.turn = {.turn = 1, .heard = "hello"}});
}

/* What /api/rooms shows of it; "": nothing. */
static const char *heard_word(void)
{
	const json_t *room = json_array_get(json_object_get(auth_scene.got, "rooms"), 0);
	const json_t *turn = json_array_get(json_object_get(room, "turns"), 0);
	const char *text = json_string_value(json_object_get(turn, "heard"));

	return text ? text : "";
}

/* A guess at any path is a try, and whoever makes many waits. The token itself goes on. */
TEST(guessed_tokens_are_audited_and_held_up)
{
	const char *const guess[4] = {"Authorization: Bearer 0123456789abcdef0123456789abcdeF"};

	CHECK(auth_scene_open(NULL));
	for (unsigned i = 0; i < 5; i++)
		CHECK_INT(auth_scene_ask("GET", "/api/rooms", guess), 401);
	CHECK_INT(auth_scene_ask("GET", "/api/rooms", guess), 429);
	CHECK_INT(auth_scene_ask("GET", "/api/turns", guess), 429);
	CHECK_STR(auth_scene.retry, "30");
	CHECK_INT(auth_scene_ask("GET", "/api/rooms",
				 (const char *const[4]){"Authorization: Bearer " TOKEN}),
		  200);
	CHECK_INT(auth_scene_ask("GET", "/api/rooms", (const char *const[4]){NULL}), 401);
	CHECK(strstr(auth_scene.actions, "token/nobody/refused token/nobody/too many tries "));
	CHECK(!strstr(strstr(auth_scene.actions, "many tries") + 1, "many tries"));
	CHECK_INT(auth_scene_sign_in(TOKEN), 201);
	auth_scene_close();
}

TEST(a_browser_signs_in_with_the_token_and_out_again)
{
	char old[160];

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_get("/api/auth/session"), 401);
	CHECK_INT(auth_scene_sign_in(TOKEN), 201);
	CHECK_STR(auth_scene_text_of("role"), "admin");
	CHECK(strncmp(auth_scene.cookie, "__Host-parley-", 14) == 0);
	CHECK_STR(auth_scene.attributes,
		  " Path=/; Max-Age=7200; Secure; HttpOnly; SameSite=Strict");
	CHECK_INT(auth_scene_get("/api/auth/session"), 200);
	CHECK_INT(json_array_size(json_object_get(auth_scene.got, "sessions")), 1);
	CHECK_INT(auth_scene_get("/api/settings"), 200);
	snprintf(old, sizeof old, "%s", auth_scene.cookie);
	CHECK_INT(auth_scene_ask("DELETE", "/api/auth/session",
				 (const char *const[4]){auth_scene_cookie_line(),
							auth_scene_origin_line()}),
		  204);
	CHECK(strstr(auth_scene.attributes, "Max-Age=0") != NULL);
	snprintf(auth_scene.cookie, sizeof auth_scene.cookie, "%s", old);
	CHECK_INT(auth_scene_get("/api/settings"), 401);
	CHECK_STR(auth_scene.actions,
		  "sign_in/session 1 (admin)/granted sign_out/session 1 (admin)/done ");
	auth_scene_close();
}

TEST(rooms_are_described_once_for_many_who_ask)
{
	enum { TIMES = 20 };
	char viewer[160], operator[160];

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 1), 201);
	memcpy(viewer, auth_scene.cookie, sizeof viewer);
	CHECK_INT(auth_scene_sign_in_as(WEB_OPERATOR, 2), 201);
	memcpy(operator, auth_scene.cookie, sizeof operator);
	tell_turn();
	auth_scene.described = 0;
	for (unsigned i = 0; i < TIMES; i++) {
		memcpy(auth_scene.cookie, operator, sizeof operator);
		CHECK_INT(auth_scene_get("/api/rooms"), 200);
		CHECK_STR(heard_word(), "hello");
		/* What is kept for one role is not told to another. */
		memcpy(auth_scene.cookie, viewer, sizeof viewer);
		CHECK_INT(auth_scene_get("/api/rooms"), 200);
		CHECK_STR(heard_word(), "");
	}
	CHECK(auth_scene.described < 2 * TIMES);
	/* What an event tells is seen at once. */
	memcpy(auth_scene.cookie, operator, sizeof operator);
	for (unsigned i = 0; i < TIMES; i++) {
		bus_publish(auth_scene.bus,
			    &(struct bus_event){.type = EVENT_SESSION_OVER, .guild = 42});
		CHECK_INT(auth_scene_get("/api/rooms"), 200);
		CHECK_STR(heard_word(), "");
		tell_turn();
		CHECK_INT(auth_scene_get("/api/rooms"), 200);
		CHECK_STR(heard_word(), "hello");
	}
	auth_scene_close();
}

/* Numbers, but no texts, which may be prompts, paths, addresses and ids. */
static void check_settings_for_all(void)
{
	const json_t *effective = json_object_get(auth_scene.got, "effective");
	const json_t *roles = json_object_get(json_object_get(auth_scene.got, "bindings"), "roles");
	const json_t *voice = json_array_get(json_object_get(roles, "voice"), 0);

	CHECK(json_object_get(effective, "hold_ms"));
	CHECK(json_is_object(json_object_get(effective, "instructions")));
	CHECK(json_is_object(json_object_get(effective, "blocked_users")));
	CHECK(json_object_get(voice, "dialect") && json_is_null(json_object_get(voice, "url")));
}

TEST(roles_see_what_they_may)
{
	CHECK(auth_scene_open(NULL));
	tell_turn();
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 1), 201);
	CHECK_STR(auth_scene_text_of("role"), "viewer");
	CHECK(json_is_null(json_object_get(auth_scene.got, "sessions")));
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_STR(heard_word(), "");
	CHECK_INT(auth_scene_get("/api/costs"), 403);
	CHECK_STR(auth_scene_text_of("error"), "forbidden");
	CHECK_INT(auth_scene_get("/api/audit"), 403);
	CHECK_INT(auth_scene_get("/api/settings/history"), 403);
	CHECK_INT(auth_scene_get("/api/settings"), 200);
	CHECK_INT(json_object_size(json_object_get(auth_scene.got, "intent")), 0);
	check_settings_for_all();
	CHECK_INT(auth_scene_sign_in_as(WEB_OPERATOR, 2), 201);
	CHECK_INT(auth_scene_get("/api/settings?guild=42"), 200);
	CHECK_INT(json_object_size(json_object_get(auth_scene.got, "intent")), 0);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_STR(heard_word(), "hello");
	CHECK_INT(auth_scene_get("/api/audit"), 403);
	/* Without a database there is no history. */
	CHECK_INT(auth_scene_get("/api/turns"), 503);
	CHECK_STR(auth_scene_text_of("error"), "no_history");
	CHECK_INT(auth_scene_get("/api/turns?limit=0"), 400);
	CHECK_INT(auth_scene_get("/api/turns/7"), 503);
	CHECK_INT(auth_scene_get("/api/turns/7x"), 404);
	CHECK_INT(auth_scene_get("/api/turns/"), 404);
	CHECK_INT(auth_scene_get("/api/turns/99999999999999999999"), 404);
	auth_scene_close();
}

TEST(a_code_signs_in_once_and_others_not_at_all)
{
	struct sign_in late = {.role = WEB_ADMIN, .expires_ms = 1000};
	char code[SIGN_IN_MAX];

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_sign_in_as(WEB_ADMIN, 1), 201);
	CHECK_INT(auth_scene_sign_in_as(WEB_ADMIN, 1), 401);
	CHECK_STR(auth_scene_text_of("error"), "sign_in_refused");
	CHECK_INT(sign_in_format(code, sizeof code, &late, TOKEN), 0);
	CHECK_INT(auth_scene_sign_in(code), 401);
	late.expires_ms = env_wall_ms(auth_scene.l.env) + 60000;
	CHECK_INT(sign_in_format(code, sizeof code, &late, "another token than that of the file"),
		  0);
	CHECK_INT(auth_scene_sign_in(code), 401);
	CHECK(strstr(auth_scene.actions, "sign_in/nobody/refused") != NULL);
	auth_scene_close();
}

TEST(who_guesses_must_wait)
{
	CHECK(auth_scene_open(NULL));
	for (unsigned i = 0; i < 5; i++)
		CHECK_INT(auth_scene_sign_in("0123456789abcdef0123456789abcdeF"), 401);
	CHECK_INT(auth_scene_sign_in("0123456789abcdef0123456789abcdeF"), 429);
	CHECK_STR(auth_scene.retry, "30");
	/* The right one, too: otherwise a guess would tell itself by its answer. */
	CHECK_INT(auth_scene_sign_in(TOKEN), 429);
	CHECK_STR(strstr(auth_scene.actions, "sign_in/nobody/too many tries"),
		  "sign_in/nobody/too many tries ");
	auth_scene_close();
}

TEST(requests_of_other_sites_change_and_read_nothing)
{
	char foreign[100];

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_ask("POST", "/api/auth/session",
				 (const char *const[4]){"Authorization: Bearer " TOKEN,
							"Origin: http://evil.example"}),
		  403);
	CHECK_STR(auth_scene_text_of("error"), "cross_origin");
	CHECK_INT(auth_scene_sign_in(TOKEN), 201);
	/* A request that changes something without an origin, with that of another port, and with
	 * one that only begins with ours. */
	CHECK_INT(auth_scene_ask("DELETE", "/api/auth/session",
				 (const char *const[4]){auth_scene_cookie_line()}),
		  403);
	snprintf(foreign, sizeof foreign, "Origin: http://127.0.0.1:%u",
		 web_port(auth_scene.web) ^ 1u);
	CHECK_INT(auth_scene_ask("DELETE", "/api/auth/session",
				 (const char *const[4]){auth_scene_cookie_line(), foreign}),
		  403);
	snprintf(foreign, sizeof foreign, "%s0", auth_scene_origin_line());
	CHECK_INT(auth_scene_ask("DELETE", "/api/auth/sessions",
				 (const char *const[4]){auth_scene_cookie_line(), foreign}),
		  403);
	CHECK_INT(auth_scene_ask("DELETE", "/api/auth/session",
				 (const char *const[4]){auth_scene_cookie_line(), "Origin: null"}),
		  403);
	CHECK_INT(auth_scene_ask("PUT", "/api/settings",
				 (const char *const[4]){auth_scene_cookie_line(),
							auth_scene_origin_line(),
							"Sec-Fetch-Site: same-site"}),
		  403);
	CHECK_INT(auth_scene_ask("GET", "/api/rooms",
				 (const char *const[4]){auth_scene_cookie_line(),
							"Sec-Fetch-Site: same-site"}),
		  403);
	CHECK_INT(auth_scene_ask(
			  "GET", "/api/rooms",
			  (const char *const[4]){auth_scene_cookie_line(), "Sec-Fetch-Site: none"}),
		  200);
	/* The token is no cookie: no browser sends it by itself. */
	CHECK_INT(auth_scene_ask("GET", "/api/rooms",
				 (const char *const[4]){"Authorization: Bearer " TOKEN}),
		  200);
	auth_scene_close();
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
	const char *headers[] = {auth_scene_cookie_line(), NULL};
	char url[80];

	*s = (struct stream){0};
	snprintf(url, sizeof url, "http://127.0.0.1:%u/api/events", web_port(auth_scene.web));
	return http_request(&s->req, auth_scene.http,
			    &(struct http_call){.method = "GET",
						.url = url,
						.headers = headers,
						.parth = on_stream_part},
			    on_stream_over, s) == 0 &&
	       auth_scene_get("/api/rooms") == 200; /* by now the server has it */
}

TEST(a_viewer_who_signs_out_ends_nobody_elses_stream)
{
	char first[160];

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 1), 201);
	CHECK(read_events(&streams[0]));
	snprintf(first, sizeof first, "%s", auth_scene.cookie);
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 2), 201);
	CHECK(read_events(&streams[1]));
	CHECK_INT(auth_scene_ask("DELETE", "/api/auth/sessions",
				 (const char *const[4]){auth_scene_cookie_line(),
							auth_scene_origin_line()}),
		  200);
	CHECK_INT(json_integer_value(json_object_get(auth_scene.got, "ended")), 1);
	tell_turn();
	snprintf(auth_scene.cookie, sizeof auth_scene.cookie, "%s", first);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK(streams[1].over && !strstr(streams[1].text, "turn_admitted"));
	CHECK(!streams[0].over && strstr(streams[0].text, "turn_admitted"));
	http_req_cancel(streams[0].req);
	auth_scene_close();
}

/* They tell what people show. */
TEST(sentences_about_screens_are_for_operators)
{
	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 1), 201);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_STR(room_note(), "");
	CHECK_INT(auth_scene_get("/api/voice/state"), 200);
	CHECK_STR(session_note(), "");
	CHECK_INT(auth_scene_sign_in_as(WEB_OPERATOR, 2), 201);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_STR(room_note(), "a letter");
	CHECK_INT(auth_scene_get("/api/voice/state"), 200);
	CHECK_STR(session_note(), "a letter");
	/* Of a room that is only in the list there are none. */
	CHECK_INT(auth_scene_get("/api/rooms?whole=41771983423143937"), 200);
	CHECK_STR(room_note(), "");
	auth_scene_close();
}

/* Of the first server in the member of the last answer. */
static const char *last_error(const char *member)
{
	const json_t *server = json_array_get(json_object_get(auth_scene.got, member), 0);
	const char *error = json_string_value(json_object_get(server, "lastError"));

	return error ? error : "";
}

TEST(what_a_program_of_mcp_said_is_told_to_operators_alone)
{
	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 1), 201);
	CHECK_INT(auth_scene_get("/api/mcp/status"), 200);
	CHECK_STR(last_error("servers"), "");
	CHECK_INT(auth_scene_get("/api/voice/state"), 200);
	CHECK_STR(last_error("mcpStatus"), "");
	CHECK_INT(auth_scene_sign_in_as(WEB_OPERATOR, 2), 201);
	CHECK_INT(auth_scene_get("/api/mcp/status"), 200);
	CHECK_STR(last_error("servers"), "no such file: diary");
	CHECK_INT(auth_scene_get("/api/voice/state"), 200);
	CHECK_STR(last_error("mcpStatus"), "no such file: diary");
	auth_scene_close();
}

TEST(everybody_is_signed_out_at_once)
{
	char viewer[160], admin[160];

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_sign_in(TOKEN), 201);
	snprintf(admin, sizeof admin, "%s", auth_scene.cookie);
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 1), 201);
	snprintf(viewer, sizeof viewer, "%s", auth_scene.cookie);
	CHECK_INT(auth_scene_ask("DELETE", "/api/auth/sessions",
				 (const char *const[4]){auth_scene_cookie_line(),
							auth_scene_origin_line()}),
		  200);
	CHECK_INT(json_integer_value(json_object_get(auth_scene.got, "ended")), 1);
	snprintf(auth_scene.cookie, sizeof auth_scene.cookie, "%s", admin);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_INT(auth_scene_ask("DELETE", "/api/auth/sessions",
				 (const char *const[4]){"Authorization: Bearer " TOKEN}),
		  200);
	CHECK_INT(json_integer_value(json_object_get(auth_scene.got, "ended")), 1);
	snprintf(auth_scene.cookie, sizeof auth_scene.cookie, "%s", admin);
	CHECK_INT(auth_scene_get("/api/rooms"), 401);
	auth_scene_close();
}

static int sign_out_one(const char *id, const char *const lines[4])
{
	char path[64];

	snprintf(path, sizeof path, "/api/auth/sessions/%s", id);
	return auth_scene_ask("DELETE", path, lines);
}

/* A laptop that was lost is signed out without everybody else. */
TEST(one_browser_is_signed_out_by_an_admin_or_by_itself)
{
	char viewer[160], operator[160];
	const json_t *list;

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_sign_in_as(WEB_OPERATOR, 1), 201);
	snprintf(operator, sizeof operator, "%s", auth_scene.cookie);
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 2), 201);
	snprintf(viewer, sizeof viewer, "%s", auth_scene.cookie);
	CHECK_INT(sign_out_one("1", (const char *const[4]){auth_scene_cookie_line(),
							   auth_scene_origin_line()}),
		  404);
	CHECK_STR(auth_scene_text_of("error"), "no_such_session");
	CHECK_INT(sign_out_one("2", (const char *const[4]){auth_scene_cookie_line(),
							   auth_scene_origin_line()}),
		  204);
	CHECK(strstr(auth_scene.actions, "sign_out/session 2 (viewer)/done"));
	snprintf(auth_scene.cookie, sizeof auth_scene.cookie, "%s", viewer);
	CHECK_INT(auth_scene_get("/api/rooms"), 401);
	CHECK_INT(auth_scene_sign_in(TOKEN), 201);
	CHECK_INT(auth_scene_get("/api/auth/session"), 200);
	list = json_object_get(auth_scene.got, "sessions");
	CHECK_INT(json_array_size(list), 2);
	CHECK(json_is_null(json_object_get(json_array_get(list, 0), "user")));
	CHECK_INT(sign_out_one("1", (const char *const[4]){auth_scene_cookie_line(),
							   auth_scene_origin_line()}),
		  204);
	CHECK_INT(sign_out_one("1", (const char *const[4]){auth_scene_cookie_line(),
							   auth_scene_origin_line()}),
		  404);
	snprintf(auth_scene.cookie, sizeof auth_scene.cookie, "%s", operator);
	CHECK_INT(auth_scene_get("/api/rooms"), 401);
	auth_scene_close();
}

/* A client that sends the head of an order and the rest of its body later. */
static int begin_order(const char *body, size_t length)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(web_port(auth_scene.web)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char text[640];
	int n = snprintf(text, sizeof text,
			 "POST /api/rooms/42/say HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s\r\n%s\r\n"
			 "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			 web_port(auth_scene.web), auth_scene_cookie_line(),
			 auth_scene_origin_line(), length, body);

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

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_sign_in_as(WEB_OPERATOR, 1), 201);
	fd = begin_order("{\"text\": ", strlen("{\"text\": \"hello\"}"));
	CHECK(fd >= 0);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_INT(auth_scene_ask("DELETE", "/api/auth/sessions",
				 (const char *const[4]){"Authorization: Bearer " TOKEN}),
		  200);
	CHECK_INT(send(fd, "\"hello\"}", 8, 0), 8);
	CHECK_INT(auth_scene_get("/api/rooms"), 401);
	CHECK(recv(fd, answer, sizeof answer - 1, MSG_DONTWAIT) > 0);
	CHECK(strstr(answer, " 401 "));
	CHECK(!strstr(auth_scene.actions, "say/"));
	close(fd);
	auth_scene_close();
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
	CHECK(auth_scene_open(j));
	json_decref(j);
	snprintf(auth_scene.cookie, sizeof auth_scene.cookie, "__Host-parley-%u=%s",
		 web_port(auth_scene.web), good);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	snprintf(auth_scene.cookie, sizeof auth_scene.cookie, "__Host-parley-%u=%s",
		 web_port(auth_scene.web), late);
	CHECK_INT(auth_scene_get("/api/rooms"), 401);
	snprintf(auth_scene.cookie, sizeof auth_scene.cookie, "__Host-parley-1=%s", good);
	CHECK_INT(auth_scene_get("/api/rooms"), 401);
	auth_scene_close();
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
	opened = auth_scene_open(j);
	json_decref(j);
	snprintf(auth_scene.cookie, sizeof auth_scene.cookie, "__Host-parley-%u=%s",
		 web_port(auth_scene.web), secret);
	return opened;
}

static bool open_as_operator_of(uint64_t guild)
{
	return open_as(guild, false);
}

static int order(const char *path)
{
	return auth_scene_ask(
		"POST", path,
		(const char *const[4]){auth_scene_cookie_line(), auth_scene_origin_line()});
}

static void tell_in(uint64_t channel, uint64_t turn)
{
	bus_publish(auth_scene.bus,
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
	CHECK_INT(auth_scene_get("/api/auth/session"), 200);
	CHECK(json_is_true(json_object_get(auth_scene.got, "openOnly")));
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_INT(json_array_size(json_object_get(auth_scene.got, "rooms")), 1);
	CHECK_INT(auth_scene_get("/api/guilds/42/channels"), 200);
	CHECK_INT(json_array_size(json_object_get(auth_scene.got, "channels")), 1);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		if (auth_scene_get(refused[i]) != 403)
			test_fail(__FILE__, __LINE__, "%s: %d", refused[i], auth_scene.status);
	CHECK(read_events(&streams[0]));
	tell_in(7, 71);
	tell_in(8, 81);
	bus_publish(auth_scene.bus, &(struct bus_event){.type = EVENT_FAULT, .guild = 42});
	tell_in(7, 72);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK(strstr(streams[0].text, "\"turn\":71") && strstr(streams[0].text, "\"turn\":72"));
	CHECK(!strstr(streams[0].text, "\"turn\":81") && !strstr(streams[0].text, "fault"));
	http_req_cancel(streams[0].req);
	CHECK_INT(order("/api/rooms/42/stop"), 202);
	auth_scene.closed = true;
	tell_in(8, 82);
	CHECK_INT(order("/api/rooms/42/stop"), 404);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_INT(json_array_size(json_object_get(auth_scene.got, "rooms")), 0);
	CHECK_INT(auth_scene_get("/api/voice/state"), 200);
	CHECK_INT(json_array_size(json_object_get(auth_scene.got, "sessions")), 0);
	auth_scene_close();
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
		if (auth_scene_get(outside[i]) != 403)
			test_fail(__FILE__, __LINE__, "%s: %d", outside[i], auth_scene.status);
	CHECK_INT(order("/api/rooms/42/stop"), 403);
	CHECK_STR(auth_scene_text_of("error"), "forbidden");
	CHECK_INT(order("/api/rooms/43/stop"), 202);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_INT(json_array_size(json_object_get(auth_scene.got, "rooms")), 0);
	CHECK_INT(auth_scene_get("/api/voice/state"), 200);
	CHECK_INT(json_array_size(json_object_get(auth_scene.got, "sessions")), 0);
	CHECK_INT(auth_scene_get("/api/guilds/43/channels"), 200);
	CHECK(read_events(&streams[0]));
	tell_turn();
	bus_publish(auth_scene.bus, &(struct bus_event){.type = EVENT_SESSION_OVER, .guild = 43});
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK(strstr(streams[0].text, "session_over") && !strstr(streams[0].text, "turn_admitted"));
	http_req_cancel(streams[0].req);
	auth_scene_close();

	CHECK(open_as_operator_of(42));
	tell_turn();
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_STR(heard_word(), "hello");
	CHECK_INT(auth_scene_get("/api/voice/state"), 200);
	CHECK_INT(json_array_size(json_object_get(auth_scene.got, "sessions")), 1);
	CHECK_INT(order("/api/rooms/42/stop"), 202);
	auth_scene_close();
}

static void use_command(void)
{
	bus_publish(auth_scene.bus, &(struct bus_event){.type = EVENT_COMMAND,
							.guild = 42,
							.user = 501,
							.command = {.kind = "privacy"}});
	bus_publish(auth_scene.bus, &(struct bus_event){.type = EVENT_SESSION_OVER, .guild = 42});
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
}

/* Discord shows a command to its user alone. */
TEST(viewers_see_nothing_that_is_for_one_person)
{
	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 1), 201);
	CHECK(read_events(&streams[0]));
	use_command();
	CHECK(strstr(streams[0].text, "session_over") && !strstr(streams[0].text, "privacy"));
	CHECK_INT(auth_scene_sign_in_as(WEB_OPERATOR, 2), 201);
	CHECK(read_events(&streams[1]));
	use_command();
	CHECK(strstr(streams[1].text, "privacy") != NULL);
	CHECK(!strstr(streams[0].text, "privacy"));
	http_req_cancel(streams[0].req);
	http_req_cancel(streams[1].req);
	auth_scene_close();
}

/* Whoever may see figures takes no connections from everybody else. */
TEST(a_session_reads_a_few_streams_of_events)
{
	CHECK(open_as_operator_of(43));
	for (unsigned i = 0; i < 16; i++)
		CHECK(read_events(&streams[i]));
	CHECK_INT(auth_scene_get("/api/events"), 429);
	CHECK_STR(auth_scene_text_of("error"), "too_many_streams");
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	http_req_cancel(streams[3].req);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK_INT(auth_scene_get("/api/rooms"), 200);
	CHECK(read_events(&streams[3]));
	for (unsigned i = 0; i < 16; i++)
		http_req_cancel(streams[i].req);
	auth_scene_close();
}

static int get_from(const char *host, const char *path)
{
	return auth_scene_ask("GET", path,
			      (const char *const[4]){host, "Authorization: Bearer " TOKEN,
						     auth_scene_cookie_line()});
}

TEST(the_origin_of_shares_serves_shares_and_nothing_else)
{
	const char *share = "Host: share.example.org", *own = "Host: parley.example.org";

	CHECK(auth_scene_open(NULL));
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
	auth_scene_close();
}

static int sign_in_behind(const char *host, const char *origin, const char *client)
{
	return auth_scene_ask(
		"POST", "/api/auth/session",
		(const char *const[4]){host, origin, client, "Authorization: Bearer " TOKEN});
}

TEST(behind_a_proxy_browsers_sign_in_by_the_proxy_s_origin)
{
	const char *own = "Host: parley.example.org", *page = "Origin: https://parley.example.org";

	CHECK(auth_scene_open(NULL));
	CHECK_INT(sign_in_behind(own, page, "X-Forwarded-For: 192.0.2.1"), 201);
	CHECK(strstr(auth_scene.attributes, "Secure") != NULL);
	CHECK_INT(sign_in_behind(own, "Origin: http://parley.example.org", NULL), 403);
	CHECK_INT(sign_in_behind(own, "Origin: https://share.example.org", NULL), 403);
	CHECK_INT(sign_in_behind("Host: share.example.org", page, NULL), 404);
	auth_scene_close();
}

/* A proxy that passes every Host would open the dashboard at the address of the shares. */
TEST(through_a_proxy_nobody_is_at_this_machine)
{
	const char *line = "Host: localhost";

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_ask("GET", "/",
				 (const char *const[4]){line, "X-Forwarded-For: 192.0.2.1"}),
		  421);
	CHECK_INT(auth_scene_ask("GET", "/api/auth/methods",
				 (const char *const[4]){line, "X-Forwarded-For: 192.0.2.1"}),
		  421);
	/* One that adds the port, or hides the client. */
	CHECK_INT(auth_scene_ask("GET", "/",
				 (const char *const[4]){line, "X-Forwarded-For: 192.0.2.1:47"}),
		  421);
	CHECK_INT(auth_scene_ask("GET", "/",
				 (const char *const[4]){line, "X-Forwarded-For: unknown"}),
		  421);
	CHECK_INT(auth_scene_ask("GET", "/", (const char *const[4]){line}), 200);
	auth_scene_close();
}

/* What a client itself writes into the field does not give it more tries. */
TEST(tries_count_by_the_client_that_the_proxy_names)
{
	char line[64];
	const char *lines[4] = {"Host: parley.example.org", "Origin: https://parley.example.org",
				line, "Authorization: Bearer wrong wrong wrong"};

	CHECK(auth_scene_open(NULL));
	for (unsigned i = 0; i < 5; i++) {
		snprintf(line, sizeof line, "X-Forwarded-For: 198.51.100.%u, 192.0.2.1", i);
		CHECK_INT(auth_scene_ask("POST", "/api/auth/session", lines), 401);
	}
	CHECK_INT(auth_scene_ask("POST", "/api/auth/session", lines), 429);
	snprintf(line, sizeof line, "X-Forwarded-For: 192.0.2.2");
	CHECK_INT(auth_scene_ask("POST", "/api/auth/session", lines), 401);
	auth_scene_close();
}

/* Strangers at many addresses use up the tries of all, and hold nobody up who has a right secret.
 */
TEST(strangers_keep_nobody_from_signing_in)
{
	char line[64];
	const char *lines[4] = {"Host: parley.example.org", "Origin: https://parley.example.org",
				line, "Authorization: Bearer wrong wrong wrong"};
	unsigned refused = 0;

	CHECK(auth_scene_open(NULL));
	for (unsigned i = 0; i < 30; i++) {
		snprintf(line, sizeof line, "X-Forwarded-For: 192.0.2.%u", i + 1);
		refused += auth_scene_ask("POST", "/api/auth/session", lines) == 429;
	}
	CHECK(refused >= 8);
	lines[3] = "Authorization: Bearer " TOKEN;
	snprintf(line, sizeof line, "X-Forwarded-For: 198.51.100.9");
	CHECK_INT(auth_scene_ask("POST", "/api/auth/session", lines), 201);
	auth_scene_close();
}
