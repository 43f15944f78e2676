#include "tests/talk/tail.h"

#include "tests/unit/ipc/loop.h"

static struct fixture {
	struct loop l;
	char dir[32], path[64], got[128];
	struct tail *tail;
} fx;

static void on_line(const char *line, size_t n, void *arg)
{
	size_t at = strlen(fx.got);

	(void)arg;
	snprintf(fx.got + at, sizeof fx.got - at, "%.*s|", (int)n, line);
	env_stop(fx.l.env);
}

static void append(const char *text)
{
	FILE *f = fopen(fx.path, "a");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static int begin(const char *there)
{
	int err;

	memset(&fx, 0, sizeof fx);
	if (!folder_make(fx.dir))
		return EIO;
	snprintf(fx.path, sizeof fx.path, "%s/turns", fx.dir);
	if (there)
		append(there);
	err = loop_open(&fx.l, NULL);
	return err ? err : tail_alloc(&fx.tail, fx.l.env, fx.path, on_line, NULL);
}

static void end(void)
{
	fx.tail = tail_free(fx.tail);
	loop_close(&fx.l);
	folder_remove(fx.dir);
}

TEST(tail_tells_only_what_is_new)
{
	CHECK_INT(begin("old\n"), 0);
	append("one\ntw");
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "one|");
	append("o\n");
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "one|two|");
	end();
}

TEST(tail_waits_for_its_file_and_follows_the_name)
{
	char old[80];

	CHECK_INT(begin(NULL), 0);
	append("one\n");
	CHECK(loop_run(&fx.l));
	snprintf(old, sizeof old, "%s.old", fx.path);
	CHECK_INT(rename(fx.path, old), 0);
	append("two\n");
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "one|two|");
	end();
}

TEST(tail_leaves_out_a_line_that_is_too_long)
{
	static char big[70000];

	CHECK_INT(begin(""), 0);
	memset(big, 'x', sizeof big - 1);
	append(big);
	append("\nshort\n");
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "short|");
	end();
}

TEST_OOM(tail_survives_no_memory)
{
	int err = begin(NULL);

	end();
	CHECK_OOM(err, (void)0);
}
