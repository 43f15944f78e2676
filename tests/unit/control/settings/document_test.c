#include "control/settings/document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/view.h"
#include "tests/test.h"

#define NOW   "2026-11-22T12:00:00.000Z"
#define LATER "2026-11-22T12:00:01.000Z"

struct world {
	struct document *d;
	struct settings *base, *out;
	char told[512];
	unsigned faults;
};

static void on_fault(const char *member, const char *text, void *arg)
{
	struct world *w = arg;

	w->faults++;
	snprintf(w->told, sizeof w->told, "%s: %s", member, text);
}

static bool world_open(struct world *w)
{
	*w = (struct world){0};
	return document_alloc(&w->d) == 0 && settings_alloc(&w->base) == 0 &&
	       settings_alloc(&w->out) == 0;
}

static void world_close(struct world *w)
{
	document_free(w->d);
	settings_free(w->base);
	settings_free(w->out);
}

static enum document_result put(struct world *w, uint64_t version, const char *at, const char *text)
{
	json_t *intent = json_loads(text, 0, NULL);
	struct document_change change = {.version = version,
					 .updated_at = at,
					 .author = "alice",
					 .now = version ? LATER : NOW};
	enum document_result r = document_put(w->d, w->base, intent, &change, on_fault, w);

	json_decref(intent);
	return r;
}

static unsigned effective(struct world *w, uint64_t guild)
{
	return document_effective(w->d, w->base, guild, w->out, on_fault, w);
}

TEST(rule_113_a_change_names_the_version_that_it_changes)
{
	struct world w;

	CHECK(world_open(&w));
	CHECK_INT(put(&w, 0, NULL, "{\"hold_ms\": 100}"), DOCUMENT_VERSION_REQUIRED);
	CHECK_STR(document_result_name(DOCUMENT_VERSION_REQUIRED), "settings_version_required");
	CHECK_INT(document_result_status(DOCUMENT_VERSION_REQUIRED), 409);
	CHECK_INT(document_version(w.d), 0);
	CHECK_INT(put(&w, 0, "", "{\"hold_ms\": 100}"), DOCUMENT_SAVED);
	CHECK_INT(document_version(w.d), 1);
	CHECK_STR(document_updated_at(w.d), NOW);
	/* By the time alone, by the version alone, and by both, which must agree. */
	CHECK_INT(put(&w, 0, "2026-11-22T11:00:00.000Z", "{}"), DOCUMENT_CONFLICT);
	CHECK_INT(put(&w, 7, NULL, "{}"), DOCUMENT_CONFLICT);
	CHECK_INT(put(&w, 1, "", "{}"), DOCUMENT_CONFLICT);
	CHECK_INT(document_result_status(DOCUMENT_CONFLICT), 409);
	CHECK_INT(put(&w, 1, NOW, "{\"hold_ms\": 200}"), DOCUMENT_SAVED);
	CHECK_INT(effective(&w, 0), 0);
	CHECK_INT(w.out->hold_ms, 200);
	world_close(&w);
}

TEST(precedence_is_base_preset_intent_guild)
{
	struct world w;

	CHECK(world_open(&w));
	settings_set(w.base, "hold_ms", "50");
	settings_set(w.base, "silence_ms", "800");
	CHECK_INT(put(&w, 0, "",
		      "{\"hold_ms\": 100, \"greet\": false, \"preset\": \"chatty\","
		      " \"guilds\": {\"42\": {\"hold_ms\": 300, \"preset\": \"quiet\"}}}"),
		  DOCUMENT_SAVED);
	CHECK_INT(effective(&w, 0), 0);
	CHECK_INT(w.out->silence_ms, 800);
	CHECK_INT(w.out->hold_ms, 100);
	CHECK_INT(w.out->volition, SETTINGS_VOLITION_CHATTY);
	CHECK(!w.out->greet && !w.out->command_only);
	CHECK_INT(effective(&w, 42), 0);
	CHECK_INT(w.out->hold_ms, 300);
	CHECK_INT(w.out->volition, SETTINGS_VOLITION_OFF);
	CHECK(w.out->command_only);
	CHECK_INT(effective(&w, 43), 0);
	CHECK_INT(w.out->hold_ms, 100);
	world_close(&w);
}

/* The settings file lost a provider that a stored document names. */
TEST(a_list_that_names_nobody_any_more_is_left_out)
{
	static const char both[] = "[{\"name\": \"a\", \"url\": \"http://a/v1\"},"
				   " {\"name\": \"b\", \"url\": \"http://b/v1\"}]";
	static const char one[] = "[{\"name\": \"a\", \"url\": \"http://a/v1\"}]";
	struct world w;

	CHECK(world_open(&w));
	CHECK_INT(settings_set(w.base, "providers", both), 0);
	CHECK_INT(settings_set(w.base, "roles", "{\"text\": [\"a\"]}"), 0);
	CHECK_INT(put(&w, 0, "",
		      "{\"roles\": {\"text\": [\"b\"], \"speech\": [\"a\"]},"
		      " \"guilds\": {\"42\": {\"purposes\": {\"memory\": [\"b\"]}}}}"),
		  DOCUMENT_SAVED);
	CHECK_INT(effective(&w, 0), 0);
	CHECK_STR(settings_role(w.out, ROLE_TEXT, 0)->name, "b");
	CHECK_INT(settings_set(w.base, "providers", one), 0);
	CHECK_INT(effective(&w, 42), 2);
	CHECK(strstr(w.told, "there is no provider of that name"));
	CHECK(settings_role(w.out, ROLE_TEXT, 0));
	CHECK_STR(settings_role(w.out, ROLE_TEXT, 0)->name, "a");
	CHECK_STR(settings_purpose(w.out, PURPOSE_MEMORY, 0)->name, "a");
	/* What can be used is. */
	CHECK_STR(settings_role(w.out, ROLE_SPEECH, 0)->name, "a");
	world_close(&w);
}

/* Two changes in the same millisecond are two changes. */
TEST(rule_113_no_two_versions_have_the_same_time)
{
	struct world w;
	char first[DOCUMENT_TIME_MAX];

	CHECK(world_open(&w));
	CHECK_INT(put(&w, 0, "", "{\"hold_ms\": 1}"), DOCUMENT_SAVED);
	snprintf(first, sizeof first, "%s", document_updated_at(w.d));
	CHECK_STR(first, NOW);
	for (unsigned i = 0; i < 3; i++) {
		char last[DOCUMENT_TIME_MAX];

		snprintf(last, sizeof last, "%s", document_updated_at(w.d));
		CHECK_INT(put(&w, 0, last, "{\"hold_ms\": 2}"), DOCUMENT_SAVED);
		CHECK_INT(put(&w, 0, last, "{\"hold_ms\": 3}"), DOCUMENT_CONFLICT);
		CHECK_INT(put(&w, 0, first, "{\"hold_ms\": 3}"), DOCUMENT_CONFLICT);
	}
	world_close(&w);
}

TEST(intents_that_cannot_take_effect_say_why)
{
	static const struct {
		const char *intent, *told;
	} rows[] = {
		{"[]", ": must be an object"},
		{"{\"hold_ms\": 999999}", "hold_ms: \"hold_ms\" must be a whole number from 0"},
		{"{\"hold_mss\": 1}", "did you mean \"hold_ms\""},
		{"{\"openai_api_key\": \"sk-1\"}", "is a secret"},
		{"{\"openai_api_key_file\": \"/etc/shadow\"}", "settings file alone"},
		{"{\"turns_file\": \"/etc/passwd\"}", "settings file alone"},
		{"{\"brain_url\": \"ws://evil/\"}", "settings file alone"},
		{"{\"search_url\": \"https://evil/\"}", "settings file alone"},
		{"{\"web_read_allowed\": \"10.0.0.1\"}", "settings file alone"},
		{"{\"music_downloader\": \"/bin/sh\"}", "settings file alone"},
		{"{\"music_folders\": \"/home\"}", "settings file alone"},
		{"{\"sound_folder\": \"/home\"}", "settings file alone"},
		{"{\"memory_embedder\": \"/home/x\"}", "settings file alone"},
		{"{\"providers\": [{\"name\": \"a\", \"url\": \"http://a/?v=1&API_Key=whisper\"}]}",
		 "providers: an address may have a key in its query only"},
		{"{\"mcp_servers\": [{\"name\": \"a\", \"transport\": \"http\", \"url\": "
		 "\"http://a/?token=whisper\"}]}",
		 "mcp_servers: an address may have a key in its query only"},
		{"{\"providers\": [{\"name\": \"a\", \"url\": \"http://evil/\", \"key_file\": "
		 "\"/k\"}]}",
		 "providers: \"key_file\" may only be one"},
		{"{\"mcp_servers\": [{\"name\": \"a\", \"command\": [\"sh\"]}]}",
		 "may only be those"},
		{"{\"mcp_servers\": [{\"name\": \"a\", \"transport\": \"http\", \"url\": "
		 "\"http://evil/\", \"issuer\": \"http://evil/\", \"client_id\": \"c\", "
		 "\"refresh_token_file\": \"/k\"}]}",
		 "may only be those"},
		{"{\"workers\": [{\"name\": \"a\", \"command\": [\"sh\"]}]}",
		 "workers: a worker may only be one of the settings file"},
		{"{\"profiles\": [{\"name\": \"a\", \"token_file\": \"/k\"}]}", "token_file"},
		{"{\"roles\": {\"text\": [\"nobody\"]}}", "no provider of that name"},
		{"{\"preset\": \"loud\"}", "must be one of: quiet balanced chatty local"},
		{"{\"blocked_users\": \"501, alice\"}",
		 "blocked_users: \"blocked_users\" must be ids of Discord"},
		{"{\"guilds\": {\"42\": {\"text_channels\": \"general\"}}}",
		 "guilds/42/text_channels: \"text_channels\" must be ids of Discord"},
		{"{\"guilds\": []}", "by server id"},
		{"{\"guilds\": {\"x\": {}}}", "no server id"},
		/* It would be nobody's: ids are looked up as Discord writes them. */
		{"{\"guilds\": {\"042\": {\"hold_ms\": 1}}}", "no server id"},
		{"{\"guilds\": {\"42\": 1}}", "guilds/42/: must be an object"},
		{"{\"guilds\": {\"42\": {\"hold_ms\": -1}}}", "guilds/42/hold_ms: "},
		{"{\"guilds\": {\"42\": {\"reply_path\": \"brain\"}}}", "cannot differ"},
		{"{\"guilds\": {\"42\": {\"providers\": []}}}", "cannot differ"},
		/* One database and one log hold the words of all servers. */
		{"{\"guilds\": {\"42\": {\"store_words_hours\": 0}}}", "cannot differ"},
		{"{\"guilds\": {\"42\": {\"memory_days\": 1}}}", "cannot differ"},
		{"{\"guilds\": {\"42\": {\"memory_extract\": false}}}", "cannot differ"},
		{"{\"guilds\": {\"42\": {\"memory_extract_hour\": 4}}}", "cannot differ"},
		{"{\"guilds\": {\"42\": {\"memory_extract_cents\": 1}}}", "cannot differ"},
		{"{\"guilds\": {\"42\": {\"log_words\": false}}}", "cannot differ"},
		{"{\"guilds\": {\"42\": {\"turns_words\": false}}}", "cannot differ"},
		/* Read once for all. */
		{"{\"guilds\": {\"42\": {\"cost_day_cents\": 100}}}", "cannot differ"},
		{"{\"guilds\": {\"42\": {\"log_level\": \"debug\"}}}", "cannot differ"},
		{"{\"guilds\": {\"42\": {\"web_session_hours\": 3}}}", "cannot differ"},
		{"{\"guilds\": {\"42\": {\"otlp_seconds\": 3}}}", "cannot differ"},
	};
	struct world w;

	CHECK(world_open(&w));
	settings_set(w.base, "providers",
		     "[{\"name\":\"own\",\"url\":\"http://own/v1\",\"key_file\":\"/k\"}]");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		w.faults = 0;
		CHECK_INT(put(&w, 0, "", rows[i].intent), DOCUMENT_INVALID);
		CHECK_INT(w.faults, 1);
		if (!strstr(w.told, rows[i].told))
			CHECK_STR(w.told, rows[i].told);
		CHECK_INT(document_version(w.d), 0);
	}
	/* No secret, and one that the settings file has. */
	settings_set(
		w.base, "mcp_servers",
		"[{\"name\": \"m\", \"transport\": \"http\", \"url\": \"http://m/?token=w\"}]");
	CHECK_INT(put(&w, 0, "",
		      "{\"providers\": [{\"name\": \"b\", \"url\": \"http://b/?version=7\"}],"
		      " \"mcp_servers\": [{\"name\": \"n\", \"transport\": \"http\", \"url\": "
		      "\"http://m/?token=w\"}]}"),
		  DOCUMENT_SAVED);
	CHECK_INT(effective(&w, 0), 0);
	/* Whoever was erased is not named any more. */
	document_forget_author(w.d, "bob");
	CHECK_STR(document_author(w.d), "alice");
	document_forget_author(w.d, "alice");
	CHECK_STR(document_author(w.d), "erased");
	world_close(&w);
	CHECK(world_open(&w));
	settings_set(w.base, "providers",
		     "[{\"name\":\"own\",\"url\":\"http://own/v1\",\"key_file\":\"/k\"}]");
	/* The same key to the same address. */
	CHECK_INT(
		put(&w, 0, "",
		    "{\"providers\": [{\"name\": \"b\", \"url\": \"http://own/v1\", \"key_file\": "
		    "\"/k\", \"model\": \"m\"}], \"roles\": {\"text\": [\"b\"]}}"),
		DOCUMENT_SAVED);
	CHECK_INT(effective(&w, 0), 0);
	CHECK_STR(settings_role(w.out, ROLE_TEXT, 0)->model, "m");
	world_close(&w);
}

/* "url" is empty in both, and that is another address for each dialect. */
TEST(a_key_of_one_service_goes_to_no_other)
{
	static const char own[] = "[{\"name\": \"a\", \"dialect\": \"anthropic\", \"key_file\": "
				  "\"/k\"}]";
	static const char other[] = "[{\"name\": \"a\", \"dialect\": \"xai\", \"key_file\": "
				    "\"/k\"}]";
	struct world w;
	char intent[128];

	CHECK(world_open(&w));
	CHECK_INT(settings_set(w.base, "providers", own), 0);
	CHECK_INT(settings_set(w.base, SETTINGS_KEY_OF "a", "secret"), 0);
	snprintf(intent, sizeof intent, "{\"providers\": %s}", other);
	CHECK_INT(put(&w, 0, "", intent), DOCUMENT_INVALID);
	CHECK(strstr(w.told, "\"key_file\" may only be one"));
	/* As from a settings file that was changed. */
	*w.out = *w.base;
	CHECK_INT(settings_set(w.base, "providers", other), 0);
	CHECK_STR(settings_provider_named(w.base, "a")->url, "https://api.x.ai/v1");
	CHECK_STR(settings_provider_named(w.base, "a")->key, "");
	CHECK_STR(settings_provider_named(w.out, "a")->key, "secret");
	world_close(&w);
}

/* An intent with an object of so many members that nobody knows: its own, those of the roles, of a
 * provider or of a server. */
static json_t *flood(const char *where, int n)
{
	json_t *many = json_object(), *intent = many;
	char name[24];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "%d", i);
		json_object_set_new(many, name, json_true());
	}
	if (strcmp(where, "providers") == 0)
		intent = json_pack("{s:[o]}", where, many);
	else if (strcmp(where, "guilds") == 0)
		intent = json_pack("{s:{s:o}}", where, "42", many);
	else if (*where)
		intent = json_pack("{s:o}", where, many);
	return intent;
}

/* Each fault that is told costs time, and one request may hold thousands. */
TEST(an_intent_of_thousands_of_unknown_members_has_one_fault)
{
	static const char *const where[] = {"", "roles", "purposes", "providers", "guilds"};
	struct world w;

	CHECK(world_open(&w));
	for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
		json_t *intent = flood(where[i], 5000);

		w.faults = 0;
		CHECK_INT(document_try(w.d, w.base, intent, on_fault, &w), DOCUMENT_INVALID);
		CHECK_INT(w.faults, 1);
		CHECK(strstr(w.told, "more members than") || strstr(w.told, "at most"));
		json_decref(intent);
	}
	world_close(&w);
}

static size_t allocations;

static void *count_allocation(size_t n)
{
	allocations++;
	return malloc(n);
}

/* How often jansson allocates while an intent with so many servers is checked. */
static size_t cost_of(struct world *w, unsigned guilds)
{
	json_t *intent = json_object(), *list = json_array(), *own = json_object();
	json_malloc_t allocate;
	json_free_t release;
	char id[24], model[24];

	for (unsigned i = 0; i < 64; i++) {
		snprintf(model, sizeof model, "model-%u", i);
		json_array_append_new(list, json_pack("{s:s,s:i}", "model", model, "usd", 1));
	}
	for (unsigned i = 0; i < guilds; i++) {
		snprintf(id, sizeof id, "%u", 1000 + i);
		json_object_set_new(own, id, json_pack("{s:i}", "hold_ms", (int)i));
	}
	json_object_set_new(intent, "prices", list);
	json_object_set_new(intent, "guilds", own);
	allocations = 0;
	json_get_alloc_funcs(&allocate, &release);
	json_set_alloc_funcs(count_allocation, release);
	if (document_try(w->d, w->base, intent, on_fault, w) != DOCUMENT_SAVED)
		allocations = 0;
	json_set_alloc_funcs(allocate, release);
	json_decref(intent);
	return allocations;
}

/* Otherwise one small request stops the loop for half a second. */
TEST(a_server_costs_a_change_no_more_than_its_own_settings)
{
	struct world w;
	size_t one, many;

	CHECK(world_open(&w));
	one = cost_of(&w, 1);
	many = cost_of(&w, 101);
	CHECK(one && many);
	CHECK((many - one) / 100 < 100);
	world_close(&w);
}

static char *dumped(json_t *j)
{
	char *text = j ? json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

	json_decref(j);
	return text;
}

TEST(changes_can_be_listed_compared_and_undone)
{
	struct document_change undo = {.version = 2, .author = "bob", .now = LATER};
	struct world w;
	char *text;

	CHECK(world_open(&w));
	CHECK_INT(put(&w, 0, "", "{\"hold_ms\": 100, \"guilds\": {\"42\": {\"hold_ms\": 1}}}"),
		  DOCUMENT_SAVED);
	CHECK_INT(put(&w, 1, NULL, "{\"hold_ms\": 200, \"greet\": true, \"guilds\": {\"42\": {}}}"),
		  DOCUMENT_SAVED);
	text = dumped(document_diff(w.d, 0, 0));
	CHECK_STR(text, "[{\"after\":200,\"before\":100,\"key\":\"hold_ms\"},"
			"{\"after\":true,\"before\":null,\"key\":\"greet\"},"
			"{\"after\":null,\"before\":1,\"key\":\"guilds/42/hold_ms\"}]");
	free(text);
	CHECK(!document_diff(w.d, 1, 9));
	CHECK_INT(document_undo(w.d, w.base, &(struct document_change){.author = "", .now = ""}),
		  DOCUMENT_VERSION_REQUIRED);
	CHECK_INT(document_undo(w.d, w.base, &undo), DOCUMENT_SAVED);
	CHECK_INT(document_version(w.d), 3);
	effective(&w, 42);
	CHECK_INT(w.out->hold_ms, 1);
	text = dumped(document_history(w.d));
	CHECK_STR(text, "[{\"author\":\"bob\",\"updatedAt\":\"2026-11-22T12:00:01.000000001Z\","
			"\"version\":3},"
			"{\"author\":\"alice\",\"updatedAt\":\"" LATER "\",\"version\":2},"
			"{\"author\":\"alice\",\"updatedAt\":\"" NOW "\",\"version\":1}]");
	free(text);
	world_close(&w);
}

TEST(there_is_nothing_to_undo_at_first)
{
	struct document_change undo = {.updated_at = "", .author = "bob", .now = LATER};
	struct world w;

	CHECK(world_open(&w));
	CHECK_INT(document_undo(w.d, w.base, &undo), DOCUMENT_NOTHING_TO_UNDO);
	world_close(&w);
}

TEST(a_document_survives_as_text_and_its_history_is_bounded)
{
	struct document *again = NULL;
	struct world w;
	char intent[64], *text, *same;
	json_t *history;

	CHECK(world_open(&w));
	for (unsigned i = 0; i < 50; i++) {
		snprintf(intent, sizeof intent, "{\"hold_ms\": %u}", i);
		CHECK_INT(put(&w, i, i ? NULL : "", intent), DOCUMENT_SAVED);
	}
	history = document_history(w.d);
	CHECK_INT(json_array_size(history), DOCUMENT_HISTORY_MAX + 1);
	json_decref(history);
	text = document_text(w.d);
	CHECK_INT(document_alloc(&again), 0);
	CHECK_INT(document_parse(again, text, strlen(text)), 0);
	same = document_text(again);
	CHECK_STR(same, text);
	CHECK_INT(document_version(again), 50);
	CHECK_INT(document_parse(again, text, strlen(text) / 2), EBADMSG);
	CHECK_INT(document_parse(again, "{\"versions\": []}", 16), EBADMSG);
	CHECK_INT(document_parse(again, text, DOCUMENT_MAX + 1), EMSGSIZE);
	CHECK_INT(document_version(again), 50);
	free(text);
	free(same);
	document_free(again);
	world_close(&w);
}

TEST(views_for_others_than_admins_hold_no_texts)
{
	struct settings *s = NULL;
	char *text;

	CHECK_INT(settings_alloc(&s), 0);
	settings_set(s, "blocked_users", "77");
	settings_set(s, "instructions", "be kind");
	settings_set(
		s, "mcp_servers",
		"[{\"name\":\"gh\",\"command\":[\"/usr/bin/true\",\"sk-ARG\"],"
		"\"environment\":{\"TOKEN\":\"ghp\"},\"folder\":\"/srv\",\"network\":\"on\"}]");
	settings_set(s, "profiles", "[{\"name\":\"p\",\"guild\":\"55\",\"channel\":\"56\"}]");
	text = dumped(settings_public_json(s));
	CHECK(strstr(text, "\"hold_ms\":2500") && strstr(text, "\"text_chat\":\"off\""));
	CHECK(strstr(text, "\"blocked_users\":{\"set\":true}"));
	CHECK(strstr(text, "\"instructions\":{\"set\":true}"));
	CHECK(strstr(text, "\"brain_url\":{\"set\":false}"));
	CHECK(strstr(text, "\"mcp_servers\":[{\"name\":\"gh\",\"network\":\"on\"}]"));
	CHECK(strstr(text, "\"profiles\":[{\"name\":\"p\"}]"));
	free(text);
	settings_free(s);
}

TEST(views_hold_no_secret)
{
	struct settings *s = NULL;
	char *text;

	CHECK_INT(settings_alloc(&s), 0);
	settings_set(s, "openai_api_key", "sk-secret");
	text = dumped(settings_values_json(s));
	CHECK(strstr(text, "\"openai_api_key\":{\"set\":true}") &&
	      strstr(text, "\"hold_ms\":2500"));
	CHECK(strstr(text, "\"discord_token\":{\"set\":false}") && !strstr(text, "sk-secret"));
	free(text);
	/* Nor one in an address. */
	settings_set(s, "brain_url", "wss://me:pass-word@a/v1/realtime?key=in-query");
	settings_set(s, "providers",
		     "[{\"name\":\"b\",\"url\":\"https://b/v1?key=in-query\",\"model\":\"m\"}]");
	text = dumped(settings_values_json(s));
	CHECK(!strstr(text, "in-query") && !strstr(text, "pass-word"));
	CHECK(strstr(text, "\"brain_url\":\"wss://a/v1/realtime\""));
	CHECK(strstr(text, "[{\"model\":\"m\",\"name\":\"b\",\"url\":\"https://b/v1\"}]"));
	free(text);
	settings_set(s, "brain_url", "");
	settings_set(s, "providers", "[]");
	text = dumped(settings_bindings_json(s));
	CHECK(strstr(text, "\"voice\":[{\"dialect\":\"openai\",\"model\":\"gpt-realtime\","
			   "\"provider\":\"openai\",\"url\":\"https://api.openai.com/v1\"}]"));
	CHECK(strstr(text, "\"memory\":[{") && !strstr(text, "sk-secret"));
	free(text);
	/* The embedded engine has no model to choose, and is not listed where it cannot serve. */
	CHECK_INT(settings_set(s, "openai_api_key", ""), 0);
	text = dumped(settings_bindings_json(s));
	CHECK(strstr(text, "\"embed\":[]") && strstr(text, "\"classify\":[]"));
	CHECK(strstr(text, "\"voice\":[{\"dialect\":\"embedded\",\"model\":null,"));
	free(text);
	text = dumped(settings_schema_json());
	CHECK(strstr(text, "\"name\":\"hold_ms\"") && strstr(text, "\"name\":\"chatty\""));
	free(text);
	settings_free(s);
}

TEST(the_outcome_of_each_key_is_told)
{
	struct settings *was = NULL, *is = NULL;
	char *text;

	CHECK_INT(settings_alloc(&was), 0);
	CHECK_INT(settings_alloc(&is), 0);
	settings_set(is, "hold_ms", "1");
	settings_set(is, "language", "de");
	settings_set(is, "reply_path", "brain");
	text = dumped(settings_outcomes_json(was, is, SETTINGS_TEXT_ALL));
	CHECK_STR(text, "[{\"key\":\"language\",\"outcome\":\"next_call\"},"
			"{\"key\":\"hold_ms\",\"outcome\":\"applied\"},"
			"{\"key\":\"reply_path\",\"outcome\":\"after_restart\"}]");
	free(text);
	settings_free(was);
	settings_free(is);
}

TEST_OOM(documents_survive_no_memory)
{
	struct document *d = NULL;

	CHECK_OOM(document_alloc(&d), d = document_free(d));
	document_free(d);
}
