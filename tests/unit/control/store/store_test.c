#include "tests/unit/control/store/documents_scene.h"

#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/unit/control/store/old_schema.h"
#include "control/store/audit_waiting.h"
#include "control/store/db.h"
#include "control/words/words.h"

static struct store_scene *const s = &store_scene;

TEST(events_become_rows_and_survive)
{
	store_scene_begin();
	store_scene_open(NULL);
	store_scene_publish_utterances(1000);
	CHECK(store_scene_sync());
	CHECK_INT(s->err, 0);
	CHECK_INT(store_scene_number("SELECT count(*) FROM utterances WHERE text = 'hello'"), 1000);
	store_scene_publish_utterances(1); /* what still waits is written at the end */
	store_scene_close();
	CHECK_INT(store_scene_number("SELECT count(*) FROM utterances"), 1001);
	CHECK_INT(store_scene_number("SELECT value FROM meta WHERE key = 'clean'"), 1);
	store_scene_end();
}

static char sums[128];

static void on_sums(int err, const struct store_document *list, size_t n, void *arg)
{
	(void)arg;
	s->err = err;
	for (size_t i = 0; i < n; i++)
		snprintf(sums + strlen(sums), sizeof sums - strlen(sums), "%s:%llu ",
			 list[i].author, (unsigned long long)list[i].version);
	env_stop(s->l.env);
}

TEST(costs_are_kept_and_summed_by_server)
{
	struct bus_event ev = {.type = EVENT_ENGINE_USED, .guild = 7};

	store_scene_begin();
	store_scene_open(NULL);
	ev.at_ms = store_scene_ms(1000);
	for (unsigned i = 0; i < 3; i++) {
		ev.at_ms += 1000;
		ev.usage = (struct event_usage){.turn = i,
						.provider = "p",
						.model = "m",
						.role = "text",
						.text_in = 5,
						.nano = 100 + i,
						.priced = true};
		bus_publish(s->bus, &ev);
	}
	ev.guild = 8;
	bus_publish(s->bus, &ev);
	CHECK(store_scene_sync());
	CHECK(store_sum_costs(s->store, store_scene_ms(3000), on_sums, NULL) == 0 &&
	      loop_run(&s->l));
	CHECK_INT(s->err, 0);
	CHECK_STR(sums, "7:203 8:102 ");
	CHECK_INT(store_scene_number(
			  "SELECT count(*) FROM costs WHERE units = '{\"text_in\":5}' AND priced"),
		  4);
	store_scene_close();
	store_scene_end();
}

static void publish_call(enum event_type type, uint32_t call, const char *code)
{
	const struct bus_event ev = {.type = type,
				     .at_ms = 1000,
				     .guild = 7,
				     .user = 5,
				     .tool = {.session = 3,
					      .turn = 2,
					      .call = call,
					      .name = "send",
					      .code = code,
					      .arguments = "00ff",
					      .summary = "send: done",
					      .nano = 5}};

	bus_publish(s->bus, &ev);
}

/* After a crash nobody knows what a call has done, and its row says so. */
TEST(a_call_of_a_tool_has_one_row_from_before_it_runs)
{
	store_scene_begin();
	store_scene_open(NULL);
	publish_call(EVENT_TOOL_BEGAN, 1, "ok");
	publish_call(EVENT_TOOL_BEGAN, 2, "ok");
	CHECK(store_scene_sync());
	CHECK_INT(store_scene_number("SELECT count(*) FROM tool_calls WHERE state = 'running'"), 2);
	publish_call(EVENT_TOOL_CALLED, 1, "ok");
	publish_call(EVENT_TOOL_CALLED, 3, "denied");
	store_scene_close();
	CHECK_INT(store_scene_number("SELECT count(*) FROM tool_calls"), 3);
	CHECK_INT(store_scene_number(
			  "SELECT count(*) FROM tool_calls WHERE call = 1 AND state = 'ok' AND "
			  "summary = 'send: done' AND nano = 5"),
		  1);
	store_scene_open(NULL);
	CHECK(store_scene_sync());
	CHECK_INT(store_scene_number("SELECT call FROM tool_calls WHERE state = 'unknown'"), 2);
	CHECK_INT(store_scene_number("SELECT call FROM tool_calls WHERE state = 'denied'"), 3);
	store_scene_close();
	store_scene_end();
}

TEST(who_changed_a_setting_and_how_is_in_the_audit)
{
	const struct bus_event ev = {.type = EVENT_SETTING_CHANGED,
				     .at_ms = 1,
				     .setting = {.name = "hold_ms",
						 .effect = "immediately",
						 .author = "alice",
						 .source = "settings document"}};

	store_scene_begin();
	store_scene_open(NULL);
	bus_publish(s->bus, &ev);
	CHECK(store_scene_sync());
	CHECK_INT(store_scene_number(
			  "SELECT count(*) FROM audit WHERE actor = 'alice' AND target = 'hold_ms'"
			  " AND via = 'settings document' AND result = 'immediately'"),
		  1);
	store_scene_close();
	store_scene_end();
}

TEST(no_words_are_kept_when_none_may_be)
{
	store_scene_begin();
	CHECK_INT(settings_set(s->settings, "store_words_hours", "0"), 0);
	store_scene_open(NULL);
	store_scene_publish_utterances(3);
	CHECK(store_scene_sync());
	CHECK_INT(store_scene_number("SELECT count(*) FROM utterances WHERE text IS NULL"), 3);
	store_scene_close();
	store_scene_end();
}

TEST(settings_documents_have_versions_and_are_compared)
{
	store_scene_begin();
	store_scene_open(NULL);
	CHECK(store_settings_get(s->store, "global", 0, store_scene_on_document, NULL) == 0 &&
	      loop_run(&s->l));
	CHECK_INT(s->err, ENOENT);
	CHECK(store_scene_put("{\"a\":1}", true, 0));
	CHECK_INT(s->err, 0);
	CHECK_INT(s->got.version, 1);
	CHECK_STR(s->document, "{\"a\":1}");
	CHECK_STR(s->author, "me");
	CHECK(store_scene_put("{\"a\":2}", true, 0)); /* stale: the present one comes back */
	CHECK_INT(s->err, ESTALE);
	CHECK_INT(s->got.version, 1);
	CHECK_STR(s->document, "{\"a\":1}");
	CHECK(store_scene_put("{\"a\":3}", true, 1));
	CHECK_INT(s->got.version, 2);
	CHECK(store_scene_put("{\"a\":4}", false, 0));
	CHECK_INT(s->got.version, 3);
	CHECK(store_settings_get(s->store, "global", 2, store_scene_on_document, NULL) == 0 &&
	      loop_run(&s->l));
	CHECK_STR(s->document, "{\"a\":3}");
	CHECK(store_settings_list(s->store, "global", store_scene_on_list, NULL) == 0 &&
	      loop_run(&s->l));
	CHECK_INT(s->n, 3);
	CHECK_INT(s->got.version, 3);
	CHECK(store_settings_list(s->store, "guild:7", store_scene_on_list, NULL) == 0 &&
	      loop_run(&s->l));
	CHECK_INT(s->n, 0);
	CHECK_INT(store_scene_number("SELECT count(*) FROM audit"), 3);
	CHECK_INT(store_scene_number(
			  "SELECT count(*) FROM audit WHERE actor = 'me' AND kind = 'settings' AND"
			  " target = 'global' AND before = '{\"a\":1}' AND after = '{\"a\":3}'"),
		  1);
	store_scene_close();
	store_scene_end();
}

TEST(old_versions_of_a_settings_document_are_dropped)
{
	store_scene_begin();
	store_scene_open(NULL);
	for (unsigned i = 0; i < STORE_VERSIONS_KEPT + 3; i++)
		CHECK(store_scene_put("{}", true, i));
	CHECK_INT(s->got.version, STORE_VERSIONS_KEPT + 3);
	CHECK_INT(store_scene_number("SELECT count(*) FROM settings_documents"),
		  STORE_VERSIONS_KEPT);
	CHECK_INT(store_scene_number("SELECT min(version) FROM settings_documents"), 4);
	CHECK(store_settings_get(s->store, "global", 3, store_scene_on_document, NULL) == 0 &&
	      loop_run(&s->l));
	CHECK_INT(s->err, ENOENT);
	store_scene_close();
	store_scene_end();
}

struct read_back {
	char text[64];
	unsigned most;
};

static bool on_version(const struct store_document *d, void *arg)
{
	struct read_back *r = arg;
	size_t n = strlen(r->text);

	snprintf(r->text + n, sizeof r->text - n, "%u%s", (unsigned)d->version, d->document);
	return --r->most > 0;
}

static const char *read_back(const char *scope, unsigned most)
{
	static struct read_back r;

	r = (struct read_back){.most = most};
	return store_read_settings(s->dir, scope, on_version, &r) ? "an error" : r.text;
}

TEST(versions_are_read_before_the_loop_runs)
{
	struct read_back none = {.most = 9};

	store_scene_begin();
	CHECK_INT(store_read_settings(s->dir, "global", on_version, &none), ENOENT);
	store_scene_open(NULL);
	CHECK(store_scene_put("{}", false, 0));
	CHECK(store_scene_put("[]", false, 0));
	CHECK(store_scene_put("{}", false, 0));
	/* Also beside the control that runs. */
	CHECK_STR(read_back("global", 9), "3{}2[]1{}");
	store_scene_close();
	CHECK_STR(read_back("global", 9), "3{}2[]1{}");
	CHECK_STR(read_back("global", 2), "3{}2[]");
	CHECK_STR(read_back("guild:1", 9), "");
	store_scene_end();
}

/* The first control of a new version must not run without the document. */
TEST(versions_that_an_older_control_wrote_are_read)
{
	sqlite3 *db = NULL;

	store_scene_begin();
	store_scene_open(NULL);
	CHECK(store_scene_put("{}", false, 0));
	store_scene_close();
	CHECK_INT(sqlite3_open(s->path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, OLD_SCHEMA, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	CHECK_STR(read_back("global", 9), "1{}");
	store_scene_end();
}

TEST(who_is_gone_is_not_answered)
{
	int gone;

	store_scene_begin();
	store_scene_open(NULL);
	CHECK_INT(store_settings_get(s->store, "global", 0, store_scene_on_document, &gone), 0);
	store_forget(s->store, &gone);
	CHECK(store_scene_sync());
	CHECK_INT(s->answers, 1);
	store_scene_close();
	store_scene_end();
}

TEST(guilds_and_files_for_a_restart_are_saved_in_their_order)
{
	char file[64], text[16] = "";
	json_t *all;
	struct stat st;
	FILE *f;

	store_scene_begin();
	store_scene_open(NULL);
	CHECK(!store_read_guilds(s->dir)); /* no database yet */
	CHECK_INT(store_save_guild(s->store, 41, "{\"name\":\"x\"}"), 0);
	CHECK_INT(store_save_guild(s->store, 42, "{}"), 0);
	CHECK_INT(store_save_guild(s->store, 42, NULL), 0);
	CHECK_INT(store_save_session(s->store, "{}", "[]"), 0);
	CHECK(store_scene_sync());
	all = store_read_guilds(s->dir);
	CHECK_INT(json_object_size(all), 1);
	CHECK_STR(json_string_value(json_object_get(json_object_get(all, "41"), "name")), "x");
	json_decref(all);
	snprintf(file, sizeof file, "%s/session.json", s->dir);
	CHECK(stat(file, &st) == 0 && (st.st_mode & 0777) == 0600);
	f = fopen(file, "r");
	CHECK(f && fgets(text, sizeof text, f));
	fclose(f);
	CHECK_STR(text, "{}");
	CHECK_INT(store_drop_guilds(s->store), 0);
	CHECK(store_scene_sync());
	all = store_read_guilds(s->dir);
	CHECK(all && !json_object_size(all));
	json_decref(all);
	store_scene_close();
	store_scene_end();
}

/* The bot goes on, and a request says what is wrong. */
TEST(a_database_that_is_none_is_an_error_of_requests_alone)
{
	struct stat st;
	FILE *f;

	store_scene_begin();
	f = fopen(s->path, "w");
	CHECK(f);
	for (unsigned i = 0; i < 100; i++)
		fputs("no database at all\n", f);
	fclose(f);
	store_scene_open(NULL);
	store_scene_publish_utterances(100);
	CHECK(store_scene_put("{}", false, 0));
	CHECK_INT(s->err, EBADMSG);
	CHECK(store_scene_sync());
	store_scene_close();
	CHECK(stat(s->path, &st) == 0 && st.st_size == 1900);
	store_scene_end();
}

TEST(more_events_than_fit_are_shed)
{
	struct bus_event ev = {.type = EVENT_CONTEXT, .guild = 1};
	static char big[1 << 20];
	sqlite3 *db = NULL;

	store_scene_begin();
	store_scene_open(NULL);
	CHECK(store_scene_sync());
	/* Somebody keeps the database locked. */
	CHECK_INT(sqlite3_open(s->path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	memset(big, 'x', sizeof big - 1);
	ev.at_ms = env_wall_ms(s->l.env);
	ev.context = (struct event_context){.told = big};
	for (unsigned i = 0; i < 40; i++)
		bus_publish(s->bus, &ev);
	CHECK_INT(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	CHECK(store_scene_sync());
	CHECK_INT(s->err, 0);
	/* The queue holds 16 of them; the worker had taken at most some more. */
	CHECK(store_scene_number("SELECT count(*) FROM contexts") < 35);
	CHECK(store_scene_number("SELECT count(*) FROM contexts") >= 15);
	store_scene_close();
	store_scene_end();
}

/* A chain that numbers its rows when they are written would not show that some are missing. */
TEST(rows_of_the_audit_that_were_shed_are_told_of)
{
	enum { ACTIONS = 40 };
	struct bus_event ev = {.type = EVENT_OPERATOR_ACTION};
	static char big[1 << 20];
	sqlite3 *db = NULL;
	int kept;

	store_scene_begin();
	store_scene_open(NULL);
	CHECK(store_scene_sync());
	CHECK_INT(sqlite3_open(s->path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	memset(big, 'x', sizeof big - 1);
	ev.at_ms = env_wall_ms(s->l.env);
	ev.action = (struct event_action){.actor = "nobody", .kind = "sign_in", .result = big};
	for (unsigned i = 0; i < ACTIONS; i++)
		bus_publish(s->bus, &ev);
	CHECK_INT(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	CHECK(store_scene_sync());
	kept = store_scene_number("SELECT count(*) FROM audit WHERE kind = 'sign_in'");
	CHECK(kept < 35);
	/* One row, or two if the store went on while they came. */
	CHECK_INT(store_scene_number("SELECT sum(CAST(result AS INTEGER)) FROM audit"
				     " WHERE kind = 'rows_lost'"),
		  ACTIONS - kept);
	store_scene_close();
	store_scene_end();
}

static int64_t read_waiting(void)
{
	char path[96];
	int64_t n = -1;
	FILE *f;

	snprintf(path, sizeof path, "%s/audit-waiting", s->dir);
	f = fopen(path, "r");
	if (f && fread(&n, sizeof n, 1, f) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

/* Whether the file says so within two seconds: a thread writes it. */
static bool is_waiting(int64_t n)
{
	for (unsigned i = 0; i < 400 && read_waiting() != n; i++)
		usleep(5000);
	return read_waiting() == n;
}

/* A control that is killed takes what it had not written with it, and the next one tells it. */
TEST(rows_of_the_audit_that_a_killed_control_held_are_told_of)
{
	struct bus_event ev = {.type = EVENT_OPERATOR_ACTION};
	int64_t left = 3;
	sqlite3 *db = NULL;
	char path[96];
	FILE *f;

	store_scene_begin();
	snprintf(path, sizeof path, "%s/audit-waiting", s->dir);
	f = fopen(path, "w");
	CHECK(f && fwrite(&left, sizeof left, 1, f) == 1);
	fclose(f);
	store_scene_open(NULL);
	CHECK(store_scene_sync());
	CHECK_INT(read_waiting(), 3);
	CHECK_INT(sqlite3_open(s->path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	ev.at_ms = env_wall_ms(s->l.env);
	ev.action = (struct event_action){.actor = "nobody", .kind = "sign_in", .result = "x"};
	bus_publish(s->bus, &ev);
	/* It is counted before it is written. */
	CHECK(is_waiting(4));
	CHECK_INT(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	CHECK(store_scene_sync());
	CHECK_INT(store_scene_number("SELECT count(*) FROM audit WHERE kind = 'sign_in'"), 1);
	CHECK_INT(store_scene_number(
			  "SELECT CAST(result AS INTEGER) FROM audit WHERE kind = 'rows_lost'"),
		  3);
	store_scene_close();
	/* What is written is lost nowhere, whenever the control was killed after it. */
	CHECK_INT(read_waiting(), 4);
	store_scene_open(NULL);
	bus_publish(s->bus, &ev);
	CHECK(store_scene_sync());
	CHECK_INT(store_scene_number("SELECT count(*) FROM audit WHERE kind = 'rows_lost'"), 1);
	store_scene_close();
	store_scene_end();
}

/* -1: this kernel does not count them. */
static long writes_of_this_thread(void)
{
	FILE *f = fopen("/proc/thread-self/io", "r");
	char line[64];
	long n = -1;

	while (f && fgets(line, sizeof line, f))
		sscanf(line, "syscw: %ld", &n);
	if (f)
		fclose(f);
	return n;
}

/* Which may wait for a disk that stalls. */
TEST(the_loop_writes_nothing_when_a_row_of_the_audit_waits)
{
	struct audit_waiting *w = NULL;
	uint64_t before = 1;
	long wrote;

	store_scene_begin();
	CHECK_INT(audit_waiting_open(&w, s->dir, &before), 0);
	CHECK(before == 0);
	wrote = writes_of_this_thread();
	if (wrote < 0)
		test_skip("the kernel does not count the writes of a thread");
	for (unsigned i = 0; i < 1000; i++)
		audit_waiting_add(w, 1);
	CHECK(wrote < 0 || writes_of_this_thread() == wrote);
	CHECK(is_waiting(1000));
	audit_waiting_add(w, 1);
	audit_waiting_close(w);
	CHECK_INT(read_waiting(), 1001);
	store_scene_end();
}

/* The disk takes no byte for a while. */
TEST(a_number_of_the_audit_that_was_not_written_is_written_at_the_end)
{
	struct audit_waiting *w = NULL;
	struct rlimit whole, none;
	uint64_t before = 1;

	store_scene_begin();
	CHECK_INT(audit_waiting_open(&w, s->dir, &before), 0);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &whole), 0);
	none = (struct rlimit){.rlim_max = whole.rlim_max};
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
	audit_waiting_add(w, 3);
	usleep(100000);
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &whole), 0);
	CHECK_INT(read_waiting(), 0);
	audit_waiting_close(w);
	CHECK_INT(read_waiting(), 3);
	store_scene_end();
}

/* Its guilds are not known, so nobody may resume it. */
TEST(a_session_whose_guilds_were_lost_is_saved_without_its_resume_point)
{
	char file[64], text[16] = "";
	FILE *f;

	store_scene_begin();
	f = fopen(s->path, "w");
	CHECK(f);
	for (unsigned i = 0; i < 100; i++)
		fputs("no database at all\n", f);
	fclose(f);
	store_scene_open(NULL);
	CHECK_INT(store_save_guild(s->store, 41, "{}"), 0);
	CHECK_INT(store_save_session(s->store, "{\"x\":1}", "{}"), 0);
	store_scene_close();
	snprintf(file, sizeof file, "%s/session.json", s->dir);
	f = fopen(file, "r");
	CHECK(f && fgets(text, sizeof text, f));
	fclose(f);
	CHECK_STR(text, "{}");
	store_scene_end();
}
