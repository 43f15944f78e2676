#include "control/settings/server_settings.h"

#include <string.h>

#include "control/settings/document.h"
#include "control/settings/server_settings.def"
#include "control/settings/settings.h"
#include "control/settings/view.h"
#include "tests/test.h"

#define NOW "2026-11-22T12:00:00.000Z"

static bool put(struct document *d, json_t *intent)
{
	struct document_change change = {.version = document_version(d),
					 .updated_at = document_version(d) ? NULL : "",
					 .author = "discord:5",
					 .now = NOW};
	struct settings *base = NULL;
	bool saved = !settings_alloc(&base) &&
		     document_put(d, base, intent, &change, NULL, NULL) == DOCUMENT_SAVED;

	settings_free(base);
	json_decref(intent);
	return saved;
}

static bool set(struct document *d, uint64_t guild, const char *name, json_t *value)
{
	bool saved = put(d, server_settings_intent(d, guild, name, value));

	json_decref(value);
	return saved;
}

TEST(each_of_them_is_a_setting_that_needs_no_restart)
{
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
#define X(name)                                                                                    \
	do {                                                                                       \
		json_t *row = server_settings_row(#name),                                          \
		       *value = server_settings_value(s, #name);                                   \
                                                                                                   \
		if (!row || !value || settings_when(#name) == SETTINGS_START)                      \
			test_fail(__FILE__, __LINE__, "%s", #name);                                \
		json_decref(row);                                                                  \
		json_decref(value);                                                                \
	} while (0);
	SERVER_SETTINGS(X)
#undef X
	settings_free(s);
}

/* What would let a server's people spend the operator's money, reach elsewhere, lift a restriction
 * of the operator, or decide about what is kept of others. */
TEST(what_is_the_operators_is_none_of_them)
{
	static const char *const never[] = {"discord_token",
					    "openai_api_key",
					    "brain_url",
					    "text_url",
					    "search_url",
					    "web_read",
					    "web_read_allowed",
					    "tools",
					    "tools_off",
					    "tools_owners",
					    "tools_allowed",
					    "cost_day_cents",
					    "cost_at_limit",
					    "cost_guild_cents",
					    "consent",
					    "store_words_hours",
					    "memory_days",
					    "log_words",
					    "keep_contexts",
					    "blocked_users",
					    "web_listen",
					    "instructions",
					    "commands_a_minute",
					    "server_settings",
					    "providers",
					    "roles",
					    "preset",
					    "guilds",
					    "",
					    "e2ee",
					    "music_downloader",
					    "music_folders"};

	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
		if (server_settings_has(never[i]))
			test_fail(__FILE__, __LINE__, "%s", never[i]);
		CHECK(!server_settings_row(never[i]));
	}
}

TEST(a_server_sets_its_own_and_nobody_elses)
{
	struct document *d = NULL;
	struct settings *base = NULL, *s = NULL;

	CHECK_INT(document_alloc(&d) || settings_alloc(&base) || settings_alloc(&s), 0);
	CHECK(set(d, 7, "silence_ms", json_integer(900)));
	CHECK(set(d, 8, "silence_ms", json_integer(800)));
	document_effective(d, base, 7, s, NULL, NULL);
	CHECK_INT(s->silence_ms, 900);
	document_effective(d, base, 8, s, NULL, NULL);
	CHECK_INT(s->silence_ms, 800);
	document_effective(d, base, 9, s, NULL, NULL);
	CHECK_INT(s->silence_ms, base->silence_ms);
	/* As everywhere again: nothing of the server is left. */
	CHECK(set(d, 7, "silence_ms", NULL));
	CHECK(set(d, 8, "silence_ms", NULL));
	CHECK_INT(json_object_size(document_intent(d)), 0);
	document_free(d);
	settings_free(base);
	settings_free(s);
}

TEST(an_undo_reaches_the_changes_of_its_server_alone)
{
	struct document *d = NULL;
	const json_t *guilds;
	json_t *intent;
	unsigned changed;

	CHECK_INT(document_alloc(&d), 0);
	CHECK(set(d, 7, "greet", json_true()));	       /* 1 */
	CHECK(set(d, 8, "greet", json_true()));	       /* 2 */
	CHECK(set(d, 7, "hold_ms", json_integer(50))); /* 3 */
	/* Another server's version is none of it. */
	intent = server_settings_undo(d, 7, 2, &changed);
	CHECK_INT(changed, 0);
	json_decref(intent);
	intent = server_settings_undo(d, 7, 1, &changed);
	CHECK_INT(changed, 1);
	CHECK(put(d, intent));
	guilds = json_object_get(document_intent(d), "guilds");
	CHECK(!json_object_get(json_object_get(guilds, "7"), "greet"));
	CHECK(json_object_get(json_object_get(guilds, "7"), "hold_ms"));
	CHECK(json_object_get(json_object_get(guilds, "8"), "greet"));
	/* It is undone already. */
	intent = server_settings_undo(d, 7, 1, &changed);
	CHECK_INT(changed, 0);
	json_decref(intent);
	CHECK(!server_settings_undo(d, 7, 99, &changed));
	CHECK(!server_settings_undo(d, 7, 0, &changed));
	document_free(d);
}

TEST(an_undo_leaves_what_was_changed_since)
{
	struct document *d = NULL;
	json_t *intent;
	unsigned changed;

	CHECK_INT(document_alloc(&d), 0);
	CHECK(set(d, 7, "hold_ms", json_integer(50)));
	CHECK(set(d, 7, "hold_ms", json_integer(60)));
	intent = server_settings_undo(d, 7, 1, &changed);
	CHECK_INT(changed, 0);
	json_decref(intent);
	intent = server_settings_undo(d, 7, 2, &changed);
	CHECK_INT(changed, 1);
	CHECK(put(d, intent));
	CHECK_INT(json_integer_value(json_object_get(
			  json_object_get(json_object_get(document_intent(d), "guilds"), "7"),
			  "hold_ms")),
		  50);
	document_free(d);
}

TEST(a_reset_can_be_undone)
{
	struct document *d = NULL;
	json_t *intent;
	unsigned changed;

	CHECK_INT(document_alloc(&d), 0);
	CHECK(set(d, 7, "hold_ms", json_integer(50)));
	CHECK(set(d, 7, "hold_ms", NULL));
	intent = server_settings_undo(d, 7, 2, &changed);
	CHECK_INT(changed, 1);
	CHECK(put(d, intent));
	CHECK(json_object_get(document_intent(d), "guilds"));
	document_free(d);
}

static json_t *read(const char *name, const char *text)
{
	json_t *row = server_settings_row(name), *value = server_settings_read(row, text);

	json_decref(row);
	return value;
}

TEST(values_are_read_by_their_kind)
{
	json_t *v = read("greet", "Yes");

	CHECK(json_is_true(v));
	v = read("greet", "off");
	CHECK(json_is_false(v));
	CHECK(!read("greet", "maybe"));
	v = read("silence_ms", "700");
	CHECK_INT(json_integer_value(v), 700);
	json_decref(v);
	CHECK(!read("silence_ms", "-1"));
	CHECK(!read("silence_ms", "1e3"));
	CHECK(!read("silence_ms", "9999999999"));
	CHECK(!read("silence_ms", ""));
	v = read("volition", "quiet");
	CHECK_STR(json_string_value(v), "quiet");
	json_decref(v);
	v = read("bot_name", "");
	CHECK_STR(json_string_value(v), "");
	json_decref(v);
}

TEST(values_are_suggested_by_their_kind)
{
	json_t *row = server_settings_row("volition"), *list = server_settings_values(row, "");

	CHECK_INT(json_array_size(list), 4);
	json_decref(list);
	list = server_settings_values(row, "q");
	CHECK_INT(json_array_size(list), 1);
	CHECK_STR(json_string_value(json_array_get(list, 0)), "quiet");
	json_decref(list);
	json_decref(row);
	row = server_settings_row("greet");
	list = server_settings_values(row, "o");
	CHECK_INT(json_array_size(list), 2);
	json_decref(list);
	json_decref(row);
	row = server_settings_row("silence_ms");
	list = server_settings_values(row, "");
	CHECK_INT(json_array_size(list), 0);
	json_decref(list);
	json_decref(row);
}

TEST(a_search_finds_names_first_and_only_those_of_servers)
{
	json_t *list = server_settings_search("music", 25), *row;
	size_t i;

	CHECK(json_array_size(list) > 3);
	CHECK(strncmp(json_string_value(json_object_get(json_array_get(list, 0), "name")), "music",
		      5) == 0);
	json_array_foreach(list, i, row)
	{
		CHECK(server_settings_has(json_string_value(json_object_get(row, "name"))));
	}
	json_decref(list);
	list = server_settings_search("token key cents", 25);
	CHECK_INT(json_array_size(list), 0);
	json_decref(list);
	list = server_settings_search("", 5);
	CHECK_INT(json_array_size(list), 5);
	json_decref(list);
}

TEST_OOM(settings_of_servers_survive_a_lack_of_memory)
{
	struct document *d = NULL;
	json_t *list, *intent;
	unsigned changed;

	if (document_alloc(&d))
		return;
	intent = server_settings_intent(d, 7, "hold_ms", NULL);
	json_decref(intent);
	intent = server_settings_undo(d, 7, 1, &changed);
	json_decref(intent);
	list = server_settings_search("music", 3);
	json_decref(list);
	document_free(d);
}
