/* What the live dashboard reads over HTTP: levels, recordings, and the room that is asked again. */
#include "control/web/web.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <sqlite3.h>

#include "control/configure/live_settings.h"
#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "control/web/sessions.h"
#include "ipc/http.h"
#include "tests/unit/ipc/loop.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static struct fixture {
	struct loop l;
	char dir[32];
	struct settings *settings;
	struct live_settings *live;
	struct bus *bus;
	struct store *store;
	struct web *web;
	struct http *http;
	char text[8192], type[64], cookie[200];
	char audit[256], begun[256]; /* the newest row, and the one before */
	const char *want;
	size_t n;
	int status, db; /* db: Alice's level */
	unsigned watches;
	bool watched;	 /* somebody looks at the music */
	bool watch_ends; /* the loop stops when nobody does any more */
	bool remembers;
	json_t *asked;
	web_again_h *againh;
	void *again_arg;
	int again_err;
	web_incident_h *incidenth;
	void *incident_arg;
	struct web_incident incident;
	int incident_err;
	uint64_t erased;
	int erase_err;
} fx;

static int on_save(const struct live_settings_version *version, void *arg)
{
	(void)version;
	(void)arg;
	return 0;
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

static json_t *on_any(void *arg)
{
	(void)arg;
	return json_object();
}

static char *on_metrics(void *arg)
{
	(void)arg;
	return strdup("");
}

static json_t *on_rooms(void *arg)
{
	(void)arg;
	return json_pack("[{s:s,s:[s],s:{s:s}},{s:s,s:[s],s:{s:s}}]", "guild", "42", "brainTools",
			 "one", "secure", "code", "1234", "guild", "43", "brainTools", "two",
			 "secure", "code", "5678");
}

/* The bot is in a channel of servers below 100. */
static bool on_watch_music(uint64_t guild, bool on, void *arg)
{
	(void)arg;
	fx.watched = on;
	fx.watches++;
	if (fx.watch_ends && !on)
		env_stop(fx.l.env);
	return guild < 100;
}

static json_t *on_levels(void *arg)
{
	(void)arg;
	return json_pack("[{s:s,s:{s:i},s:b},{s:s,s:{},s:b}]", "guild", "42", "users", "501", fx.db,
			 "bot", 0, "guild", "43", "users", "bot", 0);
}

static bool on_remembers(uint64_t guild, uint64_t user, void *arg)
{
	(void)arg;
	return fx.remembers && guild == 42 && user == 501;
}

static int on_again(const struct web_again *what, web_again_h *h, void *h_arg, void *arg)
{
	(void)arg;
	if (fx.again_err)
		return fx.again_err;
	json_decref(fx.asked);
	fx.asked = json_pack("{s:I,s:I,s:i,s:O}", "guild", (json_int_t)what->guild, "session",
			     (json_int_t)what->session, "turn", (int)what->turn, "settings",
			     what->settings);
	fx.againh = h;
	fx.again_arg = h_arg;
	return 0;
}

static int on_incident(const struct web_incident *what, web_incident_h *h, void *h_arg, void *arg)
{
	(void)arg;
	if (fx.incident_err)
		return fx.incident_err;
	fx.incident = *what;
	fx.incidenth = h;
	fx.incident_arg = h_arg;
	return 0;
}

static int on_erase(uint64_t user, void *arg)
{
	(void)arg;
	fx.erased = user;
	return fx.erase_err;
}

static json_t *on_channels(uint64_t guild, void *arg)
{
	(void)guild;
	(void)arg;
	return NULL;
}

static int on_order(const struct web_order *o, char why[WEB_WHY_SIZE], void *arg)
{
	(void)o;
	(void)why;
	(void)arg;
	return 0;
}

static void on_action(const struct bus_event *ev, void *arg)
{
	(void)arg;
	memcpy(fx.begun, fx.audit, sizeof fx.begun);
	snprintf(fx.audit, sizeof fx.audit, "%s %s: %s", ev->action.kind, ev->action.target,
		 ev->action.result);
}

/* sessions: as they were kept. */
static bool open_with(const json_t *sessions)
{
	static const uint32_t hours = 1;
	struct live_settings_conf lc = {.saveh = on_save, .changedh = on_changed, .toldh = on_told};
	struct web_conf wc = {.listen = "127.0.0.1:0",
			      .token = TOKEN,
			      .session_hours = &hours,
			      .mcph = on_any,
			      .readyh = on_any,
			      .metricsh = on_metrics,
			      .roomsh = on_rooms,
			      .levelsh = on_levels,
			      .watch_musich = on_watch_music,
			      .remembersh = on_remembers,
			      .againh = on_again,
			      .incidenth = on_incident,
			      .eraseh = on_erase,
			      .reasonsh = on_any,
			      .statsh = on_any,
			      .guildsh = on_any,
			      .channelsh = on_channels,
			      .orderh = on_order};

	memset(&fx, 0, sizeof fx);
	if (!folder_make(fx.dir) || loop_open(&fx.l, NULL) || settings_alloc(&fx.settings) ||
	    settings_set(fx.settings, "keep_audio_hours", "1"))
		return false;
	lc.settings = fx.settings;
	if (live_settings_alloc(&fx.live, &lc) || bus_alloc(&fx.bus) ||
	    store_alloc(&fx.store, fx.l.env, fx.bus, fx.settings, fx.dir) ||
	    bus_subscribe(fx.bus, BUS_MASK(EVENT_OPERATOR_ACTION), on_action, NULL))
		return false;
	wc.sessions = sessions;
	wc.env = fx.l.env;
	wc.live = fx.live;
	wc.bus = fx.bus;
	wc.store = fx.store;
	return web_alloc(&fx.web, &wc) == 0 && http_alloc(&fx.http, fx.l.env, NULL, "test") == 0;
}

static bool open_all(void)
{
	return open_with(NULL);
}

static void close_all(void)
{
	http_free(fx.http);
	web_free(fx.web);
	store_free(fx.store);
	bus_free(fx.bus);
	live_settings_free(fx.live);
	settings_free(fx.settings);
	json_decref(fx.asked);
	loop_close(&fx.l);
	folder_remove(fx.dir);
}

static void on_answer(const struct http_resp *resp, void *arg)
{
	(void)arg;
	env_stop(fx.l.env);
	fx.status = resp->status;
	fx.n = resp->body.n < sizeof fx.text - 1 ? resp->body.n : sizeof fx.text - 1;
	memcpy(fx.text, resp->body.p, fx.n);
	fx.text[fx.n] = '\0';
}

static void on_part(const struct http_resp *resp, void *arg)
{
	size_t n = resp->body.n, room = sizeof fx.text - 1 - fx.n;

	(void)arg;
	n = n < room ? n : room;
	memcpy(fx.text + fx.n, resp->body.p, n);
	fx.n += n;
	fx.text[fx.n] = '\0';
	if (fx.want && strstr(fx.text, fx.want))
		env_stop(fx.l.env);
}

/* With the session of fx.cookie, or the token without one. */
static struct http_req *begin(const char *method, const char *path, const char *body,
			      void (*parth)(const struct http_resp *resp, void *arg))
{
	char origin[60];
	const char *headers[] = {*fx.cookie ? fx.cookie : "Authorization: Bearer " TOKEN,
				 "Content-Type: application/json", "Sec-Fetch-Site: same-origin",
				 origin, NULL};
	struct http_call call = {.method = method,
				 .headers = headers,
				 .parth = parth,
				 .body = body,
				 .body_len = body ? strlen(body) : 0,
				 .timeout_ms = parth ? 0 : 5000};
	struct http_req *req = NULL;
	char url[160];

	snprintf(origin, sizeof origin, "Origin: http://127.0.0.1:%u", web_port(fx.web));
	snprintf(url, sizeof url, "http://127.0.0.1:%u%s", web_port(fx.web), path);
	call.url = url;
	fx.n = 0;
	fx.text[0] = '\0';
	fx.status = 0;
	return http_request(&req, fx.http, &call, on_answer, NULL) ? NULL : req;
}

static int ask(const char *method, const char *path, const char *body)
{
	if (!begin(method, path, body, NULL))
		return -1;
	loop_run(&fx.l);
	return fx.status;
}

static bool await(const char *text)
{
	fx.want = text;
	return strstr(fx.text, text) || (loop_run(&fx.l) && strstr(fx.text, text));
}

static unsigned count(const char *what)
{
	unsigned n = 0;

	for (const char *at = fx.text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

TEST(levels_are_told_to_those_who_ask_for_them_when_they_change)
{
	struct http_req *req;

	CHECK(open_all());
	fx.db = -20;
	req = begin("GET", "/api/events?type=level&guild=42", NULL, on_part);
	CHECK(req && await("event: level\ndata: {\"guild\""));
	CHECK(strstr(fx.text, "{\"501\":-20}") && !strstr(fx.text, "\"43\""));
	fx.db = -9;
	CHECK(await("{\"501\":-9}"));
	/* Twice in all, however long that took. */
	CHECK_INT(count("event: level"), 2);
	http_req_cancel(req);
	close_all();
}

/* What mediad tells of the music. */
static void show_music(uint64_t guild, size_t bands)
{
	static const uint8_t bytes[256] = {0xff, 0x80};

	web_show_music(fx.web, guild,
		       &(struct web_music){.music = 3,
					   .position = 1920,
					   .bands = {bytes, bands},
					   .wave = {bytes, 128},
					   .scope = {bytes, 256}});
}

TEST(the_music_of_a_call_is_told_to_those_who_look_at_it)
{
	struct http_req *req;

	CHECK(open_all());
	show_music(42, 64);
	CHECK_INT(fx.watches, 0);
	req = begin("GET", "/api/rooms/42/visualizer", NULL, on_part);
	CHECK(req && await(":\n\n"));
	CHECK(fx.watched);
	show_music(43, 64);
	show_music(42, 63);
	show_music(42, 64);
	CHECK(await("}\n\n"));
	CHECK_INT(count("event: analysis"), 1);
	CHECK(strstr(fx.text, "data: {\"music\":3,\"position\":1920,\"bands\":\"/4AA"));
	/* Without a number: nobody comes back to what is over. */
	CHECK(!strstr(fx.text, "\nid: "));
	fx.watch_ends = true;
	http_req_cancel(req);
	loop_run(&fx.l);
	CHECK(!fx.watched);
	close_all();
}

TEST(the_music_of_no_call_and_of_too_many_is_refused)
{
	struct http_req *reqs[8] = {NULL};
	char path[64];

	CHECK(open_all());
	CHECK_INT(ask("GET", "/api/rooms/100/visualizer", NULL), 404);
	for (unsigned i = 0; i < 8; i++) {
		snprintf(path, sizeof path, "/api/rooms/%u/visualizer", 1 + i);
		reqs[i] = begin("GET", path, NULL, on_part);
		CHECK(reqs[i] && await(":\n\n"));
	}
	CHECK_INT(ask("GET", "/api/rooms/9/visualizer", NULL), 429);
	for (unsigned i = 0; i < 8; i++)
		http_req_cancel(reqs[i]);
	close_all();
}

TEST(levels_come_to_nobody_who_did_not_ask)
{
	struct bus_event over = {.type = EVENT_SESSION_OVER, .at_ms = 1, .guild = 42};
	struct http_req *req, *other;

	CHECK(open_all());
	over.session = (struct event_session){.session = 1, .channel = 7, .why = "shutdown"};
	other = begin("GET", "/api/events?type=level", NULL, on_part);
	CHECK(other && await("event: level"));
	req = begin("GET", "/api/events?guild=42", NULL, on_part);
	CHECK(req && await(":\n\n"));
	http_req_cancel(other);
	fx.n = 0;
	fx.text[0] = '\0';
	fx.db = -30;
	bus_publish(fx.bus, &over);
	CHECK(await("session_over"));
	CHECK_INT(count("event: level"), 0);
	http_req_cancel(req);
	close_all();
}

/* ---- recordings ---- */

static void on_done(int err, void *arg)
{
	(void)err;
	(void)arg;
	env_stop(fx.l.env);
}

static void add_turn(void)
{
	static const uint8_t sound[] = {1, 2, 3, 4};
	struct bus_event ev = {.type = EVENT_TURN, .guild = 42, .user = 501};
	struct store_recording r = {.guild = 42,
				    .session = 5,
				    .user = 501,
				    .utterance = 9,
				    .ms = 1,
				    .sound = sound,
				    .n = sizeof sound};

	r.at_ms = ev.at_ms = env_wall_ms(fx.l.env);
	ev.turn = (struct event_turn){.session = 5,
				      .channel = 7,
				      .turn = 3,
				      .name = "alice",
				      .reason = "answered",
				      .first_audio_ms = -1,
				      .segments = "[{\"user\":\"501\",\"name\":\"alice\","
						  "\"utterance\":9,\"text\":\"hello\"}]",
				      .why = "[]"};
	bus_publish(fx.bus, &ev);
	CHECK_INT(store_keep_recording(fx.store, &r), 0);
	CHECK_INT(store_sync(fx.store, on_done, NULL), 0);
	loop_run(&fx.l);
}

TEST(a_recording_is_served_as_a_wav_file_while_its_speaker_agrees)
{
	CHECK(open_all());
	add_turn();
	CHECK_INT(ask("GET", "/api/turns/1", NULL), 200);
	CHECK(strstr(fx.text, "\"recordings\":[{\"utterance\":9,\"user\":\"501\""));
	CHECK(strstr(fx.text, "\"sessionId\":\"42-5\""));
	fx.remembers = true;
	CHECK_INT(ask("GET", "/api/turns/1/audio?utterance=9", NULL), 200);
	CHECK_INT(fx.n, 58 + 4);
	CHECK(memcmp(fx.text, "RIFF", 4) == 0 && memcmp(fx.text + 58, "\1\2\3\4", 4) == 0);
	CHECK_INT(fx.text[20], 7);
	CHECK_STR(fx.audit, "listen /api/turns/1/audio utterance 9: carried out");
	/* Withdrawn: what the store still has is served to nobody. */
	fx.remembers = false;
	CHECK_INT(ask("GET", "/api/turns/1/audio?utterance=9", NULL), 404);
	CHECK_STR(fx.audit, "listen /api/turns/1/audio utterance 9: refused");
	fx.remembers = true;
	CHECK_INT(ask("GET", "/api/turns/1/audio?utterance=8", NULL), 404);
	CHECK_INT(ask("GET", "/api/turns/2/audio?utterance=9", NULL), 404);
	CHECK_INT(ask("GET", "/api/turns/1/audio", NULL), 400);
	CHECK_INT(ask("GET", "/api/turns/1/audio?utterance=x", NULL), 400);
	close_all();
}

/* ---- many readers, and sessions that end meanwhile ---- */

static void on_signed_in(const struct http_resp *resp, void *arg)
{
	char field[180];

	(void)arg;
	env_stop(fx.l.env);
	if (resp->status == 201 && http_header(resp, "Set-Cookie", field, sizeof field))
		snprintf(fx.cookie, sizeof fx.cookie, "Cookie: %.*s", (int)strcspn(field, ";"),
			 field);
}

static bool sign_in(void)
{
	char origin[60], url[80];
	const char *headers[] = {"Authorization: Bearer " TOKEN, origin, NULL};

	snprintf(origin, sizeof origin, "Origin: http://127.0.0.1:%u", web_port(fx.web));
	snprintf(url, sizeof url, "%s/api/auth/session", origin + strlen("Origin: "));
	return http_request(NULL, fx.http,
			    &(struct http_call){.method = "POST",
						.url = url,
						.headers = headers,
						.timeout_ms = 5000},
			    on_signed_in, NULL) == 0 &&
	       loop_run(&fx.l) && *fx.cookie;
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
		env_stop(fx.l.env);
}

static void ask_many(const char *method, const char *path, unsigned n)
{
	char url[160], origin[60];
	const char *headers[] = {fx.cookie, origin, "Sec-Fetch-Site: same-origin", NULL};

	snprintf(origin, sizeof origin, "Origin: http://127.0.0.1:%u", web_port(fx.web));
	snprintf(url, sizeof url, "http://127.0.0.1:%u%s", web_port(fx.web), path);
	for (unsigned i = 0; i < n; i++)
		CHECK_INT(http_request(NULL, fx.http,
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

	snprintf(path, sizeof path, "%s/parley.db", fx.dir);
	if (sqlite3_open(path, db) || sqlite3_busy_timeout(*db, 60000) ||
	    sqlite3_exec(*db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
		return false;
	bus_publish(fx.bus, &(struct bus_event){.type = EVENT_COMMAND,
						.at_ms = env_wall_ms(fx.l.env),
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

	CHECK(open_all());
	CHECK(sign_in());
	CHECK_INT(ask("GET", "/api/turns", NULL), 200);
	CHECK(lock_database(&db));
	answers = (struct answers){.wanted = 2};
	ask_many("GET", "/api/turns", 18);
	CHECK(loop_run(&fx.l));
	CHECK_INT(answers.status[0], 503);
	CHECK_INT(answers.status[1], 503);
	/* Others are served, and before the last of them. */
	answers.wanted = 19;
	snprintf(fx.cookie, sizeof fx.cookie, "Authorization: Bearer " TOKEN);
	ask_many("GET", "/api/turns/77", 1);
	unlock_database(db);
	CHECK(loop_run(&fx.l));
	for (unsigned i = 2; i < 19; i++)
		CHECK_INT(answers.status[i], answers.status[i] == 404 ? 404 : 200);
	CHECK(answers.status[18] == 200);
	close_all();
}

TEST(a_stream_whose_session_ended_before_it_began_is_refused)
{
	sqlite3 *db = NULL;

	CHECK(open_all());
	CHECK(sign_in());
	CHECK_INT(ask("GET", "/api/turns", NULL), 200);
	CHECK(lock_database(&db));
	answers = (struct answers){.wanted = 1};
	ask_many("GET", "/api/activity/events", 1);
	CHECK_INT(ask("GET", "/api/stats", NULL), 200);
	ask_many("DELETE", "/api/auth/session", 1);
	CHECK(loop_run(&fx.l));
	CHECK_INT(answers.status[0], 204);
	answers.wanted = 2;
	unlock_database(db);
	CHECK(loop_run(&fx.l));
	CHECK_INT(answers.status[1], 401);
	close_all();
}

TEST(a_list_of_turns_may_have_timelines)
{
	CHECK(open_all());
	add_turn();
	CHECK_INT(ask("GET", "/api/turns?timeline=1", NULL), 200);
	CHECK(strstr(fx.text, "\"timeline\":[") && strstr(fx.text, "\"stages\":["));
	CHECK_INT(ask("GET", "/api/turns", NULL), 200);
	CHECK(!strstr(fx.text, "\"timeline\""));
	CHECK_INT(ask("GET", "/api/turns?timeline=2", NULL), 400);
	close_all();
}

/* A page of a hundred rooms shows one of them. */
TEST(of_rooms_that_are_not_shown_a_list_is_told)
{
	CHECK(open_all());
	CHECK_INT(ask("GET", "/api/rooms", NULL), 200);
	CHECK(strstr(fx.text, "\"one\"") && strstr(fx.text, "\"two\""));
	CHECK_INT(ask("GET", "/api/rooms?whole=43", NULL), 200);
	CHECK(!strstr(fx.text, "\"one\"") && strstr(fx.text, "\"two\""));
	CHECK(!strstr(fx.text, "1234") && strstr(fx.text, "5678") && strstr(fx.text, "\"42\""));
	CHECK_INT(ask("GET", "/api/rooms?whole=42", NULL), 200);
	CHECK(strstr(fx.text, "\"one\"") && !strstr(fx.text, "\"two\""));
	CHECK_INT(ask("GET", "/api/rooms?whole=", NULL), 400);
	CHECK_INT(ask("GET", "/api/rooms?whole=x", NULL), 400);
	close_all();
}

/* ---- the room, asked again ---- */

#define AGAIN "/api/voice/history/sessions/42-1790000000000/again"

static void answer_again(void *arg)
{
	(void)arg;
	fx.againh(json_pack("{s:[]}", "rules"), fx.again_arg);
}

TEST(the_room_is_asked_again_once_at_a_time)
{
	struct tmr *later = NULL;

	CHECK(open_all());
	CHECK_INT(tmr_alloc(&later, fx.l.env, answer_again, NULL), 0);
	tmr_start(later, 50 * NS_PER_MS);
	CHECK_INT(ask("POST", AGAIN, "{\"turn\": 3, \"settings\": {\"interim_ms\": 0}}"), 200);
	CHECK_STR(fx.text, "{\"rules\":[]}");
	CHECK_INT(json_integer_value(json_object_get(fx.asked, "session")), 1790000000000);
	CHECK_INT(json_integer_value(json_object_get(fx.asked, "turn")), 3);
	fx.again_err = EBUSY;
	CHECK_INT(ask("POST", AGAIN, "{\"turn\": 3, \"settings\": {\"a\": 0}}"), 503);
	fx.again_err = ENOENT;
	CHECK_INT(ask("POST", AGAIN, "{\"turn\": 3, \"settings\": {\"a\": 0}}"), 404);
	tmr_free(later);
	close_all();
}

static void refuse_again(void *arg)
{
	fx.againh(arg ? json_pack("{s:s,s:s}", "error", "unknown_setting", "setting", "a") : NULL,
		  fx.again_arg);
}

static void end_incident(void *arg)
{
	fx.incidenth(arg, fx.incident_arg);
}

static void stop_loop(void *arg)
{
	(void)arg;
	env_stop(fx.l.env);
}

static void end_erasure(void *arg)
{
	web_erased(fx.web, arg);
}

#define PERSON "/api/memory/people/501777123456789012"

/* The audit tells that a person was erased and how it ended, and not whom it was about. */
TEST(a_person_is_erased_by_an_admin_who_gets_the_receipt)
{
	static char receipt[] = "{\"erased\":{\"turns\":3}}", left[] = "{\"scan\":{\"traces\":2}}";
	struct tmr *later = NULL, *failed = NULL, *traces = NULL;

	CHECK(open_all());
	CHECK_INT(tmr_alloc(&later, fx.l.env, end_erasure, receipt), 0);
	CHECK_INT(tmr_alloc(&failed, fx.l.env, end_erasure, NULL), 0);
	CHECK_INT(tmr_alloc(&traces, fx.l.env, end_erasure, left), 0);
	tmr_start(later, 20 * NS_PER_MS);
	CHECK_INT(ask("DELETE", PERSON, NULL), 200);
	CHECK_STR(fx.text, receipt);
	CHECK(fx.erased == 501777123456789012);
	CHECK_STR(fx.begun, "erase_person : begun");
	CHECK_STR(fx.audit, "erase_person : erased");
	tmr_start(failed, 20 * NS_PER_MS);
	CHECK_INT(ask("DELETE", PERSON, NULL), 503);
	CHECK_STR(fx.audit, "erase_person : not erased");
	tmr_start(traces, 20 * NS_PER_MS);
	CHECK_INT(ask("DELETE", PERSON, NULL), 200);
	CHECK_STR(fx.audit, "erase_person : erased, 2 traces left");
	CHECK_INT(ask("DELETE", "/api/memory/people/alice", NULL), 404);
	fx.erase_err = EBUSY;
	CHECK_INT(ask("DELETE", PERSON, NULL), 503);
	CHECK_STR(fx.audit, "erase_person : refused");
	tmr_free(later);
	tmr_free(failed);
	tmr_free(traces);
	close_all();
}

/* It is in settings, in texts of the audit and in lines of files by chance. */
TEST(a_number_that_is_no_id_of_an_account_erases_nothing)
{
	CHECK(open_all());
	CHECK_INT(ask("DELETE", "/api/memory/people/5", NULL), 400);
	CHECK_INT(ask("DELETE", "/api/memory/people/9999999999999999", NULL), 400);
	CHECK(fx.erased == 0);
	CHECK_STR(fx.audit, "");
	close_all();
}

/* Proxies end what takes a minute, and the searches of a large database take longer. */
TEST(the_end_of_an_erasure_is_told_to_the_audit_when_nobody_waits_for_it)
{
	static char receipt[] = "{\"erased\":{\"turns\":3}}";
	struct tmr *soon = NULL;
	struct http_req *req;

	CHECK(open_all());
	CHECK_INT(tmr_alloc(&soon, fx.l.env, stop_loop, NULL), 0);
	req = begin("DELETE", PERSON, NULL, NULL);
	tmr_start(soon, 50 * NS_PER_MS);
	CHECK(req && loop_run(&fx.l) && fx.erased);
	CHECK_INT(ask("GET", PERSON "/receipt", NULL), 200);
	CHECK_STR(fx.text, "{\"running\":true,\"receipt\":null}");
	/* One at a time. */
	CHECK_INT(ask("GET", "/api/memory/people/501777123456789013/receipt", NULL), 503);
	http_req_cancel(req);
	tmr_start(soon, 50 * NS_PER_MS);
	CHECK(loop_run(&fx.l));
	web_erased(fx.web, receipt);
	CHECK_STR(fx.audit, "erase_person : erased");
	CHECK_INT(ask("GET", PERSON "/receipt", NULL), 200);
	CHECK_STR(fx.text, "{\"running\":false,\"receipt\":null}");
	tmr_free(soon);
	close_all();
}

static void on_begun(int err, const struct store_document *list, size_t n, void *arg)
{
	(void)err;
	(void)list;
	(void)n;
	(void)arg;
}

/* As an erasure in the store does, which looks for receipts on the same thread. */
static bool stop_store(sqlite3 **db)
{
	struct bus_event ev = {.type = EVENT_COMMAND, .at_ms = 1, .guild = 42, .user = 501};
	char path[64];

	snprintf(path, sizeof path, "%s/parley.db", fx.dir);
	if (sqlite3_open(path, db) || sqlite3_exec(*db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
		return false;
	bus_publish(fx.bus, &ev);
	return store_begin_erasure(fx.store, 501, false, on_begun, NULL) == 0;
}

/* Else a proxy ends this request as well. */
TEST(that_an_erasure_goes_on_is_told_while_the_store_erases)
{
	struct tmr *soon = NULL;
	struct http_req *req;
	uint64_t began;
	sqlite3 *db = NULL;

	CHECK(open_all());
	CHECK_INT(tmr_alloc(&soon, fx.l.env, stop_loop, NULL), 0);
	CHECK_INT(ask("GET", PERSON "/receipt", NULL), 200);
	CHECK(stop_store(&db));
	req = begin("DELETE", PERSON, NULL, NULL);
	tmr_start(soon, 50 * NS_PER_MS);
	CHECK(req && loop_run(&fx.l) && fx.erased);
	began = env_now(fx.l.env);
	CHECK_INT(ask("GET", PERSON "/receipt", NULL), 200);
	CHECK(env_now(fx.l.env) - began < NS_PER_S);
	CHECK_STR(fx.text, "{\"running\":true,\"receipt\":null}");
	CHECK_INT(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	http_req_cancel(req);
	tmr_free(soon);
	close_all();
}

/* Today no session of one server is an admin's. */
TEST(a_session_of_one_server_erases_nobody)
{
	const struct session of = {.role = WEB_ADMIN,
				   .guild = 42,
				   .created_ms = 1,
				   .expires_ms = UINT64_C(4000000000000)};
	static struct sessions s;
	uint8_t nonce[SESSION_NONCE] = {1};
	char secret[WEB_KEYED_HEX];
	json_t *kept;

	s = (struct sessions){.token = TOKEN};
	sessions_secret(&s, nonce, secret);
	CHECK(sessions_add(&s, &of, secret));
	kept = sessions_format(&s);
	CHECK(open_with(kept));
	json_decref(kept);
	snprintf(fx.cookie, sizeof fx.cookie, "Cookie: __Host-parley-%u=%s", web_port(fx.web),
		 secret);
	CHECK_INT(ask("GET", "/api/auth/session", NULL), 200);
	CHECK(strstr(fx.text, "\"server\":\"42\""));
	CHECK_INT(ask("DELETE", PERSON, NULL), 403);
	CHECK_INT(ask("GET", PERSON "/receipt", NULL), 403);
	CHECK(fx.erased == 0);
	close_all();
}

TEST(an_incident_is_exported_by_a_button)
{
	static char made[] = "/state/incidents/1";
	struct tmr *later = NULL, *failed = NULL;

	CHECK(open_all());
	CHECK_INT(tmr_alloc(&later, fx.l.env, end_incident, made), 0);
	CHECK_INT(tmr_alloc(&failed, fx.l.env, end_incident, NULL), 0);
	tmr_start(later, 20 * NS_PER_MS);
	CHECK_INT(ask("POST", "/api/incidents", "{\"hours\": 2, \"guild\": \"1000000000000042\"}"),
		  201);
	CHECK(strstr(fx.text, "\"folder\":\"/state/incidents/1\""));
	CHECK(strstr(fx.text, "control --show '/state/incidents/1'"));
	CHECK_INT(fx.incident.hours, 2);
	CHECK(fx.incident.guild == 1000000000000042);
	tmr_start(failed, 20 * NS_PER_MS);
	CHECK_INT(ask("POST", "/api/incidents", "{}"), 503);
	CHECK_INT(fx.incident.hours, 24);
	CHECK_INT(ask("POST", "/api/incidents", "{\"hours\": 0}"), 400);
	CHECK_INT(ask("POST", "/api/incidents", "{\"hours\": 721}"), 400);
	CHECK_INT(ask("POST", "/api/incidents", "{\"guild\": \"..\"}"), 400);
	fx.incident_err = ENOSPC;
	CHECK_INT(ask("POST", "/api/incidents", "{}"), 409);
	fx.incident_err = EBUSY;
	CHECK_INT(ask("POST", "/api/incidents", "{}"), 503);
	tmr_free(later);
	tmr_free(failed);
	close_all();
}

TEST(what_the_room_cannot_be_asked_is_told)
{
	static const char *const bad[] = {"{}", "{\"turn\": 3}", "{\"turn\": 3, \"settings\": {}}",
					  "{\"turn\": 0, \"settings\": {\"a\": 1}}",
					  "{\"turn\": 3, \"settings\": {\"a\": [1]}}"};
	struct tmr *later = NULL, *never = NULL;

	CHECK(open_all());
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_INT(ask("POST", AGAIN, bad[i]), 400);
	CHECK(!fx.asked);
	CHECK_INT(tmr_alloc(&later, fx.l.env, refuse_again, &fx), 0);
	CHECK_INT(tmr_alloc(&never, fx.l.env, refuse_again, NULL), 0);
	tmr_start(later, 50 * NS_PER_MS);
	CHECK_INT(ask("POST", AGAIN, "{\"turn\": 3, \"settings\": {\"a\": true}}"), 422);
	CHECK(strstr(fx.text, "/settings/a"));
	tmr_start(never, 50 * NS_PER_MS);
	CHECK_INT(ask("POST", AGAIN, "{\"turn\": 3, \"settings\": {\"a\": true}}"), 503);
	tmr_free(later);
	tmr_free(never);
	close_all();
}
