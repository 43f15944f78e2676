#include "control/settings/provider_record.h"

#include <errno.h>
#include <string.h>

#include "control/settings/file.h"
#include "control/settings/profile.h"
#include "control/settings/settings.h"
#include "tests/test.h"

struct told {
	unsigned n;
	char last[640];
};

static void on_fault(unsigned line, const char *text, void *arg)
{
	struct told *t = arg;

	(void)line;
	t->n++;
	snprintf(t->last, sizeof t->last, "%s", text);
}

static void on_check(const char *text, void *arg)
{
	on_fault(0, text, arg);
}

static struct settings *read_text(const char *text, struct told *told)
{
	struct settings *s = NULL;

	memset(told, 0, sizeof *told);
	if (settings_alloc(&s) == 0)
		settings_file(s, text, strlen(text), on_fault, told);
	if (s)
		settings_check(s, on_check, told);
	return s;
}

static const char *serves(const struct settings *s, enum role role, unsigned i)
{
	const struct provider_record *p = settings_role(s, role, i);

	return p ? p->name : "";
}

TEST(nothing_set_is_served_by_the_embedded_engine)
{
	struct settings *s = NULL;
	char url[PROVIDER_URL_MAX];

	CHECK_INT(settings_alloc(&s), 0);
	for (unsigned role = ROLE_VOICE; role <= ROLE_CLASSIFY; role++)
		CHECK_STR(serves(s, (enum role)role, 0), "embedded");
	CHECK(!settings_role(s, ROLE_EMBED, 0));
	/* Who writes answers describes images, if that is no text model without eyes. */
	CHECK_STR(serves(s, ROLE_SEE, 0), "embedded");
	CHECK(!settings_uses(s, ROLE_SEE));
	CHECK(settings_needs_embedded(s) && settings_guest(s));
	CHECK_INT(provider_socket_url(settings_role(s, ROLE_VOICE, 0), url, sizeof url), ENOENT);
	settings_embedded_at(s, "ws://127.0.0.1:7/v1/realtime");
	CHECK_INT(provider_socket_url(settings_role(s, ROLE_VOICE, 0), url, sizeof url), 0);
	CHECK_STR(url, "ws://127.0.0.1:7/v1/realtime");
	settings_free(s);
}

TEST(a_key_alone_implies_a_provider)
{
	static const char *const models[] = {"gpt-realtime", "gpt-4o-mini", "gpt-4o-mini-tts",
					     "gpt-4o-mini-transcribe", "gpt-4o-mini"};
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	settings_set(s, "openai_api_key", "the-key");
	for (unsigned role = ROLE_VOICE; role <= ROLE_CLASSIFY; role++) {
		const struct provider_record *p = settings_role(s, (enum role)role, 0);

		CHECK_STR(p->name, "openai");
		CHECK_STR(p->key, "the-key");
		CHECK_STR(p->url, "https://api.openai.com/v1");
		CHECK_STR(settings_model(s, (enum role)role, p), models[role]);
		CHECK(!settings_role(s, (enum role)role, 1));
	}
	CHECK_STR(settings_voice(s, ROLE_VOICE, settings_role(s, ROLE_VOICE, 0)), "marin");
	CHECK(!settings_needs_embedded(s) && !settings_guest(s));
	/* A server of one's own is no guest either, and the key goes to nobody else. */
	settings_set(s, "openai_api_key", "");
	settings_set(s, "text_url", "http://127.0.0.1:1/v1");
	CHECK_STR(serves(s, ROLE_TEXT, 0), "text");
	CHECK_STR(serves(s, ROLE_CLASSIFY, 0), "text");
	CHECK_STR(serves(s, ROLE_VOICE, 0), "embedded");
	CHECK(!settings_guest(s));
	settings_free(s);
}

TEST(roles_are_ordered_lists)
{
	struct told told;
	struct settings *s = read_text(
		"{\"providers\": [{\"name\": \"local\", \"url\": \"http://127.0.0.1:11434/v1\","
		" \"model\": \"llama3.2\"}, {\"name\": \"cloud\"}],\n"
		" \"roles\": {\"text\": [\"local\", \"cloud\", \"embedded\"], \"speech\": "
		"\"cloud\"},\n"
		" \"purposes\": {\"memory\": [\"cloud\"]}}",
		&told);
	char url[PROVIDER_URL_MAX];

	CHECK_INT(told.n, 0);
	CHECK_STR(serves(s, ROLE_TEXT, 0), "local");
	CHECK_STR(serves(s, ROLE_TEXT, 1), "cloud");
	CHECK_STR(serves(s, ROLE_TEXT, 2), "embedded");
	CHECK_STR(serves(s, ROLE_TEXT, 3), "");
	CHECK_STR(serves(s, ROLE_SPEECH, 0), "cloud");
	CHECK_STR(serves(s, ROLE_CLASSIFY, 1), "cloud");
	CHECK_STR(settings_purpose(s, PURPOSE_MEMORY, 0)->name, "cloud");
	CHECK_STR(settings_purpose(s, PURPOSE_FOLLOWUP, 0)->name, "local");
	CHECK_STR(settings_purpose(s, PURPOSE_REPLY_DECISION, 0)->name, "local");
	CHECK_STR(settings_model(s, ROLE_TEXT, settings_role(s, ROLE_TEXT, 0)), "llama3.2");
	CHECK_STR(settings_model(s, ROLE_TEXT, settings_role(s, ROLE_TEXT, 1)), "gpt-4o-mini");
	CHECK_INT(provider_http_url(settings_role(s, ROLE_TEXT, 0), url, sizeof url), 0);
	CHECK_STR(url, "http://127.0.0.1:11434/v1");
	CHECK_INT(provider_socket_url(settings_role(s, ROLE_TEXT, 0), url, sizeof url), 0);
	CHECK_STR(url, "ws://127.0.0.1:11434/v1/realtime");
	/* OpenAI's key goes to OpenAI alone. */
	settings_set(s, "openai_api_key", "the-key");
	CHECK_STR(settings_role(s, ROLE_TEXT, 0)->key, "");
	CHECK_STR(settings_role(s, ROLE_TEXT, 1)->key, "the-key");
	settings_free(s);
}

TEST(a_service_that_lacks_the_default_model_is_asked_for_one_of_its_own)
{
	struct told told;
	struct settings *s = read_text(
		"{\"providers\": [{\"name\": \"main\", \"dialect\": \"anthropic\"},"
		" {\"name\": \"named\", \"dialect\": \"anthropic\", \"model\": \"claude-x\"}],"
		" \"roles\": {\"text\": [\"main\", \"named\"]}}",
		&told);

	CHECK_INT(told.n, 0);
	CHECK_STR(settings_model(s, ROLE_TEXT, settings_role(s, ROLE_TEXT, 0)), "claude-haiku-4-5");
	CHECK_STR(settings_model(s, ROLE_CLASSIFY, settings_role(s, ROLE_CLASSIFY, 0)),
		  "claude-haiku-4-5");
	CHECK_STR(settings_model(s, ROLE_TEXT, settings_role(s, ROLE_TEXT, 1)), "claude-x");
	settings_set(s, "text_model", "claude-y");
	CHECK_STR(settings_model(s, ROLE_TEXT, settings_role(s, ROLE_TEXT, 0)), "claude-y");
	CHECK_STR(settings_model(s, ROLE_CLASSIFY, settings_role(s, ROLE_CLASSIFY, 0)),
		  "claude-haiku-4-5");
	settings_free(s);
}

TEST(records_that_cannot_be_used_are_told)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
		{"{\"providers\": 1}", "list of objects"},
		{"{\"providers\": [1]}", "a record is an object"},
		{"{\"provider\": []}", "did you mean \"providers\"?"},
		{"{\"providers\": [{}]}", "\"name\" is missing"},
		{"{\"providers\": [{\"name\": \"a b\"}]}", "letters"},
		{"{\"providers\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}", "another record"},
		{"{\"providers\": [{\"name\": \"a\", \"key\": \"sk-1\"}]}", "key_file"},
		{"{\"providers\": [{\"name\": \"a\", \"modle\": \"x\"}]}",
		 "did you mean \"model\""},
		{"{\"providers\": [{\"name\": \"a\", \"dialect\": \"klingon\"}]}", "one of openai"},
		{"{\"providers\": [{\"name\": \"a\", \"dialect\": \"opena\"}]}",
		 "did you mean \"openai\"?"},
		{"{\"providers\": [{\"name\": \"grok\", \"dialect\": \"xai\"}], \"roles\": "
		 "{\"voice\": "
		 "[\"grock\"]}}",
		 "did you mean \"grok\"?"},
		{"{\"providers\": [{\"name\": \"a\", \"url\": \"ftp://x\"}]}", "http://"},
		{"{\"providers\": [{\"name\": \"a\", \"url\": \"http://u:p@h\"}]}", "password"},
		{"{\"providers\": [{\"name\": \"a\", \"options\": {\"x\": {}}}]}", "plain values"},
		{"{\"prices\": [{\"model\": \"m\", \"usd\": -1}]}", "from 0"},
		{"{\"prices\": [{\"model\": \"m\"}]}", "\"usd\" is missing"},
		{"{\"mcp_servers\": [{\"name\": \"a\", \"command\": \"x\"}]}", "a list"},
		{"{\"mcp_servers\": [{\"name\": \"a\"}]}", "needs a command"},
		{"{\"mcp_servers\": [{\"name\": \"a\", \"transport\": \"http\", \"url\": "
		 "\"https://a\", \"issuer\": \"https://b\", \"client_secret_file\": \"/s\"}]}",
		 "needs a client_id"},
		{"{\"mcp_servers\": [{\"name\": \"a\", \"transport\": \"http\", \"url\": "
		 "\"https://a\", \"client_id\": \"c\", \"client_secret_file\": \"/s\"}]}",
		 "an issuer, the authorization server"},
		{"{\"workers\": [{\"name\": \"a\"}]}", "a worker needs a command"},
		{"{\"workers\": [{\"name\": \"a\", \"kind\": \"command\"}]}",
		 "a worker needs a command"},
		{"{\"workers\": [{\"name\": \"a\", \"usd\": \"x\"}]}", "from 0"},
		{"{\"workers\": [{\"name\": \"a\", \"steps\": 17}]}", "from 0 to 16"},
		{"{\"workers\": [{\"name\": \"a\", \"steps\": 1.5}]}", "whole number"},
		{"{\"mcp_servers\": [{\"name\": \"a\", \"transport\": \"http\"}]}", "needs a url"},
		{"{\"roles\": {\"text\": [\"nobody\"]}}", "no provider of that name"},
		{"{\"roles\": {\"text\": [\"embedded\", \"embedded\"]}}", "twice"},
		{"{\"roles\": {\"txt\": [\"embedded\"]}}", "did you mean \"text\""},
		{"{\"roles\": [\"embedded\"]}", "must be an object"},
		{"{\"purposes\": {\"memory\": 3}}", "list of provider names"},
		{"{\"roles\": {}, \"roles\": {}}", "second time"},
		{"{\"roles\": {\"embed\": \"embedded\"}}",
		 "dialect embedded cannot serve the role embed"},
		{"{\"purposes\": {\"reply_decision\": \"embedded\"}}",
		 "cannot serve the role classify"},
		{"{\"profile\": \"home\"}", "no profile of that name"},
		{"{\"auto_join\": true, \"guild\": \"1\"}", "needs \"guild\" and \"channel\""},
		{"{\"profiles\": [{\"name\": \"a\", \"gateway\": \"half\"}]}", "one of unset"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct told told;
		struct settings *s = read_text(rows[i].text, &told);

		settings_free(s);
		CHECK_INT(told.n, 1);
		if (!strstr(told.last, rows[i].said))
			CHECK_STR(told.last, rows[i].said);
		CHECK(!strstr(told.last, "sk-1"));
	}
}

TEST(too_many_records_are_refused)
{
	char text[4096] = "{\"providers\": [";
	struct told told;
	struct settings *s;

	for (unsigned i = 0; i < 17; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s{\"name\": \"p%u\"}",
			 i ? "," : "", i);
	strcat(text, "]}");
	s = read_text(text, &told);
	CHECK_INT(told.n, 1);
	CHECK(strstr(told.last, "at most 16"));
	CHECK_INT(s->records.n[RECORD_KIND_PROVIDER], 0);
	settings_free(s);
}

static void add_to(const char *name, const char *value, bool secret, void *arg)
{
	(void)secret;
	settings_set(arg, name, value);
}

static void count(const char *name, const char *value, bool secret, void *arg)
{
	(void)name;
	(void)value;
	(void)secret;
	++*(unsigned *)arg;
}

/* The file was read again: the same key file serves another address now. */
TEST(a_reload_that_moves_a_provider_keeps_its_key)
{
	struct settings *running = NULL;
	struct told told;
	struct settings *was = read_text("{\"providers\": [{\"name\": \"a\", \"url\": "
					 "\"http://h/v1\", \"key_file\": \"/k\"}]}",
					 &told);
	struct settings *is = read_text("{\"providers\": [{\"name\": \"a\", \"url\": "
					"\"http://moved/v1\", \"key_file\": \"/k\"}]}",
					&told);

	CHECK_INT(settings_set(was, SETTINGS_KEY_OF "a", "k-secret"), 0);
	CHECK_INT(settings_set(is, SETTINGS_KEY_OF "a", "k-secret"), 0);
	CHECK_INT(settings_alloc(&running), 0);
	*running = *was;
	settings_changes(was, is, add_to, running);
	CHECK_STR(running->records.provider[0].url, "http://moved/v1");
	CHECK_STR(running->records.provider[0].key, "k-secret");
	settings_free(running);
	settings_free(was);
	settings_free(is);
}

TEST(nothing_changed_where_a_provider_takes_the_common_key)
{
	struct told told;
	unsigned changes = 0;
	struct settings *s = read_text("{\"providers\": [{\"name\": \"openai\"}]}", &told);

	CHECK_INT(settings_set(s, "openai_api_key", "sk-1"), 0);
	CHECK_STR(settings_provider_named(s, "openai")->key, "sk-1");
	settings_changes(s, s, count, &changes);
	CHECK_INT(changes, 0);
	settings_free(s);
}

/* As a journal does: every setting as text, and back. */
TEST(records_survive_as_text)
{
	struct told told;
	struct settings *copy = NULL;
	struct settings *s = read_text(
		"{\"providers\": [{\"name\": \"a\", \"url\": \"http://h/v1\", \"key_file\": \"/k\","
		" \"options\": {\"temperature\": 0.5}}],"
		" \"mcp_servers\": [{\"name\": \"m\", \"command\": [\"run\", \"it\"]}],"
		" \"workers\": [{\"name\": \"w\", \"command\": [\"do\"], \"secrets\": {\"K\": "
		"\"/k\"}}],"
		" \"prices\": [{\"model\": \"x\", \"kind\": \"audio_out\", \"usd\": 64.25}],"
		" \"roles\": {\"speech\": [\"a\"]}}",
		&told);
	unsigned changes = 0;

	CHECK_INT(told.n, 0);
	CHECK_INT(settings_set(s, SETTINGS_KEY_OF "a", "k-secret"), 0);
	CHECK_INT(settings_set(s, SETTINGS_KEY_OF "b", "k-secret"), ENOENT);
	CHECK_INT(settings_set(s, SETTINGS_VALUES_OF "m", "{\"A\":\"hush\"}"), 0);
	CHECK_INT(settings_set(s, SETTINGS_VALUES_OF_WORKER "w", "{\"K\":\"hush\"}"), 0);
	CHECK_INT(settings_set(s, SETTINGS_VALUES_OF_WORKER "m", "{}"), ENOENT);
	CHECK_INT(settings_alloc(&copy), 0);
	settings_changes(copy, s, count, &changes);
	CHECK_INT(changes, 6);
	settings_each(s, add_to, copy);
	changes = 0;
	settings_changes(s, copy, count, &changes);
	CHECK_INT(changes, 0);
	CHECK_INT(copy->records.price[0].usd, 64250000);
	CHECK_STR(copy->records.mcp[0].command, "[\"run\",\"it\"]");
	CHECK_STR(copy->records.mcp[0].values, "{\"A\":\"hush\"}");
	CHECK_STR(copy->records.worker[0].values, "{\"K\":\"hush\"}");
	/* Another command does not get them. */
	CHECK_INT(
		settings_set(
			copy, "workers",
			"[{\"name\": \"w\", \"command\": [\"be\"], \"secrets\": {\"K\": \"/k\"}}]"),
		0);
	CHECK_STR(copy->records.worker[0].values, "");
	CHECK_STR(copy->records.mcp[0].values, "{\"A\":\"hush\"}");
	CHECK_STR(settings_role(copy, ROLE_SPEECH, 0)->key, "k-secret");
	/* Another address does not get the key of the first. */
	CHECK_INT(settings_set(copy, "providers",
			       "[{\"name\":\"a\",\"url\":\"http://other/v1\","
			       "\"key_file\":\"/k\"}]"),
		  0);
	CHECK_STR(settings_role(copy, ROLE_SPEECH, 0)->key, "");
	settings_free(copy);
	settings_free(s);
}

TEST(the_worked_examples_are_good)
{
	static const char *const served[SETTINGS_EXAMPLES][ROLE_CLASSIFY + 1] = {
		{"openai", "openai", "openai", "openai", "openai"},
		{"embedded", "ollama", "kokoro", "whisper", "ollama"},
		{"embedded", "embedded", "embedded", "embedded", "embedded"},
		{"grok", "embedded", "eleven", "eleven", "embedded"},
		{"gemini", "embedded", "embedded", "vllm", "embedded"},
	};

	for (unsigned i = 0; i < SETTINGS_EXAMPLES; i++) {
		const char *text = settings_examples[i][1];
		struct told told;
		struct settings *s = read_text(text, &told);
		unsigned lines = 0;

		CHECK_INT(told.n, 0);
		for (const char *p = text; (p = strchr(p, '\n')); p++)
			lines++;
		CHECK(lines <= 10);
		if (*s->openai_api_key_file)
			settings_set(s, "openai_api_key", "the-key");
		for (unsigned role = ROLE_VOICE; role <= ROLE_CLASSIFY; role++)
			CHECK_STR(serves(s, (enum role)role, 0), served[i][role]);
		CHECK_INT(settings_needs_embedded(s), i == 2);
		CHECK_INT(settings_guest(s), i == 2);
		settings_free(s);
	}
}

TEST(a_saved_channel_is_no_wish_to_join_it)
{
	struct told told;
	struct settings *s = read_text(
		"{\"guild\": \"11\", \"channel\": \"12\", \"profiles\": [{\"name\": \"den\","
		" \"token_file\": \"/t\", \"channel\": \"13\", \"gateway\": \"voice\"}]}",
		&told);
	uint64_t guild = 0, channel = 0;

	CHECK_INT(told.n, 0);
	CHECK_INT(settings_start_channel(s, &guild, &channel), ENOENT);
	settings_set(s, "auto_join", "yes");
	CHECK_INT(settings_start_channel(s, &guild, &channel), 0);
	CHECK(guild == 11 && channel == 12);
	CHECK_INT(settings_gateway(s), SETTINGS_GATEWAY_FULL);
	CHECK_STR(settings_token_file(s), "");
	settings_set(s, "profile", "den");
	CHECK_INT(settings_start_channel(s, &guild, &channel), 0);
	CHECK(guild == 11 && channel == 13);
	CHECK_INT(settings_gateway(s), SETTINGS_GATEWAY_VOICE);
	CHECK_STR(settings_token_file(s), "/t");
	settings_set(s, "channel", "a room");
	settings_set(s, "profile", "");
	CHECK_INT(settings_start_channel(s, &guild, &channel), EINVAL);
	settings_free(s);
}

TEST(nothing_waits_for_an_engine_that_is_not_used)
{
	struct told told;
	struct settings *s = read_text(settings_examples[1][1], &told);

	CHECK(settings_ready(s));
	settings_free(s);
	CHECK_INT(settings_alloc(&s), 0);
	CHECK(!settings_ready(s));
	settings_embedded_at(s, "ws://127.0.0.1:7/");
	CHECK(settings_ready(s));
	settings_free(s);
}
