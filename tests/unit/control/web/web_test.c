/* The HTTP API with a real client on loopback. */
#include "tests/unit/control/web/web_scene.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

static json_int_t version_of(void)
{
	return json_integer_value(
		json_object_get(json_object_get(web_scene.got, "_meta"), "version"));
}

TEST(rule_113_put_settings_without_a_version_is_rejected_and_a_stale_one_conflicts)
{
	CHECK(web_scene_open(NULL));
	CHECK_INT(web_scene_ask("PUT", "/api/settings", "{\"intent\": {\"hold_ms\": 100}}"), 409);
	CHECK_STR(web_scene_text_of("error"), "settings_version_required");
	CHECK(json_object_get(web_scene.got, "effective") != NULL);
	CHECK_INT(web_scene_ask("PUT", "/api/settings",
				"{\"intent\": {\"hold_ms\": 100}, \"_meta\": "
				"{\"expectedUpdatedAt\": null}}"),
		  200);
	CHECK_INT(version_of(), 1);
	CHECK_INT(web_scene.settings->hold_ms, 100);
	CHECK_INT(web_scene.changes, 1);
	CHECK(strstr(web_scene.saved, "\"intent\":{\"hold_ms\":100}") != NULL);
	CHECK_STR(web_scene.author, "token");
	CHECK_STR(web_scene.told_author, "token");
	CHECK_INT(web_scene.before, 0);
	/* Whoever saw the empty document is late. */
	CHECK_INT(
		web_scene_ask(
			"PUT", "/api/settings",
			"{\"intent\": {\"hold_ms\": 7}, \"_meta\": {\"expectedUpdatedAt\": null}}"),
		409);
	CHECK_STR(web_scene_text_of("error"), "settings_conflict");
	CHECK_INT(version_of(), 1);
	CHECK_INT(web_scene_ask("PUT", "/api/settings",
				"{\"intent\": {\"hold_ms\": 7}, \"_meta\": {\"version\": 9}}"),
		  409);
	CHECK_INT(web_scene.settings->hold_ms, 100);
	CHECK_INT(web_scene_ask("PUT", "/api/settings",
				"{\"intent\": {\"hold_ms\": 7}, \"_meta\": {\"version\": 1}}"),
		  200);
	CHECK_INT(web_scene.settings->hold_ms, 7);
	web_scene_close();
}

TEST(settings_are_shown_with_what_serves)
{
	CHECK(web_scene_open(NULL));
	CHECK_INT(web_scene_ask("GET", "/api/settings", NULL), 200);
	CHECK_INT(json_integer_value(
			  json_object_get(json_object_get(web_scene.got, "effective"), "hold_ms")),
		  2500);
	CHECK(json_object_get(json_object_get(web_scene.got, "bindings"), "roles") != NULL);
	CHECK(json_is_null(json_object_get(json_object_get(web_scene.got, "_meta"), "updatedAt")));
	CHECK_INT(web_scene_ask("GET", "/api/settings/schema", NULL), 200);
	CHECK(json_array_size(json_object_get(web_scene.got, "settings")) == SETTINGS_COUNT);
	web_scene_close();
}

TEST(nobody_without_the_token_sees_or_changes_settings)
{
	CHECK(web_scene_open(NULL));
	CHECK_INT(web_scene_ask_as("", "GET", "/api/settings", NULL), 401);
	CHECK_INT(
		web_scene_ask_as("0123456789abcdef0123456789abcdeF", "GET", "/api/settings", NULL),
		401);
	CHECK_INT(web_scene_ask_as(TOKEN "0", "PUT", "/api/settings", "{}"), 401);
	CHECK_STR(web_scene_text_of("error"), "unauthorized");
	/* What a journal leaves of it. */
	CHECK_INT(
		web_scene_ask_as("********************************", "GET", "/api/settings", NULL),
		401);
	CHECK_INT(web_scene_ask_as("", "GET", "/healthz", NULL), 200);
	CHECK_INT(web_scene_ask("DELETE", "/api/settings", NULL), 405);
	CHECK_INT(web_scene_ask("GET", "/api/nothing", NULL), 404);
	CHECK_INT(web_scene_ask("PUT", "/api/settings", "this is none"), 400);
	web_scene_close();
}

TEST(whether_all_parts_work_needs_no_token_and_metrics_do)
{
	CHECK(web_scene_open(NULL));
	CHECK_INT(web_scene_ask_as("", "GET", "/readyz", NULL), 503);
	CHECK(!json_object_get(web_scene.got, "parts"));
	CHECK(json_is_false(json_object_get(web_scene.got, "ready")));
	/* The log of a health check says which part it is. */
	CHECK_INT(json_array_size(json_object_get(web_scene.got, "down")), 1);
	CHECK_STR(json_string_value(json_array_get(json_object_get(web_scene.got, "down"), 0)),
		  "mediad");
	CHECK_INT(web_scene_ask_as("", "GET", "/healthz", NULL), 200);
	CHECK(!json_object_get(web_scene.got, "parts"));
	/* Whoever asks all the time has nobody look each time. */
	web_scene.ready = true;
	CHECK_INT(web_scene_ask("GET", "/readyz", NULL), 503);
	CHECK_STR(json_string_value(
			  json_object_get(json_object_get(web_scene.got, "parts"), "mediad")),
		  "down");
	web_scene_close();
	CHECK(web_scene_open(NULL));
	web_scene.ready = true;
	CHECK_INT(web_scene_ask_as("", "GET", "/readyz", NULL), 200);
	CHECK_INT(web_scene_ask_as("", "GET", "/metrics", NULL), 401);
	CHECK_INT(web_scene_ask("GET", "/metrics", NULL), 200);
	web_scene_close();
}

/* A journal hides every secret by stars, and somebody may know a lesser one. */
TEST(another_secret_as_long_as_the_token_is_not_the_token)
{
	char dir[32], path[64];
	struct journal *j = NULL;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/journal", dir);
	CHECK_INT(journal_create(&j, path, 1, "{}"), 0);
	CHECK(web_scene_open_with(NULL, j));
	CHECK_INT(env_secret(web_scene.l.env, TOKEN), 0);
	CHECK_INT(env_secret(web_scene.l.env, "no-key-1"), 0);
	CHECK_INT(web_scene_ask("GET", "/api/settings", NULL), 200);
	CHECK_INT(
		web_scene_ask_as("no-key-1no-key-1no-key-1no-key-1", "GET", "/api/settings", NULL),
		401);
	CHECK_INT(web_scene_ask_as("no-key-1", "GET", "/api/settings", NULL), 401);
	CHECK_STR(web_scene_text_of("error"), "unauthorized");
	web_scene_close();
	journal_free(j);
	folder_remove(dir);
}

TEST(a_change_that_cannot_take_effect_says_where_and_why)
{
	const json_t *error;

	CHECK(web_scene_open(NULL));
	CHECK_INT(web_scene_ask("PUT", "/api/settings",
				"{\"intent\": {\"hold_ms\": -1}, \"_meta\": "
				"{\"expectedUpdatedAt\": null}}"),
		  422);
	error = json_array_get(json_object_get(web_scene.got, "errors"), 0);
	CHECK_STR(json_string_value(json_object_get(error, "pointer")), "/intent/hold_ms");
	CHECK_INT(web_scene_ask("POST", "/api/settings/check", "{\"intent\": {\"hold_mss\": 1}}"),
		  422);
	CHECK_INT(web_scene_ask("POST", "/api/settings/check",
				"{\"intent\": {\"" LONG_NAME "\": 1}}"),
		  422);
	CHECK_INT(json_array_size(json_object_get(web_scene.got, "errors")), 1);
	CHECK_INT(web_scene_ask("POST", "/api/settings/check",
				"{\"intent\": {\"providers\": [{\"" LONG_NAME "\": 1}]}}"),
		  422);
	CHECK(json_array_size(json_object_get(web_scene.got, "errors")) >= 2);
	CHECK_INT(web_scene_ask("POST", "/api/settings/check", "{\"intent\": {\"hold_ms\": 1}}"),
		  200);
	CHECK_INT(
		web_scene_ask("PUT", "/api/settings", "{\"_meta\": {\"expectedUpdatedAt\": null}}"),
		422);
	CHECK_INT(web_scene.saves, 0);
	web_scene_close();
}

#define PUT_FIRST "{\"intent\": {\"hold_ms\": 1}, \"_meta\": {\"version\": 0}}"

static void check_nothing_changed(void)
{
	CHECK_STR(web_scene_text_of("error"), "settings_not_saved");
	CHECK_INT(version_of(), 0);
	CHECK_INT(web_scene.settings->hold_ms, 2500);
	CHECK_INT(live_settings_wanted(web_scene.live)->hold_ms, 2500);
	CHECK_INT(web_scene.changes, 0);
}

TEST(a_change_that_cannot_be_saved_says_why_and_changes_nothing)
{
	CHECK(web_scene_open(NULL));
	web_scene.save_err = ENOSPC;
	CHECK_INT(web_scene_ask("PUT", "/api/settings", PUT_FIRST), 503);
	check_nothing_changed();
	CHECK_STR(web_scene_text_of("detail"), "The disk is full.");
	web_scene.begin_err = ENOENT;
	CHECK_INT(web_scene_ask("PUT", "/api/settings", PUT_FIRST), 503);
	check_nothing_changed();
	/* Once it can be saved again it is. */
	web_scene.begin_err = web_scene.save_err = 0;
	CHECK_INT(web_scene_ask("PUT", "/api/settings", PUT_FIRST), 200);
	CHECK_INT(version_of(), 1);
	CHECK_INT(web_scene.settings->hold_ms, 1);
	web_scene_close();
}

TEST(a_change_takes_effect_once_it_is_saved_and_others_conflict_until_then)
{
	CHECK(web_scene_open(NULL));
	web_scene.hold = true;
	CHECK_INT(web_scene_send_as(TOKEN, "PUT", "/api/settings", PUT_FIRST, NULL), 0);
	LOOP_UNTIL(&web_scene.l, web_scene.saves);
	CHECK_INT(web_scene.saves, 1);
	CHECK_INT(web_scene.answers, 0);
	CHECK_INT(web_scene.settings->hold_ms, 2500);
	CHECK_INT(web_scene_ask("GET", "/api/settings", NULL), 200);
	CHECK_INT(version_of(), 0);
	CHECK_INT(web_scene_ask("PUT", "/api/settings", PUT_FIRST), 409);
	CHECK_STR(web_scene_text_of("error"), "settings_conflict");
	CHECK_INT(web_scene.saves, 1);
	tmr_start(web_scene.saved_tmr, NS_PER_MS);
	CHECK(loop_run(&web_scene.l));
	CHECK_INT(web_scene.status, 200);
	CHECK_INT(version_of(), 1);
	CHECK_INT(web_scene.settings->hold_ms, 1);
	CHECK_INT(web_scene.answers, 3);
	web_scene_close();
}

TEST(a_client_that_leaves_does_not_stop_its_change)
{
	struct http_req *req = NULL;

	CHECK(web_scene_open(NULL));
	web_scene.hold = true;
	CHECK_INT(web_scene_send_as(TOKEN, "PUT", "/api/settings", PUT_FIRST, &req), 0);
	LOOP_UNTIL(&web_scene.l, web_scene.saves);
	CHECK_INT(web_scene.saves, 1);
	http_req_cancel(req);
	loop_run_for(&web_scene.l, 30 * NS_PER_MS);
	tmr_start(web_scene.saved_tmr, NS_PER_MS);
	LOOP_UNTIL(&web_scene.l, web_scene.settings->hold_ms == 1);
	CHECK_INT(web_scene.settings->hold_ms, 1);
	CHECK_INT(web_scene.answers, 0);
	web_scene_close();
}

TEST(a_version_that_somebody_else_saved_takes_effect)
{
	CHECK(web_scene_open(NULL));
	web_scene.save_err = ESTALE;
	web_scene.saved =
		strdup("{\"version\": 4, \"updatedAt\": \"2026-11-22T12:00:00.000Z\", \"author\": "
		       "\"alice\", \"intent\": {\"hold_ms\": 9}}");
	CHECK_INT(web_scene_ask("PUT", "/api/settings", PUT_FIRST), 409);
	CHECK_STR(web_scene_text_of("error"), "settings_conflict");
	CHECK_INT(version_of(), 4);
	CHECK_INT(web_scene.settings->hold_ms, 9);
	CHECK_STR(web_scene.told_author, "alice");
	web_scene.save_err = 0;
	CHECK_INT(web_scene_ask("PUT", "/api/settings",
				"{\"intent\": {}, \"_meta\": {\"version\": 4}}"),
		  200);
	CHECK_INT(web_scene.before, 4);
	CHECK_INT(version_of(), 5);
	web_scene_close();
}

TEST(each_key_has_an_outcome_and_a_change_is_undone)
{
	char *text;

	CHECK(web_scene_open(NULL));
	CHECK_INT(
		web_scene_ask("PUT", "/api/settings",
			      "{\"intent\": {\"hold_ms\": 1, \"language\": \"de\", \"reply_path\": "
			      "\"brain\"}, \"_meta\": {\"version\": 0}}"),
		200);
	text = json_dumps(json_object_get(web_scene.got, "outcomes"), JSON_COMPACT);
	CHECK_STR(text, "[{\"key\":\"language\",\"outcome\":\"next_call\"},"
			"{\"key\":\"hold_ms\",\"outcome\":\"applied\"},"
			"{\"key\":\"reply_path\",\"outcome\":\"after_restart\"}]");
	free(text);
	CHECK(json_is_false(json_object_get(web_scene.got, "saveAppliedToRuntime")));
	CHECK_STR(web_scene_text_of("saveApplyError"), "after_restart");
	CHECK_INT(web_scene.settings->reply_path, SETTINGS_REPLY_NATIVE);
	CHECK_INT(live_settings_wanted(web_scene.live)->reply_path, SETTINGS_REPLY_BRAIN);
	CHECK_INT(web_scene_ask("GET", "/api/settings/diff", NULL), 200);
	CHECK_INT(json_array_size(json_object_get(web_scene.got, "changes")), 3);
	CHECK_INT(web_scene_ask("GET", "/api/settings/diff?from=1&to=8", NULL), 404);
	CHECK_INT(web_scene_ask("POST", "/api/settings/undo", "{}"), 409);
	CHECK_INT(web_scene_ask("POST", "/api/settings/undo", "{\"_meta\": {\"version\": 1}}"),
		  200);
	CHECK_INT(web_scene.settings->hold_ms, 2500);
	CHECK_INT(web_scene_ask("POST", "/api/settings/undo", "{\"_meta\": {\"version\": 2}}"),
		  200);
	CHECK_INT(web_scene.settings->hold_ms, 1);
	CHECK_INT(web_scene_ask("POST", "/api/settings/reset", "{}"), 409);
	CHECK_INT(web_scene_ask("POST", "/api/settings/reset", "{\"_meta\": {\"version\": 2}}"),
		  409);
	CHECK_INT(web_scene.settings->hold_ms, 1);
	CHECK_INT(web_scene_ask("POST", "/api/settings/reset", "{\"_meta\": {\"version\": 3}}"),
		  200);
	CHECK_INT(web_scene.settings->hold_ms, 2500);
	CHECK_INT(web_scene_ask("GET", "/api/settings/history", NULL), 200);
	CHECK_INT(json_array_size(json_object_get(web_scene.got, "versions")), 4);
	web_scene_close();
}

TEST(a_kept_document_is_in_effect_from_the_start_and_servers_have_their_own)
{
	json_t *kept = json_loads(
		"{\"versions\": [{\"version\": 3, \"updatedAt\": \"2026-11-22T12:00:00.000Z\","
		" \"author\": \"alice\", \"intent\": {\"hold_ms\": 9, \"guilds\": {\"42\": "
		"{\"hold_ms\": 8}}}}]}",
		0, NULL);
	const struct settings *own, *all;

	CHECK(web_scene_open(kept));
	json_decref(kept);
	CHECK_INT(web_scene.settings->hold_ms, 9);
	own = live_settings_of(web_scene.live, 42);
	all = live_settings_of(web_scene.live, 43);
	CHECK_INT(own->hold_ms, 8);
	CHECK_INT(all->hold_ms, 9);
	/* The file changes underneath: the document takes precedence. */
	CHECK_INT(live_settings_base(web_scene.live, "hold_ms", "500"), 0);
	CHECK_INT(live_settings_base(web_scene.live, "silence_ms", "900"), 0);
	live_settings_apply(web_scene.live);
	CHECK_INT(web_scene.settings->hold_ms, 9);
	CHECK_INT(web_scene.settings->silence_ms, 900);
	CHECK_INT(own->silence_ms, 900);
	CHECK_INT(own->hold_ms, 8);
	CHECK_INT(web_scene_ask("PUT", "/api/settings",
				"{\"intent\": {}, \"_meta\": {\"version\": 3}}"),
		  200);
	CHECK_INT(web_scene.settings->hold_ms, 500);
	CHECK_INT(own->hold_ms, 500);
	live_settings_embedded_at(web_scene.live, "ws://127.0.0.1:7/v1/realtime");
	CHECK_STR(settings_brain_url(own), "ws://127.0.0.1:7/v1/realtime");
	web_scene_close();
}

/* A voice session holds its server's settings for as long as it lives, also when the server gets
 * some of its own later. */
TEST(a_server_that_gets_settings_of_its_own_later_has_them_at_once)
{
	const struct settings *early;

	CHECK(web_scene_open(NULL));
	early = live_settings_of(web_scene.live, 42);
	CHECK_INT(web_scene_ask(
			  "PUT", "/api/settings",
			  "{\"intent\": {\"hold_ms\": 9, \"guilds\": {\"42\": {\"hold_ms\": 8}}},"
			  " \"_meta\": {\"expectedUpdatedAt\": null}}"),
		  200);
	CHECK_INT(web_scene.settings->hold_ms, 9);
	CHECK_INT(early->hold_ms, 8);
	CHECK(live_settings_of(web_scene.live, 42) == early);
	/* And goes back to everybody's. */
	CHECK_INT(web_scene_ask("PUT", "/api/settings",
				"{\"intent\": {\"hold_ms\": 9}, \"_meta\": {\"version\": 1}}"),
		  200);
	CHECK_INT(early->hold_ms, 9);
	/* Places are taken by servers that are in use, and no others. */
	for (uint64_t guild = 100; guild < 100 + LIVE_SETTINGS_GUILDS - 1; guild++)
		CHECK(live_settings_of(web_scene.live, guild) != web_scene.settings);
	CHECK(live_settings_of(web_scene.live, 43) == web_scene.settings);
	live_settings_release(web_scene.live, 42);
	CHECK(live_settings_of(web_scene.live, 43) != web_scene.settings);
	web_scene_close();
}

/* One server alone is served by the embedded engine. */
TEST(a_server_s_own_settings_may_need_the_embedded_engine)
{
	CHECK(web_scene_open(NULL));
	CHECK_INT(live_settings_base(web_scene.live, "openai_api_key", "sk-1"), 0);
	live_settings_apply(web_scene.live);
	CHECK(!live_settings_needs_embedded(web_scene.live));
	CHECK_INT(web_scene_ask("PUT", "/api/settings",
				"{\"intent\": {\"guilds\": {\"42\": {\"roles\": {\"voice\": "
				"[\"embedded\"]}}}}, \"_meta\": {\"expectedUpdatedAt\": null}}"),
		  200);
	live_settings_of(web_scene.live, 43);
	CHECK(!live_settings_needs_embedded(web_scene.live));
	live_settings_of(web_scene.live, 42);
	CHECK(live_settings_needs_embedded(web_scene.live));
	web_scene_close();
}

TEST(the_outcome_of_a_server_s_own_key_is_told)
{
	char *text;

	CHECK(web_scene_open(NULL));
	CHECK_INT(
		web_scene_ask("PUT", "/api/settings",
			      "{\"intent\": {\"hold_ms\": 9, \"guilds\": {\"42\": {\"hold_ms\": 8, "
			      "\"language\": \"de\"}}}, \"_meta\": {\"expectedUpdatedAt\": null}}"),
		200);
	text = json_dumps(json_object_get(web_scene.got, "outcomes"),
			  JSON_COMPACT | JSON_SORT_KEYS);
	CHECK_STR(text, "[{\"key\":\"hold_ms\",\"outcome\":\"applied\"},"
			"{\"key\":\"guilds/42/hold_ms\",\"outcome\":\"applied\"},"
			"{\"key\":\"guilds/42/language\",\"outcome\":\"next_call\"}]");
	free(text);
	/* A server that has them no more goes back to everybody's. */
	CHECK_INT(web_scene_ask("PUT", "/api/settings",
				"{\"intent\": {\"hold_ms\": 9}, \"_meta\": {\"version\": 1}}"),
		  200);
	CHECK_INT(json_array_size(json_object_get(web_scene.got, "outcomes")), 2);
	web_scene_close();
}

TEST(the_settings_of_one_server_are_shown)
{
	CHECK(web_scene_open(NULL));
	CHECK_INT(
		web_scene_ask("PUT", "/api/settings",
			      "{\"intent\": {\"hold_ms\": 100, \"guilds\": {\"41771983423143937\": "
			      "{\"hold_ms\": 7}}}, \"_meta\": {\"version\": 0}}"),
		200);
	CHECK_INT(web_scene_ask("GET", "/api/settings?guild=41771983423143937", NULL), 200);
	CHECK_STR(web_scene_text_of("guild"), "41771983423143937");
	CHECK_INT(json_integer_value(
			  json_object_get(json_object_get(web_scene.got, "effective"), "hold_ms")),
		  7);
	CHECK_INT(version_of(), 1);
	/* One without settings of its own. */
	CHECK_INT(web_scene_ask("GET", "/api/settings?guild=42", NULL), 200);
	CHECK_INT(json_integer_value(
			  json_object_get(json_object_get(web_scene.got, "effective"), "hold_ms")),
		  100);
	CHECK_INT(web_scene_ask("GET", "/api/settings?guild=x", NULL), 400);
	CHECK_STR(web_scene_text_of("error"), "bad_query");
	web_scene_close();
}

TEST(versions_to_compare_are_numbers)
{
	CHECK(web_scene_open(NULL));
	CHECK_INT(web_scene_ask("GET", "/api/settings/diff?from=x", NULL), 400);
	CHECK_INT(web_scene_ask("GET", "/api/settings/diff?from=0&to=1x", NULL), 400);
	CHECK_INT(web_scene_ask("GET", "/api/settings/diff?from=", NULL), 400);
	CHECK_INT(web_scene_ask("GET", "/api/settings/diff?from=-1", NULL), 400);
	CHECK_STR(web_scene_text_of("error"), "bad_query");
	CHECK_INT(web_scene_ask("GET", "/api/settings/diff?from=0&to=7", NULL), 404);
	CHECK_INT(web_scene_ask("GET", "/api/settings/diff", NULL), 200);
	web_scene_close();
}
