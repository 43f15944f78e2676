#include "control/configure/environment.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "control/settings/settings.h"
#include "tests/test.h"

static const char name[] = "PARLEY_TEST_TOKEN", file[] = "PARLEY_TEST_TOKEN_FILE";

static int from_file(const char *text, char *buf, size_t size)
{
	char path[] = "/tmp/parley-secret-XXXXXX";
	int fd = mkstemp(path), err;
	ssize_t n = (ssize_t)strlen(text);

	if (fd < 0 || write(fd, text, (size_t)n) != n)
		return -1;
	close(fd);
	setenv(file, path, 1);
	err = environment_secret(name, "", buf, size);
	unsetenv(file);
	unlink(path);
	return err;
}

TEST(secrets_are_taken_as_people_paste_them)
{
	char buf[16];

	unsetenv(name);
	unsetenv(file);
	CHECK_INT(environment_secret(name, "", buf, sizeof buf), ENOENT);
	CHECK_INT(from_file("abc.def\n", buf, sizeof buf), 0);
	CHECK_STR(buf, "abc.def");
	CHECK_INT(from_file(" abc.def \r\nmore", buf, sizeof buf), 0);
	CHECK_STR(buf, "abc.def");
	CHECK_INT(from_file("\n", buf, sizeof buf), ENODATA);
	CHECK_STR(buf, "");
	CHECK_INT(from_file("", buf, sizeof buf), ENODATA);
	CHECK_INT(from_file("0123456789012345", buf, sizeof buf), EMSGSIZE);
	CHECK_INT(from_file("a b", buf, sizeof buf), EINVAL);
	CHECK_INT(from_file("a\x1b[2J", buf, sizeof buf), EINVAL);
	CHECK_INT(from_file("caf\xc3\xa9", buf, sizeof buf), EINVAL);
	setenv(name, "abc\r", 1);
	CHECK_INT(environment_secret(name, "", buf, sizeof buf), 0);
	CHECK_STR(buf, "abc");
	/* The variable counts before the file, and a second line never becomes a header. */
	CHECK_INT(from_file("other", buf, sizeof buf), 0);
	CHECK_STR(buf, "abc");
	setenv(name, "abc\r\nX-Header: 1", 1);
	CHECK_INT(environment_secret(name, "", buf, sizeof buf), 0);
	CHECK_STR(buf, "abc");
	unsetenv(name);
}

TEST(a_folder_given_for_a_secret_is_told_as_one)
{
	char text[256];

	unsetenv(name);
	setenv(file, "/tmp", 1);
	environment_secret_fault(name, "", text, sizeof text);
	CHECK_STR(text, "the file /tmp that PARLEY_TEST_TOKEN_FILE names cannot be used: "
			"Is a directory");
	unsetenv(file);
}

TEST(a_missing_secret_is_told_in_words)
{
	char text[256];

	unsetenv(name);
	setenv(file, "/nonexistent/token", 1);
	environment_secret_fault(name, "", text, sizeof text);
	CHECK_STR(text,
		  "the file /nonexistent/token that PARLEY_TEST_TOKEN_FILE names cannot be used: "
		  "No such file or directory");
	unsetenv(file);
	environment_secret_fault(name, "", text, sizeof text);
	CHECK_STR(text, "set PARLEY_TEST_TOKEN, or PARLEY_TEST_TOKEN_FILE to a file that holds it");
	setenv(name, "hunter2 x", 1);
	environment_secret_fault(name, "", text, sizeof text);
	CHECK(strstr(text, "cannot be used") && !strstr(text, "hunter2"));
	unsetenv(name);
	environment_secret_fault(name, "/nonexistent/token", text, sizeof text);
	CHECK_STR(text, "the file /nonexistent/token that the settings file names for "
			"PARLEY_TEST_TOKEN cannot be used: "
			"No such file or directory");
}

TEST(a_secret_that_cannot_be_used_is_none)
{
	char *kept = getenv("DISCORD_TOKEN") ? strdup(getenv("DISCORD_TOKEN")) : NULL;
	struct settings *s = NULL;

	setenv("DISCORD_TOKEN", "a b", 1);
	CHECK_INT(environment_settings(&s, "/dev/null", NULL, NULL), 0);
	CHECK_STR(s->discord_token, "");
	settings_free(s);
	if (kept)
		setenv("DISCORD_TOKEN", kept, 1);
	else
		unsetenv("DISCORD_TOKEN");
	free(kept);
}

static void gather(const char *text, void *arg)
{
	char *all = arg;
	size_t n = strlen(all);

	snprintf(all + n, 1024 - n, "%s\n", text);
}

/* The settings of a file with this text; what was said goes to all (1024 bytes). */
static int load(struct settings **s, const char *text, char *path, char *all)
{
	int fd, err;
	ssize_t n = (ssize_t)strlen(text);

	strcpy(path, "/tmp/parley-config-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, text, (size_t)n) != n)
		return -1;
	close(fd);
	all[0] = '\0';
	err = environment_settings(s, path, gather, all);
	unlink(path);
	return err;
}

TEST(the_environment_counts_more_than_the_settings_file)
{
	struct settings *s = NULL;
	char path[64], all[1024];

	setenv("PARLEY_HOLD_MS", "1500", 1);
	CHECK_INT(load(&s, "{\"hold_ms\": 1000, \"silence_ms\": 900}", path, all), 0);
	unsetenv("PARLEY_HOLD_MS");
	CHECK_STR(all, "");
	CHECK_INT(s->hold_ms, 1500);
	CHECK_INT(s->silence_ms, 900);
	settings_free(s);
}

TEST(numbers_of_the_environment_that_are_clamped_are_told)
{
	char all[1024] = "";

	setenv("PARLEY_HOLD_MS", "99999", 1);
	setenv("PARLEY_SILENCE_MS", "900", 1);
	CHECK_INT(environment_replaced("/dev/null", gather, all), 0);
	unsetenv("PARLEY_HOLD_MS");
	unsetenv("PARLEY_SILENCE_MS");
	CHECK_STR(all, "PARLEY_HOLD_MS cannot be \"99999\": it must be a whole number from 0 to "
		       "20000 ms; \"20000\" is used instead\n");
}

/* The default may be the opposite of what was meant: a bot that is silent, or one that hears. */
TEST(a_value_of_the_environment_that_a_setting_cannot_have_is_a_fault)
{
	struct settings *s = NULL;
	char path[64], all[1024], told[1024] = "";

	setenv("PARLEY_CONSENT", "nobody", 1);
	setenv("PARLEY_HOLD_MS", "99999", 1);
	setenv("PARLEY_STALL_MS", "soon", 1);
	setenv("PARLEY_TEXT_INITIATIVE", "maybe", 1);
	CHECK_INT(load(&s, "{}", path, all), EINVAL);
	CHECK_INT(environment_replaced("/dev/null", gather, told), 0);
	unsetenv("PARLEY_CONSENT");
	unsetenv("PARLEY_HOLD_MS");
	unsetenv("PARLEY_STALL_MS");
	unsetenv("PARLEY_TEXT_INITIATIVE");
	CHECK(strstr(all, "PARLEY_CONSENT cannot be \"nobody\": it must be heard, remembered or "
			  "neither\n"));
	CHECK(strstr(all, "PARLEY_STALL_MS cannot be \"soon\": it must be a whole number from "));
	CHECK(strstr(all, "PARLEY_TEXT_INITIATIVE cannot be \"maybe\": it must be yes or no\n"));
	CHECK(!strstr(all, "PARLEY_HOLD_MS")); /* it is clamped */
	CHECK(strstr(told, "PARLEY_HOLD_MS") == told && !strstr(told, "PARLEY_CONSENT"));
	CHECK(!s->unread);
	settings_free(s);
}

/* With it every address would be refused, and nobody told why. */
TEST(a_list_of_addresses_of_the_environment_that_holds_something_else_is_a_fault)
{
	struct settings *s = NULL;
	char path[64], all[1024];

	setenv("PARLEY_WEB_READ_ALLOWED", "10.0.0.5:80,station.example:8000", 1);
	CHECK_INT(load(&s, "{}", path, all), EINVAL);
	unsetenv("PARLEY_WEB_READ_ALLOWED");
	CHECK(strstr(all, "PARLEY_WEB_READ_ALLOWED must be IP addresses with ports") == all);
	CHECK(strstr(all, "not \"station.example:8000\"") != NULL);
	settings_free(s);
}

/* A block that is not understood must not be left out. */
TEST(a_list_of_ids_of_the_environment_that_holds_something_else_is_a_fault)
{
	struct settings *s = NULL;
	char path[64], all[1024], told[1024] = "";

	setenv("PARLEY_BLOCKED_USERS", "501 alice", 1);
	CHECK_INT(load(&s, "{}", path, all), EINVAL);
	CHECK_INT(environment_replaced("/dev/null", gather, told), 0);
	unsetenv("PARLEY_BLOCKED_USERS");
	CHECK(strstr(all, "PARLEY_BLOCKED_USERS must be ids of Discord") == all);
	CHECK(strstr(all, "not \"alice\"") != NULL);
	CHECK_STR(told, ""); /* it is told as a fault */
	CHECK(s->unread);
	settings_free(s);
	setenv("PARLEY_TEXT_CHANNELS", "<#7>", 1);
	CHECK_INT(load(&s, "{}", path, all), 0);
	unsetenv("PARLEY_TEXT_CHANNELS");
	CHECK(!s->unread);
	CHECK_STR(s->text_channels, "<#7>");
	settings_free(s);
}

TEST(faults_of_the_settings_file_come_with_its_name)
{
	struct settings *s = NULL;
	char path[64], all[1024], want[256];

	CHECK_INT(load(&s, "{\n\"hold_m\": 1000\n}", path, all), EINVAL);
	snprintf(want, sizeof want,
		 "%s:2: there is no setting \"hold_m\"; did you mean \"hold_ms\"?\n", path);
	CHECK_STR(all, want);
	settings_free(s);
	all[0] = '\0';
	CHECK_INT(environment_settings(&s, "/nonexistent/parley.json", gather, all), EINVAL);
	CHECK_STR(all, "/nonexistent/parley.json: No such file or directory\n");
	settings_free(s);
	all[0] = '\0';
	CHECK_INT(environment_settings(&s, "/tmp", gather, all), EINVAL);
	CHECK_STR(all, "/tmp: Is a directory\n");
	settings_free(s);
	all[0] = '\0';
	CHECK_INT(environment_settings(&s, "/dev/zero", gather, all), EINVAL);
	CHECK_STR(all, "/dev/zero: File too large\n");
	settings_free(s);
}

TEST(the_settings_file_names_the_file_of_a_secret)
{
	char *kept = getenv("OPENAI_API_KEY") ? strdup(getenv("OPENAI_API_KEY")) : NULL;
	char path[] = "/tmp/parley-secret-XXXXXX", text[128], config[64], all[1024];
	int fd = mkstemp(path);
	struct settings *s = NULL;

	CHECK(fd >= 0 && write(fd, "sk-test\n", 8) == 8);
	close(fd);
	unsetenv("OPENAI_API_KEY");
	snprintf(text, sizeof text, "{\"openai_api_key_file\": \"%s\"}", path);
	CHECK_INT(load(&s, text, config, all), 0);
	CHECK_STR(s->openai_api_key, "sk-test");
	unlink(path);
	settings_free(s);
	if (kept)
		setenv("OPENAI_API_KEY", kept, 1);
	free(kept);
}

static void unknown(const char *variable, const char *likely, void *arg)
{
	char *all = arg;
	size_t n = strlen(all);

	if (strncmp(variable, "PARLEY_UNKNOWN", 14) == 0 ||
	    strncmp(variable, "PARLEY_SILENSE", 14) == 0)
		snprintf(all + n, 256 - n, "%s>%s ", variable, likely ? likely : "?");
}

TEST(variables_that_nobody_reads_are_found)
{
	char all[256] = "";

	setenv("PARLEY_UNKNOWN_TO_ALL", "1", 1);
	environment_unknown(unknown, all);
	CHECK_STR(all, "PARLEY_UNKNOWN_TO_ALL>? ");
	unsetenv("PARLEY_UNKNOWN_TO_ALL");
	setenv("PARLEY_SILENSE_MS", "1", 1);
	all[0] = '\0';
	environment_unknown(unknown, all);
	CHECK_STR(all, "PARLEY_SILENSE_MS>PARLEY_SILENCE_MS ");
	unsetenv("PARLEY_SILENSE_MS");
}

static void on_fault(const char *text, void *arg)
{
	snprintf(arg, 200, "%s", text);
}

TEST(an_empty_settings_file_is_a_fault_and_the_null_device_is_none)
{
	char path[] = "/tmp/parley-empty-XXXXXX", told[200] = "";
	struct settings *s = NULL;
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	CHECK_INT(environment_settings(&s, path, on_fault, told), EINVAL);
	CHECK(strstr(told, ":1: the file is empty") != NULL);
	s = settings_free(s);
	CHECK_INT(environment_settings(&s, "/dev/null", on_fault, told), 0);
	settings_free(s);
	close(fd);
	unlink(path);
}

TEST(records_get_the_secrets_of_their_files)
{
	char secret[] = "/tmp/parley-secret-XXXXXX", path[64], all[1024], text[1200];
	struct settings *s = NULL;
	int fd = mkstemp(secret);

	CHECK(fd >= 0 && write(fd, "Bearer hush\n", 12) == 12);
	close(fd);
	snprintf(text, sizeof text,
		 "{\"workers\": [{\"name\": \"w\", \"command\": [\"x\"], \"secrets\": {\"K\": "
		 "\"%s\"}}],"
		 " \"mcp_servers\": [{\"name\": \"m\", \"transport\": \"http\", \"url\": "
		 "\"https://a/\","
		 " \"headers\": {\"H\": \"%s\"}, \"issuer\": \"https://b/\", \"client_id\": \"c\","
		 " \"client_secret_file\": \"%s\", \"refresh_token_file\": \"/nonexistent/t\"}]}",
		 secret, secret, secret);
	CHECK_INT(load(&s, text, path, all), 0);
	CHECK_STR(all, "");
	CHECK_STR(s->records.worker[0].values, "{\"K\":\"Bearer hush\"}");
	CHECK_STR(s->records.mcp[0].values,
		  "{\"H\":\"Bearer hush\",\"client secret\":\"Bearer hush\"}");
	settings_free(s);
	unlink(secret);
}

/* Tokens that are signed texts are longer than keys. */
TEST(a_record_gets_a_secret_of_4096_bytes_and_none_that_is_longer)
{
	char secret[] = "/tmp/parley-secret-XXXXXX", path[64], all[1024], text[400], line[4097];
	struct settings *s = NULL;
	int fd = mkstemp(secret);

	memset(line, 't', sizeof line);
	CHECK(fd >= 0 && write(fd, line, 4096) == 4096);
	snprintf(text, sizeof text,
		 "{\"mcp_servers\": [{\"name\": \"m\", \"transport\": \"http\", \"url\": "
		 "\"https://a/\", \"issuer\": \"https://b/\", \"client_id\": \"c\","
		 " \"refresh_token_file\": \"%s\"}]}",
		 secret);
	CHECK_INT(load(&s, text, path, all), 0);
	CHECK_INT(strlen(s->records.mcp[0].values), 4096 + strlen("{\"refresh token\":\"\"}"));
	s = settings_free(s);
	CHECK_INT(write(fd, "t", 1), 1);
	CHECK_INT(load(&s, text, path, all), 0);
	CHECK_STR(s->records.mcp[0].values, "");
	settings_free(s);
	close(fd);
	unlink(secret);
}

static void count_fault(const char *text, void *arg)
{
	unsigned *n = arg;

	CHECK(strstr(text, "/nonexistent/key") && strstr(text, "No such file"));
	(*n)++;
}

TEST(a_key_file_is_told_only_when_it_cannot_be_used)
{
	char secret[] = "/tmp/parley-secret-XXXXXX", path[64], all[1024], text[300];
	struct settings *s = NULL;
	unsigned faults = 0;
	int fd = mkstemp(secret);

	CHECK(fd >= 0 && write(fd, "sk-good\n", 8) == 8);
	close(fd);
	snprintf(text, sizeof text,
		 "{\"openai_api_key_file\": \"%s\", \"search_key_file\": \"/nonexistent/key\"}",
		 secret);
	CHECK_INT(load(&s, text, path, all), 0);
	environment_secret_faults(s, count_fault, &faults);
	CHECK_INT(faults, 1);
	settings_free(s);
	unlink(secret);
}
