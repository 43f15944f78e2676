/* The HTTP API with a real client on loopback. */
#include "control/web/web.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/configure/live_settings.h"
#include "ipc/http.h"
#include <errno.h>
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
	struct web *web;
	struct http *http;
	json_t *saved, *got;
	int save_err, status;
	unsigned changes;

} fx;

static int on_save(const json_t *document, void *arg)
{
	(void)arg;
	if (fx.save_err)
		return fx.save_err;
	json_decref(fx.saved);
	fx.saved = json_deep_copy(document);
	return 0;
}

static void on_changed(void *arg)
{
	(void)arg;
	fx.changes++;
}

static bool open_all(const json_t *kept)
{
	struct live_settings_conf lc = {.kept = kept, .saveh = on_save, .changedh = on_changed};
	struct web_conf wc = {.listen = "127.0.0.1:0", .token = TOKEN, .recorded = true};

	memset(&fx, 0, sizeof fx);
	if (loop_open(&fx.l, NULL) || settings_alloc(&fx.settings))
		return false;
	lc.settings = fx.settings;
	if (live_settings_alloc(&fx.live, &lc))
		return false;
	wc.env = fx.l.env;
	wc.live = fx.live;
	return web_alloc(&fx.web, &wc) == 0 && http_alloc(&fx.http, fx.l.env, NULL, "test") == 0;
}

static void close_all(void)
{
	http_free(fx.http);
	web_free(fx.web);
	live_settings_free(fx.live);
	settings_free(fx.settings);
	json_decref(fx.saved);
	json_decref(fx.got);
	loop_close(&fx.l);
}

static void on_answer(const struct http_resp *resp, void *arg)
{
	(void)arg;
	env_stop(fx.l.env);
	fx.status = resp->status;
	json_decref(fx.got);
	fx.got = json_loadb(resp->body.p, resp->body.n, 0, NULL);
}

static int ask_as(const char *token, const char *method, const char *path, const char *body)
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
	if (http_request(NULL, fx.http, &call, on_answer, NULL))
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
	CHECK(fx.saved != NULL);
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
	CHECK_INT(ask_as("********************************", "GET", "/api/settings", NULL), 400);
	CHECK_INT(ask_as("", "GET", "/healthz", NULL), 200);
	CHECK_INT(ask("DELETE", "/api/settings", NULL), 405);
	CHECK_INT(ask("GET", "/api/nothing", NULL), 404);
	CHECK_INT(ask("PUT", "/api/settings", "this is none"), 400);
	close_all();
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
	fx.save_err = ENOSPC;
	CHECK_INT(ask("PUT", "/api/settings",
		      "{\"intent\": {\"hold_ms\": 1}, \"_meta\": {\"expectedUpdatedAt\": null}}"),
		  503);
	CHECK_STR(text_of("error"), "settings_not_saved");
	CHECK_INT(version_of(), 0);
	CHECK_INT(fx.settings->hold_ms, 2500);
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
	CHECK_INT(fx.settings->reply_path, SETTINGS_REPLY_NATIVE);
	CHECK_INT(live_settings_wanted(fx.live)->reply_path, SETTINGS_REPLY_BRAIN);
	CHECK_INT(ask("GET", "/api/settings/diff", NULL), 200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "changes")), 3);
	CHECK_INT(ask("GET", "/api/settings/diff?from=1&to=8", NULL), 404);
	CHECK_INT(ask("POST", "/api/settings/undo", "{}"), 409);
	CHECK_INT(ask("POST", "/api/settings/undo", "{\"_meta\": {\"version\": 1}}"), 200);
	CHECK_INT(fx.settings->hold_ms, 2500);
	CHECK_INT(ask("GET", "/api/settings/history", NULL), 200);
	CHECK_INT(json_array_size(json_object_get(fx.got, "versions")), 2);
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
	live_settings_apply(fx.live, NULL);
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
