#include "control/settings/inside.h"
#include "tests/test.h"

#include "control/settings/settings.h"

struct table {
	const char *const (*rows)[2];
	char complaints[512];
};

static const char *lookup(const char *env, void *arg)
{
	const struct table *t = arg;

	for (unsigned i = 0; t->rows[i][0]; i++)
		if (strcmp(t->rows[i][0], env) == 0)
			return t->rows[i][1];
	return NULL;
}

static void complain(const char *env, const char *given, const char *used, int err, void *arg)
{
	struct table *t = arg;
	size_t n = strlen(t->complaints);

	snprintf(t->complaints + n, sizeof t->complaints - n, "%s:%s%s%s ", env, given,
		 err == ERANGE ? "~" : ">", used);
}

TEST(settings_begin_as_the_table_says)
{
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(s->barge_in_ms, 700);
	CHECK_INT(s->not_understood_s, 600);
	CHECK_STR(s->language, "");
	CHECK(!s->log_words);
	settings_free(s);
}

TEST(settings_are_loaded_and_clamped_once)
{
	static const char *const rows[][2] = {{"PARLEY_BARGE_IN_MS", "5"},
					      {"PARLEY_HOLD_MS", "99999999999999999999"},
					      {"PARLEY_SILENCE_MS", "900"},
					      {"PARLEY_STALL_MS", "-1"},
					      {"PARLEY_GUEST", "perhaps"},
					      {"PARLEY_LOG_WORDS", "yes"},
					      {"PARLEY_LANGUAGE", ""},
					      {"PARLEY_ALIASES", "charlie"},
					      {NULL, NULL}};
	struct table t = {.rows = rows};
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	settings_load(s, lookup, complain, &t);
	CHECK_INT(s->barge_in_ms, 100);
	CHECK_INT(s->hold_ms, 20000);
	CHECK_INT(s->silence_ms, 900);
	CHECK_INT(s->stall_ms, 20000);
	CHECK_INT(s->guest, SETTINGS_GUEST_AUTO);
	CHECK(s->log_words);
	CHECK_STR(s->language, "");
	CHECK_STR(s->aliases, "charlie");
	CHECK_STR(t.complaints, "PARLEY_GUEST:perhaps>auto "
				"PARLEY_HOLD_MS:99999999999999999999~20000 "
				"PARLEY_STALL_MS:-1>20000 PARLEY_BARGE_IN_MS:5~100 ");
	settings_free(s);
}

TEST(who_serves_follows_from_the_key)
{
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK(settings_guest(s));
	CHECK(!settings_brain_url(s));
	CHECK_INT(settings_set(s, "OPENAI_API_KEY", "sk-secret"), 0);
	CHECK(!settings_guest(s));
	CHECK_STR(settings_brain_url(s), "wss://api.openai.com/v1/realtime");
	CHECK_INT(settings_set(s, "brain_url", "ws://127.0.0.1:1/x"), 0);
	CHECK_STR(settings_brain_url(s), "ws://127.0.0.1:1/x");
	CHECK_INT(settings_set(s, "guest", "on"), 0);
	CHECK(settings_guest(s));
	CHECK_INT(settings_set(s, "no_such", "1"), ENOENT);
	CHECK_INT(settings_set(s, "barge_in_ms", "1x"), EINVAL);
	settings_free(s);
}

TEST(a_secret_is_never_told)
{
	char key[300], *doc = NULL;
	const char *const rows[][2] = {{"OPENAI_API_KEY", key}, {NULL, NULL}};
	struct table t = {.rows = rows};
	struct settings *s = NULL;

	memset(key, 'k', sizeof key - 1);
	key[sizeof key - 1] = '\0';
	CHECK_INT(settings_alloc(&s), 0);
	settings_load(s, lookup, complain, &t);
	CHECK_STR(t.complaints, "OPENAI_API_KEY:(secret)>(secret) ");
	settings_free(s);
	CHECK_INT(settings_doc(&doc), 0);
	CHECK(strstr(doc, "### `openai_api_key_file`"));
	CHECK(strstr(doc, "Default: `700` ms, from 100 to 10000. Variable `PARLEY_BARGE_IN_MS`."));
	free(doc);
}

/* A text that can be read alone: one sentence or two, no half of one. */
TEST(every_setting_is_a_whole_sentence)
{
	unsigned basic = 0;

	for (size_t i = 0; i < settings_n_rows; i++) {
		const struct settings_row *r = &settings_rows[i];
		size_t n = strlen(r->text);

		basic += r->level == SETTINGS_LEVEL_BASIC;
		if (n < 10 || r->text[n - 1] != '.' || r->text[0] < 'A' || r->text[0] > 'Z' ||
		    strstr(r->text, "... ") || strstr(r->text, " 0: ") ||
		    strstr(r->text, "Empty: "))
			CHECK_STR(r->text, r->name);
	}
	CHECK(basic >= 15 && basic <= 26);
}

TEST_OOM(settings_survive_no_memory)
{
	struct settings *s = NULL;
	char *doc = NULL;

	CHECK_OOM(settings_alloc(&s), s = settings_free(s));
	settings_free(s);
	CHECK_OOM(settings_doc(&doc), (void)0);
	free(doc);
}

TEST(the_values_of_a_setting_are_told_in_words)
{
	char values[SETTINGS_VALUES_TEXT];

	settings_say_values("PARLEY_TEXT_CHAT", values, sizeof values);
	CHECK_STR(values, "off, mentions or all");
	settings_say_values("commands_a_minute", values, sizeof values);
	CHECK_STR(values, "a whole number from 0 to 60 commands");
	settings_say_values("text_chat_is_not_it", values, sizeof values);
	CHECK_STR(values, "");
	settings_say_values("text_unsolicited", values, sizeof values);
	CHECK_STR(values, "yes or no");
	settings_say_values("text_instructions", values, sizeof values);
	CHECK_STR(values, "a text of at most 4095 bytes in UTF-8");
	CHECK(settings_has("text_chat") && !settings_has("PARLEY_TEXT_CHAT") && !settings_has("x"));
}

TEST(the_brain_is_shown_without_what_may_be_secret)
{
	static const char *const rows[][2] = {
		{"ws://127.0.0.1:1/v1", "ws://127.0.0.1:1/v1"},
		{"wss://joe:pw@host/v1?key=abc", "wss://host/v1"},
		{"wss://joe:p@w@host?key=a@b", "wss://host"},
		{"wss://host/a@b#c", "wss://host/a@b"},
		{"nonsense", "nonsense"},
	};
	struct settings *s = NULL;
	char shown[64];

	CHECK_INT(settings_alloc(&s), 0);
	settings_brain_shown(s, shown, sizeof shown);
	CHECK_STR(shown, "none");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CHECK_INT(settings_set(s, "brain_url", rows[i][0]), 0);
		settings_brain_shown(s, shown, sizeof shown);
		CHECK_STR(shown, rows[i][1]);
	}
	settings_free(s);
}

static void gather(const char *value, void *arg)
{
	char *all = arg;
	size_t n = strlen(all);

	snprintf(all + n, 200 - n, "%s;", value);
}

TEST(settings_know_where_secrets_may_stand)
{
	static const char *const urls[][2] = {
		{"ws://127.0.0.1:9/x", ""},
		{"ws://a:b@host/x@y", "a:b;"},
		{"ws://host/x?key=1#part", "key=1;"},
		{"ws://u@v@host?", "u@v;"},
	};
	struct settings *s = NULL;
	char all[200];

	CHECK_INT(settings_alloc(&s), 0);
	for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
		all[0] = '\0';
		CHECK_INT(settings_set(s, "brain_url", urls[i][0]), 0);
		settings_secrets(s, gather, all);
		CHECK_STR(all, urls[i][1]);
	}
	all[0] = '\0';
	CHECK_INT(settings_set(s, "openai_api_key", "sk"), 0);
	CHECK_INT(settings_set(s, "search_url", "https://host/?key=2"), 0);
	CHECK_INT(settings_set(
			  s, "mcp_servers",
			  "[{\"name\":\"m\",\"transport\":\"http\",\"url\":\"http://m/?key=3\"}]"),
		  0);
	settings_secrets(s, gather, all);
	CHECK(strstr(all, "u@v;") && strstr(all, "sk;") && strstr(all, "key=2;") &&
	      strstr(all, "key=3;"));
	settings_free(s);
}

TEST(numbers_switches_and_words_are_choices_and_texts_are_none)
{
	CHECK(settings_is_choice("silence_ms") && settings_is_choice("PARLEY_SILENCE_MS"));
	CHECK(settings_is_choice("greet") && settings_is_choice("volition"));
	CHECK(!settings_is_choice("aliases") && !settings_is_choice("PARLEY_ALIASES"));
	CHECK(!settings_is_choice("openai_api_key") && !settings_is_choice("providers"));
	CHECK(!settings_is_choice("nothing"));
}

static void copy_setting(const char *name, const char *value, bool secret, void *arg)
{
	(void)secret;
	if (settings_set(arg, name, value))
		test_fail(__FILE__, __LINE__, "%s = \"%s\" is not taken back", name, value);
}

TEST(settings_told_one_by_one_make_the_same_again)
{
	struct settings *s = NULL, *copy = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(settings_alloc(&copy), 0);
	CHECK_INT(settings_set(s, "guest", "off"), 0);
	CHECK_INT(settings_set(s, "log_words", "yes"), 0);
	CHECK_INT(settings_set(s, "silence_ms", "900"), 0);
	CHECK_INT(settings_set(s, "brain_voice", ""), 0);
	CHECK_INT(settings_set(s, "discord_token", "a.b.c"), 0);
	settings_each(s, copy_setting, copy);
	CHECK_MEM(copy, sizeof *copy, s, sizeof *s);
	settings_free(s);
	settings_free(copy);
}

/* Latin-1, as a terminal of the last century sends it. */
TEST(settings_refuse_texts_that_are_no_utf8)
{
	static const char *const rows[][2] = {
		{"PARLEY_NAME", "Ren\xe9"}, {"PARLEY_ALIASES", "Ren\xc3\xa9"}, {NULL, NULL}};
	struct table t = {.rows = rows};
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	settings_load(s, lookup, complain, &t);
	CHECK_STR(s->bot_name, "");
	CHECK_STR(s->aliases, "Ren\xc3\xa9");
	CHECK_STR(t.complaints, "PARLEY_NAME:Ren\xe9> ");
	CHECK_INT(settings_set(s, "instructions", "\xff"), EINVAL);
	settings_free(s);
}

static void note_change(const char *name, const char *value, bool secret, void *arg)
{
	char *buf = arg;
	size_t n = strlen(buf);

	snprintf(buf + n, 400 - n, "%s=%s%s ", name, value, secret ? "*" : "");
}

TEST(changes_between_two_readings_are_told)
{
	struct settings *was = NULL, *is = NULL;
	char buf[400] = "";

	CHECK_INT(settings_alloc(&was), 0);
	CHECK_INT(settings_alloc(&is), 0);
	settings_changes(was, is, note_change, buf);
	CHECK_STR(buf, "");
	CHECK_INT(settings_set(is, "hold_ms", "100"), 0);
	CHECK_INT(settings_set(is, "greet", "yes"), 0);
	CHECK_INT(settings_set(is, "interruptions", "anyone"), 0);
	CHECK_INT(settings_set(is, "bot_name", "Charlie"), 0);
	CHECK_INT(settings_set(is, "openai_api_key", "sk-secret"), 0);
	settings_changes(was, is, note_change, buf);
	CHECK_STR(buf, "openai_api_key=sk-secret* bot_name=Charlie hold_ms=100 "
		       "interruptions=anyone greet=yes ");
	settings_free(was);
	settings_free(is);
}

TEST(some_changes_wait_for_a_call_or_a_start)
{
	CHECK_INT(settings_when("hold_ms"), SETTINGS_NOW);
	CHECK_INT(settings_when("bot_name"), SETTINGS_NOW);
	CHECK_INT(settings_when("asr_sessions"), SETTINGS_NEXT);
	/* A server's tools join the rooms that are open. */
	CHECK_INT(settings_when("mcp_servers"), SETTINGS_NOW);
	CHECK_INT(settings_when("providers"), SETTINGS_NEXT);
	CHECK_INT(settings_when("discord_api"), SETTINGS_START);
	CHECK_INT(settings_when("discord_token"), SETTINGS_START); /* as every secret */
	CHECK_INT(settings_when("nothing"), SETTINGS_START);
}
