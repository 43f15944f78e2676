/* The HTTP API with a real client on loopback. */
#include "control/web/web.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/configure/live_settings.h"
#include "control/events/events.h"
#include "ipc/http.h"
#include "tests/unit/ipc/loop.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
/* Cut at any number of bytes it is likely to be cut inside a letter. */
#define SOME_LETTERS "\xe3\x81\x82\xe3\x81\x84\xe3\x81\x86\xe3\x81\x88\xe3\x81\x8a"
#define LONG_NAME                                                                                  \
	SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS                           \
		"a" SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS  \
			SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS           \
				SOME_LETTERS

static struct fixture {
	struct loop l;
	struct settings *settings;
	struct live_settings *live;
	struct bus *bus;
	struct web *web;
	struct http *http;
	struct tmr *saved_tmr;
	char *saved; /* the version that was handed over last */
	char order[128];
	int order_err;
	char author[16], told_author[16];
	json_t *got;
	int begin_err, save_err, status;
	uint64_t before;
	bool ready;
	bool hold; /* saving takes until the test says so */
	unsigned saves, changes, answers;
} fx;

/* Saving ends in a step of its own, as the store's answers do. */
static void on_saved(void *arg)
{
	(void)arg;
	live_settings_saved(fx.live, fx.save_err, fx.saved, "The disk is full.");
}

static int on_save(const struct live_settings_version *version, void *arg)
{
	(void)arg;
	if (fx.begin_err)
		return fx.begin_err;
	if (fx.save_err != ESTALE) {
		free(fx.saved);
		fx.saved = strdup(version->text);
	}
	snprintf(fx.author, sizeof fx.author, "%s", version->author);
	fx.before = version->before;
	fx.saves++;
	if (!fx.hold)
		tmr_start(fx.saved_tmr, NS_PER_MS);
	return 0;
}

static void on_changed(void *arg)
{
	(void)arg;
	fx.changes++;
}

static void on_told(const char *name, enum settings_when when, const char *author, void *arg)
{
	(void)name;
	(void)when;
	(void)arg;
	snprintf(fx.told_author, sizeof fx.told_author, "%s", author ? author : "");
}

static json_t *on_mcp(void *arg)
{
	(void)arg;
	return json_pack("{s:[{s:s, s:b}]}", "servers", "serverName", "notes", "connected", 1);
}

static json_t *on_ready(void *arg)
{
	(void)arg;
	return json_pack("{s:b,s:{s:s}}", "ready", fx.ready, "parts", "mediad",
			 fx.ready ? "up" : "down");
}

static char *on_metrics(void *arg)
{
	(void)arg;
	return strdup("parley_calls_up_total 7\n");
}

static json_t *on_rooms(void *arg)
{
	(void)arg;
	return json_pack("[{s:s}]", "guild", "42");
}

static json_t *on_reasons(void *arg)
{
	(void)arg;
	return json_pack("{s:{s:s}}", "reasons", "answered", "it was answered");
}

static json_t *on_guilds(void *arg)
{
	(void)arg;
	return json_pack("[{s:s,s:s}]", "id", "42", "name", "Home");
}

static json_t *on_channels(uint64_t guild, void *arg)
{
	(void)arg;
	return guild == 42 ? json_pack("[{s:s}]", "id", "7") : NULL;
}

static int on_order(const struct web_order *o, char why[WEB_WHY_SIZE], void *arg)
{
	(void)arg;
	snprintf(fx.order, sizeof fx.order, "%s %d %d %s", web_order_name(o->kind), (int)o->guild,
		 (int)o->channel, o->text ? o->text : "");
	snprintf(why, WEB_WHY_SIZE, "It is full.");
	return fx.order_err;
}

static bool open_with(const json_t *kept, struct journal *j)
{
	static const uint32_t hours = 1;
	struct live_settings_conf lc = {
		.kept = kept, .saveh = on_save, .changedh = on_changed, .toldh = on_told};
	struct web_conf wc = {.listen = "127.0.0.1:0",
			      .token = TOKEN,
			      .recorded = true,
			      .mcph = on_mcp,
			      .readyh = on_ready,
			      .session_hours = &hours,
			      .roomsh = on_rooms,
			      .reasonsh = on_reasons,
			      .statsh = on_ready,
			      .guildsh = on_guilds,
			      .channelsh = on_channels,
			      .orderh = on_order,
			      .metricsh = on_metrics};

	memset(&fx, 0, sizeof fx);
	if (loop_open(&fx.l, j) || settings_alloc(&fx.settings) ||
	    tmr_alloc(&fx.saved_tmr, fx.l.env, on_saved, NULL))
		return false;
	lc.settings = fx.settings;
	if (live_settings_alloc(&fx.live, &lc))
		return false;
	wc.env = fx.l.env;
	wc.live = fx.live;
	if (bus_alloc(&fx.bus))
		return false;
	wc.bus = fx.bus;
	return web_alloc(&fx.web, &wc) == 0 && http_alloc(&fx.http, fx.l.env, NULL, "test") == 0;
}

static bool open_all(const json_t *kept)
{
	return open_with(kept, NULL);
}

static void close_all(void)
{
	http_free(fx.http);
	web_free(fx.web);
	bus_free(fx.bus);
	live_settings_free(fx.live);
	settings_free(fx.settings);
	tmr_free(fx.saved_tmr);
	free(fx.saved);
	json_decref(fx.got);
	loop_close(&fx.l);
}

static void on_answer(const struct http_resp *resp, void *arg)
{
	(void)arg;
	env_stop(fx.l.env);
	fx.answers++;
	fx.status = resp->status;
	json_decref(fx.got);
	fx.got = json_loadb(resp->body.p, resp->body.n, 0, NULL);
}

/* The request goes out when the loop runs. */
static int send_as(const char *token, const char *method, const char *path, const char *body,
		   struct http_req **req)
{
	char url[160], auth[160];
	const char *const headers[] = {auth, "Content-Type: application/json", NULL};
	struct http_call call = {.method = method,
				 .url = url,
				 .headers = headers,
				 .body = body,
				 .body_len = body ? strlen(body) : 0,
				 .timeout_ms = 5000};

	snprintf(url, sizeof url, "http://127.0.0.1:%u%s", web_port(fx.web), path);
	snprintf(auth, sizeof auth, "Authorization: Bearer %s", token);

	fx.status = 0;
	return http_request(req, fx.http, &call, on_answer, NULL);
}

static int ask_as(const char *token, const char *method, const char *path, const char *body)
{
	if (send_as(token, method, path, body, NULL))
		return -1;
	loop_run(&fx.l);
	return fx.status;
}

static int ask(const char *method, const char *path, const char *body)
{
	return ask_as(TOKEN, method, path, body);
}

static const char *text_of(const char *name)
{
	const char *text = json_string_value(json_object_get(fx.got, name));

	return text ? text : "";
}

static json_int_t version_of(void)
{
	return json_integer_value(json_object_get(json_object_get(fx.got, "_meta"), "version"));
}

TEST(rule_113_put_settings_without_a_version_is_rejected_and_a_stale_one_conflicts)
{
	CHECK(open_all(NULL));
	CHECK_INT(ask("PUT", "/api/settings", "{\"intent\": {\"hold_ms\": 100}}"), 409);
	CHECK_STR(text_of("error"), "settings_version_required");
	CHECK(json_object_get(fx.got, "effective") != NULL);
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"hold_ms\": 100}, \"_meta\": {\"expectedUpdatedAt\": null}}"),
		  200);
	CHECK_INT(version_of(), 1);
	CHECK_INT(fx.settings->hold_ms, 100);
	CHECK_INT(fx.changes, 1);
	CHECK(strstr(fx.saved, "\"intent\":{\"hold_ms\":100}") != NULL);
	CHECK_STR(fx.author, "token");
	CHECK_STR(fx.told_author, "token");
	CHECK_INT(fx.before, 0);
	/* Whoever saw the empty document is late. */
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"hold_ms\": 7}, \"_meta\": {\"expectedUpdatedAt\": null}}"),
		  409);
	CHECK_STR(text_of("error"), "settings_conflict");
	CHECK_INT(version_of(), 1);
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"hold_ms\": 7}, \"_meta\": {\"version\": 9}}"),
		  409);
	CHECK_INT(fx.settings->hold_ms, 100);
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"hold_ms\": 7}, \"_meta\": {\"version\": 1}}"),
		  200);
	CHECK_INT(fx.settings->hold_ms, 7);
	close_all();
}

TEST(settings_are_shown_with_what_serves)
{
	CHECK(open_all(NULL));
	CHECK_INT(ask("GET", "/api/settings", NULL), 200);
	CHECK_INT(json_integer_value(
			  json_object_get(json_object_get(fx.got, "effective"), "hold_ms")),
		  2500);
	CHECK(json_object_get(json_object_get(fx.got, "bindings"), "roles") != NULL);
	CHECK(json_is_null(json_object_get(json_object_get(fx.got, "_meta"), "updatedAt")));
	CHECK_INT(ask("GET", "/api/settings/schema", NULL), 200);
	CHECK(json_array_size(json_object_get(fx.got, "settings")) == SETTINGS_COUNT);
	close_all();
}

TEST(nobody_without_the_token_sees_or_changes_settings)
{
	CHECK(open_all(NULL));
	CHECK_INT(ask_as("", "GET", "/api/settings", NULL), 401);
	CHECK_INT(ask_as("0123456789abcdef0123456789abcdeF", "GET", "/api/settings", NULL), 401);
	CHECK_INT(ask_as(TOKEN "0", "PUT", "/api/settings", "{}"), 401);
	CHECK_STR(text_of("error"), "unauthorized");
	/* What a journal leaves of it. */
	CHECK_INT(ask_as("********************************", "GET", "/api/settings", NULL), 401);
	CHECK_INT(ask_as("", "GET", "/healthz", NULL), 200);
	CHECK_INT(ask("DELETE", "/api/settings", NULL), 405);
	CHECK_INT(ask("GET", "/api/nothing", NULL), 404);
	CHECK_INT(ask("PUT", "/api/settings", "this is none"), 400);
	close_all();
}

TEST(whether_all_parts_work_needs_no_token_and_metrics_do)
{
	CHECK(open_all(NULL));
	CHECK_INT(ask_as("", "GET", "/readyz", NULL), 503);
	CHECK(!json_object_get(fx.got, "parts"));
	CHECK(json_is_false(json_object_get(fx.got, "ready")));
	/* The log of a health check says which part it is. */
	CHECK_INT(json_array_size(json_object_get(fx.got, "down")), 1);
	CHECK_STR(json_string_value(json_array_get(json_object_get(fx.got, "down"), 0)), "mediad");
	CHECK_INT(ask_as("", "GET", "/healthz", NULL), 200);
	CHECK(!json_object_get(fx.got, "parts"));
	/* Whoever asks all the time has nobody look each time. */
	fx.ready = true;
	CHECK_INT(ask("GET", "/readyz", NULL), 503);
	CHECK_STR(json_string_value(json_object_get(json_object_get(fx.got, "parts"), "mediad")),
		  "down");
	close_all();
	CHECK(open_all(NULL));
	fx.ready = true;
	CHECK_INT(ask_as("", "GET", "/readyz", NULL), 200);
	CHECK_INT(ask_as("", "GET", "/metrics", NULL), 401);
	CHECK_INT(ask("GET", "/metrics", NULL), 200);
	close_all();
}

/* A journal hides every secret by stars, and somebody may know a lesser one. */
TEST(another_secret_as_long_as_the_token_is_not_the_token)
{
	char dir[32], path[64];
	struct journal *j = NULL;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/journal", dir);
	CHECK_INT(journal_create(&j, path, 1, "{}"), 0);
	CHECK(open_with(NULL, j));
	CHECK_INT(env_secret(fx.l.env, TOKEN), 0);
	CHECK_INT(env_secret(fx.l.env, "no-key-1"), 0);
	CHECK_INT(ask("GET", "/api/settings", NULL), 200);
	CHECK_INT(ask_as("no-key-1no-key-1no-key-1no-key-1", "GET", "/api/settings", NULL), 401);
	CHECK_INT(ask_as("no-key-1", "GET", "/api/settings", NULL), 401);
	CHECK_STR(text_of("error"), "unauthorized");
	close_all();
	journal_free(j);
	folder_remove(dir);
}

TEST(a_change_that_cannot_take_effect_says_where_and_why)
{
	const json_t *error;

	CHECK(open_all(NULL));
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"hold_ms\": -1}, \"_meta\": {\"expectedUpdatedAt\": null}}"),
		  422);
	error = json_array_get(json_object_get(fx.got, "errors"), 0);
	CHECK_STR(json_string_value(json_object_get(error, "pointer")), "/intent/hold_ms");
	CHECK_INT(ask("POST", "/api/settings/check", "{\"intent\": {\"hold_mss\": 1}}"), 422);
	CHECK_INT(ask("POST", "/api/settings/check", "{\"intent\": {\"" LONG_NAME "\": 1}}"), 422);
	CHECK_INT(json_array_size(json_object_get(fx.got, "errors")), 1);
	CHECK_INT(ask("POST", "/api/settings/check",
		      "{\"intent\": {\"providers\": [{\"" LONG_NAME "\": 1}]}}"),
		  422);
	CHECK(json_array_size(json_object_get(fx.got, "errors")) >= 2);
	CHECK_INT(ask("POST", "/api/settings/check", "{\"intent\": {\"hold_ms\": 1}}"), 200);
	CHECK_INT(ask("PUT", "/api/settings", "{\"_meta\": {\"expectedUpdatedAt\": null}}"), 422);
	CHECK_INT(fx.saves, 0);
	close_all();
}

#define PUT_FIRST "{\"intent\": {\"hold_ms\": 1}, \"_meta\": {\"version\": 0}}"

static void check_nothing_changed(void)
{
	CHECK_STR(text_of("error"), "settings_not_saved");
	CHECK_INT(version_of(), 0);
	CHECK_INT(fx.settings->hold_ms, 2500);
	CHECK_INT(live_settings_wanted(fx.live)->hold_ms, 2500);
	CHECK_INT(fx.changes, 0);
}

TEST(a_change_that_cannot_be_saved_says_why_and_changes_nothing)
{
	CHECK(open_all(NULL));
	fx.save_err = ENOSPC;
	CHECK_INT(ask("PUT", "/api/settings", PUT_FIRST), 503);
	check_nothing_changed();
	CHECK_STR(text_of("detail"), "The disk is full.");
	fx.begin_err = ENOENT;
	CHECK_INT(ask("PUT", "/api/settings", PUT_FIRST), 503);
	check_nothing_changed();
	/* Once it can be saved again it is. */
	fx.begin_err = fx.save_err = 0;
	CHECK_INT(ask("PUT", "/api/settings", PUT_FIRST), 200);
	CHECK_INT(version_of(), 1);
	CHECK_INT(fx.settings->hold_ms, 1);
	close_all();
}

TEST(a_change_takes_effect_once_it_is_saved_and_others_conflict_until_then)
{
	CHECK(open_all(NULL));
	fx.hold = true;
	CHECK_INT(send_as(TOKEN, "PUT", "/api/settings", PUT_FIRST, NULL), 0);
	LOOP_UNTIL(&fx.l, fx.saves);
	CHECK_INT(fx.saves, 1);
	CHECK_INT(fx.answers, 0);
	CHECK_INT(fx.settings->hold_ms, 2500);
	CHECK_INT(ask("GET", "/api/settings", NULL), 200);
	CHECK_INT(version_of(), 0);
	CHECK_INT(ask("PUT", "/api/settings", PUT_FIRST), 409);
	CHECK_STR(text_of("error"), "settings_conflict");
	CHECK_INT(fx.saves, 1);
	tmr_start(fx.saved_tmr, NS_PER_MS);
	CHECK(loop_run(&fx.l));
	CHECK_INT(fx.status, 200);
	CHECK_INT(version_of(), 1);
	CHECK_INT(fx.settings->hold_ms, 1);
	CHECK_INT(fx.answers, 3);
	close_all();
}

TEST(a_client_that_leaves_does_not_stop_its_change)
{
	struct http_req *req = NULL;

	CHECK(open_all(NULL));
	fx.hold = true;
	CHECK_INT(send_as(TOKEN, "PUT", "/api/settings", PUT_FIRST, &req), 0);
	LOOP_UNTIL(&fx.l, fx.saves);
	CHECK_INT(fx.saves, 1);
	http_req_cancel(req);
	loop_run_for(&fx.l, 30 * NS_PER_MS);
	tmr_start(fx.saved_tmr, NS_PER_MS);
	LOOP_UNTIL(&fx.l, fx.settings->hold_ms == 1);
	CHECK_INT(fx.settings->hold_ms, 1);
	CHECK_INT(fx.answers, 0);
	close_all();
}

TEST(a_version_that_somebody_else_saved_takes_effect)
{
	CHECK(open_all(NULL));
	fx.save_err = ESTALE;
	fx.saved =
		strdup("{\"version\": 4, \"updatedAt\": \"2026-11-22T12:00:00.000Z\", \"author\": "
		       "\"alice\", \"intent\": {\"hold_ms\": 9}}");
	CHECK_INT(ask("PUT", "/api/settings", PUT_FIRST), 409);
	CHECK_STR(text_of("error"), "settings_conflict");
	CHECK_INT(version_of(), 4);
	CHECK_INT(fx.settings->hold_ms, 9);
	CHECK_STR(fx.told_author, "alice");
	fx.save_err = 0;
	CHECK_INT(ask("PUT", "/api/settings", "{\"intent\": {}, \"_meta\": {\"version\": 4}}"),
		  200);
	CHECK_INT(fx.before, 4);
	CHECK_INT(version_of(), 5);
	close_all();
}

TEST(each_key_has_an_outcome_and_a_change_is_undone)
{
	char *text;

	CHECK(open_all(NULL));
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"hold_ms\": 1, \"language\": \"de\", \"reply_path\": "
		      "\"brain\"}, \"_meta\": {\"version\": 0}}"),
		  200);
	text = json_dumps(json_object_get(fx.got, "outcomes"), JSON_COMPACT);
	CHECK_STR(text, "[{\"key\":\"language\",\"outcome\":\"next_call\"},"
			"{\"key\":\"hold_ms\",\"outcome\":\"applied\"},"
			"{\"key\":\"reply_path\",\"outcome\":\"after_restart\"}]");
	free(text);
	CHECK(json_is_false(json_object_get(fx.got, "saveAppliedToRuntime")));
	CHECK_STR(text_of("saveApplyError"), "after_restart");
	CHECK_INT(fx.settings->reply_path, SETTINGS_REPLY_NATIVE);
	CHECK_INT(live_settings_wanted(fx.live)->reply_path, SETTINGS_REPLY_BRAIN);
	CHECK_INT(ask("GET", "/api/settings/diff", NULL), 200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "changes")), 3);
	CHECK_INT(ask("GET", "/api/settings/diff?from=1&to=8", NULL), 404);
	CHECK_INT(ask("POST", "/api/settings/undo", "{}"), 409);
	CHECK_INT(ask("POST", "/api/settings/undo", "{\"_meta\": {\"version\": 1}}"), 200);
	CHECK_INT(fx.settings->hold_ms, 2500);
	CHECK_INT(ask("POST", "/api/settings/undo", "{\"_meta\": {\"version\": 2}}"), 200);
	CHECK_INT(fx.settings->hold_ms, 1);
	CHECK_INT(ask("POST", "/api/settings/reset", "{}"), 409);
	CHECK_INT(ask("POST", "/api/settings/reset", "{\"_meta\": {\"version\": 2}}"), 409);
	CHECK_INT(fx.settings->hold_ms, 1);
	CHECK_INT(ask("POST", "/api/settings/reset", "{\"_meta\": {\"version\": 3}}"), 200);
	CHECK_INT(fx.settings->hold_ms, 2500);
	CHECK_INT(ask("GET", "/api/settings/history", NULL), 200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "versions")), 4);
	close_all();
}

TEST(a_kept_document_is_in_effect_from_the_start_and_servers_have_their_own)
{
	json_t *kept = json_loads(
		"{\"versions\": [{\"version\": 3, \"updatedAt\": \"2026-11-22T12:00:00.000Z\","
		" \"author\": \"alice\", \"intent\": {\"hold_ms\": 9, \"guilds\": {\"42\": "
		"{\"hold_ms\": 8}}}}]}",
		0, NULL);
	const struct settings *own, *all;

	CHECK(open_all(kept));
	json_decref(kept);
	CHECK_INT(fx.settings->hold_ms, 9);
	own = live_settings_of(fx.live, 42);
	all = live_settings_of(fx.live, 43);
	CHECK_INT(own->hold_ms, 8);
	CHECK_INT(all->hold_ms, 9);
	/* The file changes underneath: the document takes precedence. */
	CHECK_INT(live_settings_base(fx.live, "hold_ms", "500"), 0);
	CHECK_INT(live_settings_base(fx.live, "silence_ms", "900"), 0);
	live_settings_apply(fx.live);
	CHECK_INT(fx.settings->hold_ms, 9);
	CHECK_INT(fx.settings->silence_ms, 900);
	CHECK_INT(own->silence_ms, 900);
	CHECK_INT(own->hold_ms, 8);
	CHECK_INT(ask("PUT", "/api/settings", "{\"intent\": {}, \"_meta\": {\"version\": 3}}"),
		  200);
	CHECK_INT(fx.settings->hold_ms, 500);
	CHECK_INT(own->hold_ms, 500);
	live_settings_embedded_at(fx.live, "ws://127.0.0.1:7/v1/realtime");
	CHECK_STR(settings_brain_url(own), "ws://127.0.0.1:7/v1/realtime");
	close_all();
}

/* A voice session holds its server's settings for as long as it lives, also when the server gets
 * some of its own later. */
TEST(a_server_that_gets_settings_of_its_own_later_has_them_at_once)
{
	const struct settings *early;

	CHECK(open_all(NULL));
	early = live_settings_of(fx.live, 42);
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"hold_ms\": 9, \"guilds\": {\"42\": {\"hold_ms\": 8}}},"
		      " \"_meta\": {\"expectedUpdatedAt\": null}}"),
		  200);
	CHECK_INT(fx.settings->hold_ms, 9);
	CHECK_INT(early->hold_ms, 8);
	CHECK(live_settings_of(fx.live, 42) == early);
	/* And goes back to everybody's. */
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"hold_ms\": 9}, \"_meta\": {\"version\": 1}}"),
		  200);
	CHECK_INT(early->hold_ms, 9);
	/* Places are taken by servers that are in use, and no others. */
	for (uint64_t guild = 100; guild < 100 + LIVE_SETTINGS_GUILDS - 1; guild++)
		CHECK(live_settings_of(fx.live, guild) != fx.settings);
	CHECK(live_settings_of(fx.live, 43) == fx.settings);
	live_settings_release(fx.live, 42);
	CHECK(live_settings_of(fx.live, 43) != fx.settings);
	close_all();
}

/* One server alone is served by the embedded engine. */
TEST(a_server_s_own_settings_may_need_the_embedded_engine)
{
	CHECK(open_all(NULL));
	CHECK_INT(live_settings_base(fx.live, "openai_api_key", "sk-1"), 0);
	live_settings_apply(fx.live);
	CHECK(!live_settings_needs_embedded(fx.live));
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"guilds\": {\"42\": {\"roles\": {\"voice\": "
		      "[\"embedded\"]}}}}, \"_meta\": {\"expectedUpdatedAt\": null}}"),
		  200);
	live_settings_of(fx.live, 43);
	CHECK(!live_settings_needs_embedded(fx.live));
	live_settings_of(fx.live, 42);
	CHECK(live_settings_needs_embedded(fx.live));
	close_all();
}

TEST(the_outcome_of_a_server_s_own_key_is_told)
{
	char *text;

	CHECK(open_all(NULL));
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"hold_ms\": 9, \"guilds\": {\"42\": {\"hold_ms\": 8, "
		      "\"language\": \"de\"}}}, \"_meta\": {\"expectedUpdatedAt\": null}}"),
		  200);
	text = json_dumps(json_object_get(fx.got, "outcomes"), JSON_COMPACT | JSON_SORT_KEYS);
	CHECK_STR(text, "[{\"key\":\"hold_ms\",\"outcome\":\"applied\"},"
			"{\"key\":\"guilds/42/hold_ms\",\"outcome\":\"applied\"},"
			"{\"key\":\"guilds/42/language\",\"outcome\":\"next_call\"}]");
	free(text);
	/* A server that has them no more goes back to everybody's. */
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"hold_ms\": 9}, \"_meta\": {\"version\": 1}}"),
		  200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "outcomes")), 2);
	close_all();
}

TEST(the_settings_of_one_server_are_shown)
{
	CHECK(open_all(NULL));
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"hold_ms\": 100, \"guilds\": {\"41771983423143937\": "
		      "{\"hold_ms\": 7}}}, \"_meta\": {\"version\": 0}}"),
		  200);
	CHECK_INT(ask("GET", "/api/settings?guild=41771983423143937", NULL), 200);
	CHECK_STR(text_of("guild"), "41771983423143937");
	CHECK_INT(json_integer_value(
			  json_object_get(json_object_get(fx.got, "effective"), "hold_ms")),
		  7);
	CHECK_INT(version_of(), 1);
	/* One without settings of its own. */
	CHECK_INT(ask("GET", "/api/settings?guild=42", NULL), 200);
	CHECK_INT(json_integer_value(
			  json_object_get(json_object_get(fx.got, "effective"), "hold_ms")),
		  100);
	CHECK_INT(ask("GET", "/api/settings?guild=x", NULL), 400);
	CHECK_STR(text_of("error"), "bad_query");
	close_all();
}

TEST(versions_to_compare_are_numbers)
{
	CHECK(open_all(NULL));
	CHECK_INT(ask("GET", "/api/settings/diff?from=x", NULL), 400);
	CHECK_INT(ask("GET", "/api/settings/diff?from=0&to=1x", NULL), 400);
	CHECK_INT(ask("GET", "/api/settings/diff?from=", NULL), 400);
	CHECK_INT(ask("GET", "/api/settings/diff?from=-1", NULL), 400);
	CHECK_STR(text_of("error"), "bad_query");
	CHECK_INT(ask("GET", "/api/settings/diff?from=0&to=7", NULL), 404);
	CHECK_INT(ask("GET", "/api/settings/diff", NULL), 200);
	close_all();
}

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
		env_stop(fx.l.env);
}

static struct http_req *read_events(const char *query, const char *last_id)
{
	char url[256], id[80];
	const char *const headers[] = {"Authorization: Bearer " TOKEN, *last_id ? id : NULL, NULL};
	struct http_call call = {.method = "GET", .url = url, .headers = headers, .parth = on_part};
	struct http_req *req = NULL;

	snprintf(url, sizeof url, "http://127.0.0.1:%u/api/events%s", web_port(fx.web), query);
	snprintf(id, sizeof id, "Last-Event-ID: %s", last_id);
	stream.n = 0;
	stream.text[0] = '\0';
	return http_request(&req, fx.http, &call, on_answer, NULL) ? NULL : req;
}

/* Until this text has come. */
static bool await_events(const char *text)
{
	stream.want = text;
	return strstr(stream.text, text) || (loop_run(&fx.l) && strstr(stream.text, text));
}

static void publish_session(uint64_t guild, enum event_type type, const char *why)
{
	struct bus_event ev = {.type = type, .at_ms = 1, .guild = guild};

	ev.session = (struct event_session){.session = 1, .channel = 8, .why = why};
	bus_publish(fx.bus, &ev);
}

TEST(events_of_the_bus_are_streamed_to_readers_that_ask_for_them)
{
	char id[64];
	struct http_req *req;

	CHECK(open_all(NULL));
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
	close_all();
}

/* As uptime monitors ask (RFC 9110 section 9.1). */
TEST(what_can_be_got_can_be_asked_about)
{
	CHECK(open_all(NULL));
	CHECK_INT(ask_as("", "HEAD", "/healthz", NULL), 200);
	CHECK_INT(ask_as("", "HEAD", "/", NULL), 200);
	CHECK_INT(ask_as("", "HEAD", "/api/rooms", NULL), 401);
	CHECK_INT(ask("HEAD", "/api/rooms/42/leave", NULL), 405);
	close_all();
}

TEST(an_event_stream_needs_the_token_and_a_query_that_names_events)
{
	CHECK(open_all(NULL));
	CHECK_INT(ask_as("", "GET", "/api/events", NULL), 401);
	CHECK_INT(ask("GET", "/api/events?type=turn,nothing", NULL), 400);
	CHECK_STR(text_of("error"), "bad_query");
	CHECK_INT(ask("GET", "/api/events?type=", NULL), 400);
	CHECK_INT(ask("GET", "/api/events?type=turn,", NULL), 400);
	CHECK_INT(ask("GET", "/api/events?guild=x", NULL), 400);
	CHECK_INT(ask("GET", "/api/events?guild=0", NULL), 400);
	CHECK_INT(ask("GET", "/api/events?guild", NULL), 400);
	close_all();
}

TEST(web_tells_the_state_of_mcp_servers_to_viewers_alone)
{
	CHECK(open_all(NULL));
	CHECK_INT(ask("GET", "/api/mcp/status", NULL), 200);
	CHECK_STR(json_string_value(json_object_get(
			  json_array_get(json_object_get(fx.got, "servers"), 0), "serverName")),
		  "notes");
	CHECK_INT(ask_as("wrong", "GET", "/api/mcp/status", NULL), 401);
	CHECK_INT(ask("POST", "/api/mcp/status", "{}"), 405);
	close_all();
}

static void take_action(const struct bus_event *ev, void *arg)
{
	char *told = arg;

	snprintf(told, 128, "%s, %s: %s", ev->action.kind, ev->action.target, ev->action.result);
}

TEST(orders_reach_the_room_and_the_audit)
{
	char told[128] = "", said[128];

	CHECK(open_all(NULL));
	CHECK_INT(bus_subscribe(fx.bus, BUS_MASK(EVENT_OPERATOR_ACTION), take_action, told), 0);
	CHECK_INT(ask("POST", "/api/rooms/42/say", "{\"text\": \"good evening\"}"), 202);
	CHECK_STR(fx.order, "say 42 0 good evening");
	/* It waits for a quiet room; by its number the bus tells how it ended. */
	snprintf(said, sizeof said, "say, server 42, order %s: accepted", text_of("id"));
	CHECK_STR(told, said);
	CHECK_INT(ask("POST", "/api/rooms/42/stop", NULL), 202);
	CHECK_STR(fx.order, "stop 42 0 ");
	CHECK_INT(ask("POST", "/api/rooms/42/mute", "{\"muted\": true}"), 202);
	CHECK_STR(fx.order, "mute 42 0 ");
	CHECK_INT(ask("POST", "/api/rooms/42/mute", "{\"muted\": false}"), 202);
	CHECK_STR(fx.order, "unmute 42 0 ");
	CHECK_INT(ask("POST", "/api/rooms/42/leave", NULL), 202);
	CHECK_STR(fx.order, "leave 42 0 ");
	fx.order_err = EBUSY;
	CHECK_INT(ask("POST", "/api/rooms/42/move", "{\"channel\": \"7\"}"), 409);
	CHECK_STR(fx.order, "move 42 7 ");
	CHECK_STR(text_of("title"), "It is full.");
	CHECK_STR(told, "move, server 42: refused");
	fx.order_err = ENOENT;
	CHECK_INT(ask("POST", "/api/voice/join", "{\"guildId\": \"9\", \"channelId\": \"7\"}"),
		  404);
	CHECK_STR(fx.order, "move 9 7 ");
	fx.order_err = ENOTCONN;
	CHECK_INT(ask("POST", "/api/rooms/42/stop", NULL), 409);
	CHECK_STR(text_of("error"), "no_conversation");
	close_all();
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

	CHECK(open_all(NULL));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_INT(ask("POST", bad[i].path, bad[i].body), bad[i].status);
	CHECK_STR(fx.order, "");
	CHECK_INT(ask("GET", "/api/guilds", NULL), 200);
	CHECK_INT(ask("GET", "/api/guilds/42/channels", NULL), 200);
	CHECK_INT(ask("GET", "/api/guilds/43/channels", NULL), 404);
	close_all();
}
