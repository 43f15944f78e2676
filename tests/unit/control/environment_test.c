#include "control/environment.h"

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
	err = environment_secret(name, buf, size);
	unsetenv(file);
	unlink(path);
	return err;
}

TEST(secrets_are_taken_as_people_paste_them)
{
	char buf[16];

	unsetenv(name);
	unsetenv(file);
	CHECK_INT(environment_secret(name, buf, sizeof buf), ENOENT);
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
	CHECK_INT(environment_secret(name, buf, sizeof buf), 0);
	CHECK_STR(buf, "abc");
	/* The variable counts before the file, and a second line never becomes a header. */
	CHECK_INT(from_file("other", buf, sizeof buf), 0);
	CHECK_STR(buf, "abc");
	setenv(name, "abc\r\nX-Header: 1", 1);
	CHECK_INT(environment_secret(name, buf, sizeof buf), 0);
	CHECK_STR(buf, "abc");
	unsetenv(name);
}

TEST(a_missing_secret_is_told_in_words)
{
	char text[256];

	unsetenv(name);
	setenv(file, "/nonexistent/token", 1);
	environment_secret_fault(name, text, sizeof text);
	CHECK_STR(text,
		  "the file /nonexistent/token that PARLEY_TEST_TOKEN_FILE names cannot be used: "
		  "No such file or directory");
	unsetenv(file);
	environment_secret_fault(name, text, sizeof text);
	CHECK_STR(text, "set PARLEY_TEST_TOKEN, or PARLEY_TEST_TOKEN_FILE to a file that holds it");
	setenv(name, "hunter2 x", 1);
	environment_secret_fault(name, text, sizeof text);
	CHECK(strstr(text, "cannot be used") && !strstr(text, "hunter2"));
	unsetenv(name);
}

TEST(a_secret_that_cannot_be_used_is_none)
{
	char *kept = getenv("DISCORD_TOKEN") ? strdup(getenv("DISCORD_TOKEN")) : NULL;
	struct settings *s = NULL;

	setenv("DISCORD_TOKEN", "a b", 1);
	CHECK_INT(environment_settings(&s), 0);
	CHECK_STR(s->discord_token, "");
	settings_free(s);
	if (kept)
		setenv("DISCORD_TOKEN", kept, 1);
	else
		unsetenv("DISCORD_TOKEN");
	free(kept);
}
