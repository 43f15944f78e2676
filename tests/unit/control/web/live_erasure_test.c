/* Erasures and incidents by an admin. */
#include "tests/unit/control/web/live_scene.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>
#include <sqlite3.h>

#include "control/web/sessions.h"

static void stop_loop(void *arg)
{
	(void)arg;
	env_stop(live_scene.l.env);
}

static void end_erasure(void *arg)
{
	web_erased(live_scene.web, arg);
}

#define PERSON "/api/memory/people/501777123456789012"

/* The audit tells that a person was erased and how it ended, and not whom it was about. */
TEST(a_person_is_erased_by_an_admin_who_gets_the_receipt)
{
	static char receipt[] = "{\"erased\":{\"turns\":3}}", left[] = "{\"scan\":{\"traces\":2}}";
	struct tmr *later = NULL, *failed = NULL, *traces = NULL;

	CHECK(live_scene_open());
	CHECK_INT(tmr_alloc(&later, live_scene.l.env, end_erasure, receipt), 0);
	CHECK_INT(tmr_alloc(&failed, live_scene.l.env, end_erasure, NULL), 0);
	CHECK_INT(tmr_alloc(&traces, live_scene.l.env, end_erasure, left), 0);
	tmr_start(later, 20 * NS_PER_MS);
	CHECK_INT(live_scene_ask("DELETE", PERSON, NULL), 200);
	CHECK_STR(live_scene.text, receipt);
	CHECK(live_scene.erased == 501777123456789012);
	CHECK_STR(live_scene.begun, "erase_person : begun");
	CHECK_STR(live_scene.audit, "erase_person : erased");
	tmr_start(failed, 20 * NS_PER_MS);
	CHECK_INT(live_scene_ask("DELETE", PERSON, NULL), 503);
	CHECK_STR(live_scene.audit, "erase_person : not erased");
	tmr_start(traces, 20 * NS_PER_MS);
	CHECK_INT(live_scene_ask("DELETE", PERSON, NULL), 200);
	CHECK_STR(live_scene.audit, "erase_person : erased, 2 traces left");
	CHECK_INT(live_scene_ask("DELETE", "/api/memory/people/alice", NULL), 404);
	live_scene.erase_err = EBUSY;
	CHECK_INT(live_scene_ask("DELETE", PERSON, NULL), 503);
	CHECK_STR(live_scene.audit, "erase_person : refused");
	tmr_free(later);
	tmr_free(failed);
	tmr_free(traces);
	live_scene_close();
}

/* It is in settings, in texts of the audit and in lines of files by chance. */
TEST(a_number_that_is_no_id_of_an_account_erases_nothing)
{
	CHECK(live_scene_open());
	CHECK_INT(live_scene_ask("DELETE", "/api/memory/people/5", NULL), 400);
	CHECK_INT(live_scene_ask("DELETE", "/api/memory/people/9999999999999999", NULL), 400);
	CHECK(live_scene.erased == 0);
	CHECK_STR(live_scene.audit, "");
	live_scene_close();
}

/* Proxies end what takes a minute, and the searches of a large database take longer. */
TEST(the_end_of_an_erasure_is_told_to_the_audit_when_nobody_waits_for_it)
{
	static char receipt[] = "{\"erased\":{\"turns\":3}}";
	struct tmr *soon = NULL;
	struct http_req *req;

	CHECK(live_scene_open());
	CHECK_INT(tmr_alloc(&soon, live_scene.l.env, stop_loop, NULL), 0);
	req = live_scene_begin("DELETE", PERSON, NULL);
	tmr_start(soon, 50 * NS_PER_MS);
	CHECK(req && loop_run(&live_scene.l) && live_scene.erased);
	CHECK_INT(live_scene_ask("GET", PERSON "/receipt", NULL), 200);
	CHECK_STR(live_scene.text, "{\"running\":true,\"receipt\":null}");
	/* One at a time. */
	CHECK_INT(live_scene_ask("GET", "/api/memory/people/501777123456789013/receipt", NULL),
		  503);
	http_req_cancel(req);
	tmr_start(soon, 50 * NS_PER_MS);
	CHECK(loop_run(&live_scene.l));
	web_erased(live_scene.web, receipt);
	CHECK_STR(live_scene.audit, "erase_person : erased");
	CHECK_INT(live_scene_ask("GET", PERSON "/receipt", NULL), 200);
	CHECK_STR(live_scene.text, "{\"running\":false,\"receipt\":null}");
	tmr_free(soon);
	live_scene_close();
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

	snprintf(path, sizeof path, "%s/parley.db", live_scene.dir);
	if (sqlite3_open(path, db) || sqlite3_exec(*db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
		return false;
	bus_publish(live_scene.bus, &ev);
	return store_begin_erasure(live_scene.store, 501, false, on_begun, NULL) == 0;
}

/* Else a proxy ends this request as well. */
TEST(that_an_erasure_goes_on_is_told_while_the_store_erases)
{
	struct tmr *soon = NULL;
	struct http_req *req;
	uint64_t began;
	sqlite3 *db = NULL;

	CHECK(live_scene_open());
	CHECK_INT(tmr_alloc(&soon, live_scene.l.env, stop_loop, NULL), 0);
	CHECK_INT(live_scene_ask("GET", PERSON "/receipt", NULL), 200);
	CHECK(stop_store(&db));
	req = live_scene_begin("DELETE", PERSON, NULL);
	tmr_start(soon, 50 * NS_PER_MS);
	CHECK(req && loop_run(&live_scene.l) && live_scene.erased);
	began = env_now(live_scene.l.env);
	CHECK_INT(live_scene_ask("GET", PERSON "/receipt", NULL), 200);
	CHECK(env_now(live_scene.l.env) - began < NS_PER_S);
	CHECK_STR(live_scene.text, "{\"running\":true,\"receipt\":null}");
	CHECK_INT(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	http_req_cancel(req);
	tmr_free(soon);
	live_scene_close();
}

/* Today no session of one server is an admin's. */
/* ---- facts ---- */

static json_t *answer;

static void on_document(int err, const struct store_document *document, void *arg)
{
	json_decref(answer);
	answer = err ? NULL : json_loads(document->document, 0, NULL);
	stop_loop(arg);
}

/* A fact of Alice's own memory in server 1; its number, 0: it is not kept. */
static int write_own_fact(const char *text)
{
	char request[128];
	const struct store_facts f = {
		.guild = 1, .owner = 500, .user = 500, .name = "Alice", .request = request};

	snprintf(request, sizeof request, "[{\"text\":\"%s\",\"tags\":[\"t\"]}]", text);
	if (store_write_facts(live_scene.store, &f, on_document, NULL) || !loop_run(&live_scene.l))
		return 0;
	return (int)json_integer_value(
		json_object_get(json_array_get(json_object_get(answer, "written"), 0), "id"));
}

static int count_audit(const char *where)
{
	char path[64], sql[256];
	sqlite3_stmt *s = NULL;
	sqlite3 *file = NULL;
	int n = -1;

	snprintf(path, sizeof path, "%s/parley.db", live_scene.dir);
	snprintf(sql, sizeof sql, "SELECT count(*) FROM audit WHERE %s", where);
	if (sqlite3_open(path, &file) == SQLITE_OK &&
	    sqlite3_prepare_v2(file, sql, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(file);
	return n;
}

/* The page shows such a fact without its text. */
TEST(an_admin_who_erases_a_fact_of_somebody_s_own_memory_is_not_told_it)
{
	char path[80];

	CHECK(live_scene_open());
	snprintf(path, sizeof path, "/api/memory/facts/%d?guild=1&user=500",
		 write_own_fact("I am moving to Lisbon"));
	CHECK_INT(live_scene_ask("DELETE", path, NULL), 200);
	CHECK_STR(live_scene.text, "{\"forgotten\":1}");
	CHECK_INT(live_scene_ask("DELETE", path, NULL), 200);
	CHECK_STR(live_scene.text, "{\"forgotten\":0}");
	CHECK(strstr(live_scene.begun, "forget_fact"));
	/* Alice did not do it. */
	CHECK_INT(count_audit("kind = 'memory_forget' AND actor = 'operator' AND via = 'http'"), 1);
	CHECK_INT(count_audit("kind = 'memory_forget'"), 1);
	json_decref(answer);
	answer = NULL;
	live_scene_close();
}

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
	CHECK(live_scene_open_with(kept));
	json_decref(kept);
	snprintf(live_scene.cookie, sizeof live_scene.cookie, "Cookie: __Host-parley-%u=%s",
		 web_port(live_scene.web), secret);
	CHECK_INT(live_scene_ask("GET", "/api/auth/session", NULL), 200);
	CHECK(strstr(live_scene.text, "\"server\":\"42\""));
	CHECK_INT(live_scene_ask("DELETE", PERSON, NULL), 403);
	CHECK_INT(live_scene_ask("GET", PERSON "/receipt", NULL), 403);
	CHECK(live_scene.erased == 0);
	live_scene_close();
}

static void end_incident(void *arg)
{
	live_scene.incidenth(arg, live_scene.incident_arg);
}

TEST(an_incident_is_exported_by_a_button)
{
	static char made[] = "/state/incidents/1";
	struct tmr *later = NULL, *failed = NULL;

	CHECK(live_scene_open());
	CHECK_INT(tmr_alloc(&later, live_scene.l.env, end_incident, made), 0);
	CHECK_INT(tmr_alloc(&failed, live_scene.l.env, end_incident, NULL), 0);
	tmr_start(later, 20 * NS_PER_MS);
	CHECK_INT(live_scene_ask("POST", "/api/incidents",
				 "{\"hours\": 2, \"guild\": \"1000000000000042\"}"),
		  201);
	CHECK(strstr(live_scene.text, "\"folder\":\"/state/incidents/1\""));
	CHECK(strstr(live_scene.text, "control --show '/state/incidents/1'"));
	CHECK_INT(live_scene.incident.hours, 2);
	CHECK(live_scene.incident.guild == 1000000000000042);
	tmr_start(failed, 20 * NS_PER_MS);
	CHECK_INT(live_scene_ask("POST", "/api/incidents", "{}"), 503);
	CHECK_INT(live_scene.incident.hours, 24);
	CHECK_INT(live_scene_ask("POST", "/api/incidents", "{\"hours\": 0}"), 400);
	CHECK_INT(live_scene_ask("POST", "/api/incidents", "{\"hours\": 721}"), 400);
	CHECK_INT(live_scene_ask("POST", "/api/incidents", "{\"guild\": \"..\"}"), 400);
	live_scene.incident_err = ENOSPC;
	CHECK_INT(live_scene_ask("POST", "/api/incidents", "{}"), 409);
	live_scene.incident_err = EBUSY;
	CHECK_INT(live_scene_ask("POST", "/api/incidents", "{}"), 503);
	tmr_free(later);
	tmr_free(failed);
	live_scene_close();
}
