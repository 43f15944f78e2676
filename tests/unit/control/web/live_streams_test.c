/* Streams of levels and music, and clients that ask for much at a time. */
#include "tests/unit/control/web/live_scene.h"

#include <string.h>

#include <sqlite3.h>

TEST(levels_are_told_to_those_who_ask_for_them_when_they_change)
{
	struct http_req *req;

	CHECK(live_scene_open());
	live_scene.db = -20;
	req = live_scene_follow("/api/events?type=level&guild=42");
	CHECK(req && live_scene_await("event: level\ndata: {\"guild\""));
	CHECK(strstr(live_scene.text, "{\"501\":-20}") && !strstr(live_scene.text, "\"43\""));
	live_scene.db = -9;
	CHECK(live_scene_await("{\"501\":-9}"));
	/* Twice in all, however long that took. */
	CHECK_INT(live_scene_count("event: level"), 2);
	http_req_cancel(req);
	live_scene_close();
}

/* What mediad tells of the music. */
static void show_music(uint64_t guild, size_t bands)
{
	static const uint8_t bytes[256] = {0xff, 0x80};

	web_show_music(live_scene.web, guild,
		       &(struct web_music){.music = 3,
					   .position = 1920,
					   .bands = {bytes, bands},
					   .wave = {bytes, 128},
					   .scope = {bytes, 256}});
}

TEST(the_music_of_a_call_is_told_to_those_who_look_at_it)
{
	struct http_req *req;

	CHECK(live_scene_open());
	show_music(42, 64);
	CHECK_INT(live_scene.watches, 0);
	req = live_scene_follow("/api/rooms/42/visualizer");
	CHECK(req && live_scene_await(":\n\n"));
	CHECK(live_scene.watched);
	show_music(43, 64);
	show_music(42, 63);
	show_music(42, 64);
	CHECK(live_scene_await("}\n\n"));
	CHECK_INT(live_scene_count("event: analysis"), 1);
	CHECK(strstr(live_scene.text, "data: {\"music\":3,\"position\":1920,\"bands\":\"/4AA"));
	/* Without a number: nobody comes back to what is over. */
	CHECK(!strstr(live_scene.text, "\nid: "));
	live_scene.watch_ends = true;
	http_req_cancel(req);
	loop_run(&live_scene.l);
	CHECK(!live_scene.watched);
	live_scene_close();
}

TEST(the_music_of_no_call_and_of_too_many_is_refused)
{
	struct http_req *reqs[8] = {NULL};
	char path[64];

	CHECK(live_scene_open());
	CHECK_INT(live_scene_ask("GET", "/api/rooms/100/visualizer", NULL), 404);
	for (unsigned i = 0; i < 8; i++) {
		snprintf(path, sizeof path, "/api/rooms/%u/visualizer", 1 + i);
		reqs[i] = live_scene_follow(path);
		CHECK(reqs[i] && live_scene_await(":\n\n"));
	}
	CHECK_INT(live_scene_ask("GET", "/api/rooms/9/visualizer", NULL), 429);
	for (unsigned i = 0; i < 8; i++)
		http_req_cancel(reqs[i]);
	live_scene_close();
}

TEST(levels_come_to_nobody_who_did_not_ask)
{
	struct bus_event over = {.type = EVENT_SESSION_OVER, .at_ms = 1, .guild = 42};
	struct http_req *req, *other;

	CHECK(live_scene_open());
	over.session = (struct event_session){.session = 1, .channel = 7, .why = "shutdown"};
	other = live_scene_follow("/api/events?type=level");
	CHECK(other && live_scene_await("event: level"));
	req = live_scene_follow("/api/events?guild=42");
	CHECK(req && live_scene_await(":\n\n"));
	http_req_cancel(other);
	live_scene.n = 0;
	live_scene.text[0] = '\0';
	live_scene.db = -30;
	bus_publish(live_scene.bus, &over);
	CHECK(live_scene_await("session_over"));
	CHECK_INT(live_scene_count("event: level"), 0);
	http_req_cancel(req);
	live_scene_close();
}

/* ---- many readers, and sessions that end meanwhile ---- */

static void on_signed_in(const struct http_resp *resp, void *arg)
{
	char field[180];

	(void)arg;
	env_stop(live_scene.l.env);
	if (resp->status == 201 && http_header(resp, "Set-Cookie", field, sizeof field))
		snprintf(live_scene.cookie, sizeof live_scene.cookie, "Cookie: %.*s",
			 (int)strcspn(field, ";"), field);
}

static bool sign_in(void)
{
	char origin[60], url[80];
	const char *headers[] = {"Authorization: Bearer " TOKEN, origin, NULL};

	snprintf(origin, sizeof origin, "Origin: http://127.0.0.1:%u", web_port(live_scene.web));
	snprintf(url, sizeof url, "%s/api/auth/session", origin + strlen("Origin: "));
	return http_request(NULL, live_scene.http,
			    &(struct http_call){.method = "POST",
						.url = url,
						.headers = headers,
						.timeout_ms = 5000},
			    on_signed_in, NULL) == 0 &&
	       loop_run(&live_scene.l) && *live_scene.cookie;
}

static struct answers {
	unsigned n, wanted;
	int status[24];
} answers;

static void on_one(const struct http_resp *resp, void *arg)
{
	(void)arg;
	answers.status[answers.n++] = resp->status;
	if (answers.n == answers.wanted)
		env_stop(live_scene.l.env);
}

static void ask_many(const char *method, const char *path, unsigned n)
{
	char url[160], origin[60];
	const char *headers[] = {live_scene.cookie, origin, "Sec-Fetch-Site: same-origin", NULL};

	snprintf(origin, sizeof origin, "Origin: http://127.0.0.1:%u", web_port(live_scene.web));
	snprintf(url, sizeof url, "http://127.0.0.1:%u%s", web_port(live_scene.web), path);
	for (unsigned i = 0; i < n; i++)
		CHECK_INT(http_request(NULL, live_scene.http,
				       &(struct http_call){.method = method,
							   .url = url,
							   .headers = headers,
							   .timeout_ms = 9000},
				       on_one, NULL),
			  0);
}

/* Somebody keeps the database locked, and the store's worker waits with a row. */
static bool lock_database(sqlite3 **db)
{
	char path[64];

	snprintf(path, sizeof path, "%s/parley.db", live_scene.dir);
	if (sqlite3_open(path, db) || sqlite3_busy_timeout(*db, 60000) ||
	    sqlite3_exec(*db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
		return false;
	bus_publish(live_scene.bus, &(struct bus_event){.type = EVENT_COMMAND,
							.at_ms = env_wall_ms(live_scene.l.env),
							.guild = 42,
							.command = {.kind = "status"}});
	return true;
}

static void unlock_database(sqlite3 *db)
{
	CHECK_INT(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Two tabs of one browser ask for several pages each; a script gets no further than its share. */
TEST(a_client_has_a_share_of_the_places_at_the_database)
{
	sqlite3 *db = NULL;

	CHECK(live_scene_open());
	CHECK(sign_in());
	CHECK_INT(live_scene_ask("GET", "/api/turns", NULL), 200);
	CHECK(lock_database(&db));
	answers = (struct answers){.wanted = 2};
	ask_many("GET", "/api/turns", 18);
	CHECK(loop_run(&live_scene.l));
	CHECK_INT(answers.status[0], 503);
	CHECK_INT(answers.status[1], 503);
	/* Others are served, and before the last of them. */
	answers.wanted = 19;
	snprintf(live_scene.cookie, sizeof live_scene.cookie, "Authorization: Bearer " TOKEN);
	ask_many("GET", "/api/turns/77", 1);
	unlock_database(db);
	CHECK(loop_run(&live_scene.l));
	for (unsigned i = 2; i < 19; i++)
		CHECK_INT(answers.status[i], answers.status[i] == 404 ? 404 : 200);
	CHECK(answers.status[18] == 200);
	live_scene_close();
}

TEST(a_stream_whose_session_ended_before_it_began_is_refused)
{
	sqlite3 *db = NULL;

	CHECK(live_scene_open());
	CHECK(sign_in());
	CHECK_INT(live_scene_ask("GET", "/api/turns", NULL), 200);
	CHECK(lock_database(&db));
	answers = (struct answers){.wanted = 1};
	ask_many("GET", "/api/activity/events", 1);
	CHECK_INT(live_scene_ask("GET", "/api/stats", NULL), 200);
	ask_many("DELETE", "/api/auth/session", 1);
	CHECK(loop_run(&live_scene.l));
	CHECK_INT(answers.status[0], 204);
	answers.wanted = 2;
	unlock_database(db);
	CHECK(loop_run(&live_scene.l));
	CHECK_INT(answers.status[1], 401);
	live_scene_close();
}
