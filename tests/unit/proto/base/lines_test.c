#include "proto/base/lines.h"

#include "tests/test.h"

static struct {
	char text[256];
	size_t n;
} got;

static void on_line(const char *line, size_t len, void *arg)
{
	(void)arg;
	if (line[len])
		abort(); /* NUL-terminated */
	memcpy(got.text + got.n, line, len);
	got.n += len;
	got.text[got.n++] = '|';
	got.text[got.n] = '\0';
}

/* text in two pieces that meet at `cut`. */
static void feed(struct lines *l, const char *text, size_t cut)
{
	got.n = 0;
	got.text[0] = '\0';
	lines_feed(l, text, cut, on_line, NULL);
	lines_feed(l, text + cut, strlen(text) - cut, on_line, NULL);
	lines_end(l, on_line, NULL);
}

TEST(lines_are_split_wherever_they_are_cut)
{
	static const char text[] = "one\n\ntoo long a line\nfive5\nlast";
	struct lines l;

	for (size_t cut = 0; cut < sizeof text; cut++) {
		lines_init(&l, 5, false);
		feed(&l, text, cut);
		CHECK_STR(got.text, "one||five5|last|");
		CHECK_INT(l.dropped, 1);
		lines_clear(&l);
		lines_init(&l, 5, true);
		feed(&l, text, cut);
		CHECK_STR(got.text, "one||too l|five5|last|");
		CHECK_INT(l.dropped, 1);
		lines_clear(&l);
	}
}

TEST(lines_end_without_a_line)
{
	struct lines l;

	lines_init(&l, 5, false);
	feed(&l, "one\n", 2);
	CHECK_STR(got.text, "one|");
	feed(&l, "123456", 2);
	CHECK_STR(got.text, "");
	CHECK_INT(l.dropped, 1);
	lines_clear(&l);
}

/* A line for which there is no memory is dropped and counted; the next one is tried anew. */
TEST(lines_without_memory)
{
	struct lines l;

	lines_init(&l, 1000, false);
	test_no_memory(true);
	feed(&l, "one\n", 2);
	test_no_memory(false);
	CHECK_STR(got.text, "");
	CHECK_INT(l.dropped, 1);
	feed(&l, "two\n", 2);
	CHECK_STR(got.text, "two|");
	lines_clear(&l);
}

/* Lines may be pictures. */
TEST(lines_that_were_handed_over_are_wiped)
{
	struct lines l;

	lines_init(&l, 64, false);
	got.n = 0;
	lines_feed(&l, "a picture\n", 10, on_line, NULL);
	CHECK_STR(got.text, "a picture|");
	CHECK(l.cap > 9);
	for (size_t i = 0; i < 9; i++)
		CHECK_INT(l.text[i], 0);
	lines_clear(&l);
}
