/* Recorded groups, played by the follower: what implementations of others made of them is what ours
 * makes. */
#include "tests/follow/follow.h"

#include <unistd.h>

#include "tests/test.h"

static void plays(const char *path, unsigned steps)
{
	struct follow_tally t = {0};
	FILE *out = tmpfile();
	const char *wrong = out ? follow_run(&t, path, out) : "no temporary file";
	char line[512];

	if (wrong)
		test_fail(__FILE__, __LINE__, "%s: %s", path, wrong);
	if (out)
		rewind(out);
	while (out && t.failed && fgets(line, sizeof line, out))
		fputs(line, stdout);
	if (out)
		fclose(out);
	CHECK_INT(t.failed, 0);
	CHECK_INT(t.steps, steps);
	CHECK(t.frames && t.fingerprints);
}

TEST(dave_follow_4_members)
{
	const char *path = test_data("data/dave/members-4.json");

	CHECK(path);
	plays(path, 5);
}

TEST(dave_follow_20_members)
{
	const char *path = test_data("data/dave/members-20.json");

	CHECK(path);
	plays(path, 13);
}

TEST(dave_follow_the_shared_recording)
{
	const char *path = test_shared("vectors/dave/davey-scenario-1.json");

	if (!path) {
		test_skip("shared vectors not there");
		return;
	}
	plays(path, 4);
}

static char *last(char *text, const char *key)
{
	char *at = strstr(text, key), *next;

	while (at && (next = strstr(at + 1, key)))
		at = next;
	return at;
}

/* One digit of a value, or of a message, is another: the step fails. */
static unsigned spoilt(const char *key)
{
	struct follow_tally t = {0};
	const char *path = test_data("data/dave/members-4.json");
	FILE *in = path ? fopen(path, "r") : NULL, *out = tmpfile();
	char name[] = "/tmp/follow.XXXXXX";
	int fd = mkstemp(name);
	FILE *copy = fd < 0 ? NULL : fdopen(fd, "w");
	char *text = calloc(1, 1 << 18), *at;
	size_t n = in && text ? fread(text, 1, (1 << 18) - 1, in) : 0;

	if (n && copy && out && (at = last(text, key))) {
		at += strlen(key) + 3; /* ":" and the quotes */
		at += 40;
		*at = *at == '0' ? '1' : '0';
		fwrite(text, 1, n, copy);
		fclose(copy);
		copy = NULL;
		if (follow_run(&t, name, out))
			t.failed = 0;
	}
	if (copy)
		fclose(copy);
	if (in)
		fclose(in);
	if (out)
		fclose(out);
	unlink(name);
	free(text);
	return t.failed;
}

TEST(dave_follow_finds_every_kind_of_difference)
{
	static const char *const keys[] = {"tree_hash",		  "confirmed_transcript_hash",
					   "epoch_authenticator", "exporter_secret",
					   "membership_key",	  "\"fingerprint\"",
					   "op29_commit",	  "op30_welcome"};

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (!spoilt(keys[i]))
			test_fail(__FILE__, __LINE__, "a wrong %s went unseen", keys[i]);
}
