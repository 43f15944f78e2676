#include "tests/test.h"

#include "control/settings/file.h"
#include "control/settings/settings.h"

struct told {
	char text[2048];
};

static void on_fault(unsigned line, const char *text, void *arg)
{
	struct told *t = arg;
	size_t n = strlen(t->text);

	snprintf(t->text + n, sizeof t->text - n, "%u: %s\n", line, text);
}

/* What is wrong with a file, a line each; *s as it is afterwards. */
static const char *faults(struct settings *s, const char *text)
{
	static struct told t;

	t.text[0] = '\0';
	settings_file(s, text, strlen(text), on_fault, &t);
	return t.text;
}

TEST(a_settings_file_sets_what_it_names)
{
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_STR(faults(s, "{\n \"silence_ms\": 900, \"log_words\": true,\n \"guest\": \"off\",\n"
			    " \"bot_name\": \"Charlie\\u00e9\", \"discord_token_file\": "
			    "\"/etc/t\"\n}\n"),
		  "");
	CHECK_INT(s->silence_ms, 900);
	CHECK(s->log_words);
	CHECK_INT(s->guest, SETTINGS_GUEST_OFF);
	CHECK_STR(s->bot_name, "Charlie\xc3\xa9");
	CHECK_STR(s->discord_token_file, "/etc/t");
	CHECK_INT(s->hold_ms, 2500);
	settings_free(s);
}

/* A file that was cut off while it was written is no wish for the defaults. */
TEST(an_empty_settings_file_is_a_fault)
{
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK(strstr(faults(s, ""), "the file is empty") != NULL);
	CHECK(strstr(faults(s, " \n\t"), "the file is empty") != NULL);
	CHECK_STR(faults(s, "{}"), "");
	settings_free(s);
}

TEST(every_fault_of_a_settings_file_is_told_with_its_line)
{
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_STR(faults(s, "{\n"
			    "  \"silense_ms\": 700,\n"
			    "  \"hold_ms\": 99999,\n"
			    "  \"stall_ms\": \"20000\",\n"
			    "  \"log_words\": 1,\n"
			    "  \"guest\": \"onn\",\n"
			    "  \"language\": \"a language of too many letters\",\n"
			    "  \"bot_name\": null,\n"
			    "  \"hold_ms\": 1000,\n"
			    "  \"PARLEY_HOLD_MS\": 1000,\n"
			    "  \"complexity\": 7,\n"
			    "  \"what_is_this\": [1, 2]\n"
			    "}\n"),
		  "2: there is no setting \"silense_ms\"; did you mean \"silence_ms\"?\n"
		  "3: \"hold_ms\" must be a whole number from 0 to 20000 ms, not 99999\n"
		  "4: \"stall_ms\" must be a whole number from 1000 to 120000 ms, not \"20000\"\n"
		  "5: \"log_words\" must be true or false, not 1\n"
		  "6: \"guest\" must be \"auto\", \"on\" or \"off\", not \"onn\"; did you mean "
		  "\"on\"?\n"
		  "7: \"language\" may have at most 15 bytes, not 30\n"
		  "8: \"bot_name\" must be a text in quotes, not null\n"
		  "9: \"hold_ms\" is given a second time; the first is on line 3\n"
		  "10: \"PARLEY_HOLD_MS\" is the name of the variable; here it is called "
		  "\"hold_ms\"\n"
		  "12: there is no setting \"what_is_this\"; control --settings lists all\n");
	CHECK_INT(s->complexity, 7); /* what is right is taken */
	CHECK_INT(s->hold_ms, 2500); /* nothing is clamped */
	settings_free(s);
}

TEST(a_list_of_ids_takes_nothing_else)
{
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_STR(faults(s, "{\"blocked_users\": \"<@501>, 502\", \"text_channels\": \"\"}"), "");
	CHECK(!s->unread);
	CHECK_STR(s->blocked_users, "<@501>, 502");
	CHECK_STR(faults(s, "{\"music_dj_role\": \"<@&7091>\"}"), "");
	CHECK_STR(faults(s, "{\"music_dj_role\": \"DJ\"}"),
		  "1: \"music_dj_role\" must be the id of a role of Discord, such as "
		  "123456789012345678, or empty, not \"DJ\"; in Discord's developer mode a right "
		  "click on the role copies it\n");
	CHECK_STR(s->music_dj_role, "<@&7091>");
	CHECK_STR(faults(s, "{\n\"text_channels\": \"7, general\"\n}"),
		  "2: \"text_channels\" must be ids of Discord, such as 123456789012345678, "
		  "separated by commas, not \"general\"; in Discord's developer mode a right "
		  "click copies an id\n");
	CHECK(s->unread);
	CHECK_STR(s->text_channels, "");
	CHECK(strstr(faults(s, "{\"blocked_users\": 501}"), "must be a text in quotes"));
	settings_free(s);
}

/* Nothing of such a list was ever read, nor any other address. */
TEST(a_list_of_addresses_takes_nothing_else)
{
	struct settings *s = NULL;
	char many[512] = "{\"web_read_allowed\": \"";

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_STR(faults(s, "{\"web_read_allowed\": \"10.0.0.5:80, [fd00::1]:8080\"}"), "");
	CHECK_STR(s->web_read_allowed, "10.0.0.5:80, [fd00::1]:8080");
	CHECK_STR(faults(s, "{\n\"web_read_allowed\": \"127.0.0.1:18768,station.example:8000\"\n}"),
		  "2: \"web_read_allowed\" must be IP addresses with ports, such as 10.0.0.5:80 or "
		  "[fd00::1]:8080, separated by commas, not \"station.example:8000\"; a host is "
		  "listed by its IP address\n");
	CHECK(strstr(faults(s, "{\"web_read_allowed\": \"10.0.0.5\"}"), "not \"10.0.0.5\""));
	CHECK_STR(s->web_read_allowed, "10.0.0.5:80, [fd00::1]:8080");
	for (unsigned i = 0; i < 17; i++)
		strcat(many, "10.0.0.5:8000,");
	strcat(many, "\"}");
	CHECK(strstr(faults(s, many), "must be at most 16 addresses"));
	CHECK_INT(settings_set(s, "web_read_allowed", "foo"), EINVAL);
	CHECK_INT(settings_set(s, "web_read_allowed", ""), 0);
	CHECK_STR(faults(s, "{\"web_read_allowed\": 5}"),
		  "1: \"web_read_allowed\" must be a text in quotes, not 5\n");
	settings_free(s);
}

TEST(a_secret_in_a_settings_file_is_refused_and_not_told)
{
	struct settings *s = NULL;
	const char *said;

	CHECK_INT(settings_alloc(&s), 0);
	said = faults(s, "{\"openai_api_key\": \"sk-hunter2\"}");
	CHECK(strstr(said, "\"openai_api_key\" is a secret") &&
	      strstr(said, "\"openai_api_key_file\""));
	CHECK(!strstr(said, "hunter2"));
	CHECK_STR(s->openai_api_key, "");
	said = faults(s, "{\"openai_key\": \"sk-hunter2\"}");
	CHECK(strstr(said, "no setting") && !strstr(said, "hunter2"));
	said = faults(s,
		      "{\"providers\": [{\"name\": \"a\", \"dialect\": \"openai\", \"key_file\": "
		      "\"sk-proj-hunter2hunter2hunter2\"}]}");
	CHECK(strstr(said, "looks like a key") && !strstr(said, "hunter2"));
	CHECK_STR(faults(s, "{\"providers\": [{\"name\": \"a\", \"dialect\": \"openai\", "
			    "\"key_file\": \"the-key-of-openai-2026.txt\"}]}"),
		  "");
	said = faults(s, "{\n\"openai_api_key_file\": \"x\" \"sk-hunter2\"}");
	CHECK(strstr(said, "2: this is not JSON") && !strstr(said, "hunter2"));
	settings_free(s);
}

TEST(what_is_no_settings_file_is_one_fault)
{
	struct settings *s = NULL;
	char big[SETTINGS_FILE_MAX + 1];
	struct told t = {0};

	CHECK_INT(settings_alloc(&s), 0);
	CHECK(strncmp(faults(s, "{\n\"hold_ms\": 1,\n}"), "3: this is not JSON: ", 21) == 0);
	CHECK(strncmp(faults(s, "{\n// more\n}"), "2: this is not JSON: ", 21) == 0);
	CHECK(strncmp(faults(s, "{"), "1: this is not JSON: ", 21) == 0);
	CHECK_STR(faults(s, "[1]"), "1: a settings file is one object: { \"name\": value, ... }\n");
	memset(big, ' ', sizeof big);
	memcpy(big, "{}", 2);
	CHECK_INT(settings_file(s, big, sizeof big, on_fault, &t), 1);
	CHECK_INT(settings_file(s, big, sizeof big - 1, NULL, NULL), 0);
	settings_free(s);
}

TEST(a_long_value_is_shown_cut)
{
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_STR(faults(s, "{\"log_words\": \"0123456789012345678901234567890123456789\"}"),
		  "1: \"log_words\" must be true or false, not "
		  "\"012345678901234567890123456789012345678...\n");
	settings_free(s);
}

/* The line is that of the record, not of the list. */
TEST(a_fault_in_a_list_is_told_with_the_line_of_its_entry)
{
	struct settings *s = NULL;
	const char *told;

	CHECK_INT(settings_alloc(&s), 0);
	told = faults(s, "{\n\"providers\": [\n{\"name\": \"a\"},\n{\"name\": \"b\", \"uri\": "
			 "\"x\"}\n],\n\"roles\": {\n\"voice\": \"a\",\n\"vioce\": \"a\"}}");
	CHECK(strstr(told, "4: providers[1] \"b\": unknown field \"uri\"") != NULL);
	CHECK(strstr(told, "8: \"roles\" has no \"vioce\"; did you mean \"voice\"?") != NULL);
	told = faults(s, "{\n\n\"providers\": 7}");
	CHECK(strstr(told, "3: providers: this must be a list of objects") != NULL);
	settings_free(s);
}

static void count_fault(const char *text, void *arg)
{
	(void)text;
	(*(unsigned *)arg)++;
}

/* It was left out for a fault that was told; a role that names it adds none. */
TEST(a_faulty_provider_is_told_once)
{
	struct settings *s = NULL;
	unsigned n = 0;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK(*faults(s, "{\"roles\": {\"voice\": [\"b\", \"c\"]}, \"providers\": [{\"name\": "
			 "\"b\", \"uri\": \"x\"}]}"));
	/* "c" was never given. */
	CHECK_INT(settings_check(s, count_fault, &n), 1);
	CHECK_INT(n, 1);
	CHECK_STR(faults(s, "{\"providers\": []}"), "");
	CHECK_INT(settings_check(s, count_fault, &n), 2);
	settings_free(s);
}
