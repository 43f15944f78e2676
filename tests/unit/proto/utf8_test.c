#include "proto/base/utf8.h"

#include <string.h>

#include "tests/test.h"

TEST(utf8_counts_whole_characters_only)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";

	CHECK_INT(utf8_whole(text, 0), 0);
	CHECK_INT(utf8_whole(text, 1), 1);
	CHECK_INT(utf8_whole(text, 2), 1);
	CHECK_INT(utf8_whole(text, 3), 3);
	CHECK_INT(utf8_whole(text, 5), 3);
	CHECK_INT(utf8_whole(text, 6), 6);
	CHECK_INT(utf8_whole(text, 9), 6);
	CHECK_INT(utf8_whole(text, 10), 10);
}

TEST(utf8_copy_never_cuts_a_character)
{
	char buf[6];

	utf8_copy(buf, sizeof buf, "\xf0\x9f\x98\x80\xf0\x9f\x98\x80");
	CHECK_STR(buf, "\xf0\x9f\x98\x80");
	utf8_copy(buf, sizeof buf, "short");
	CHECK_STR(buf, "short");
	utf8_copy(buf, sizeof buf, "longer");
	CHECK_STR(buf, "longe");
	utf8_copy(buf, 1, "x");
	CHECK_STR(buf, "");
}

TEST(utf8_plain_is_one_visible_line)
{
	char text[] = "a\nb\x1b[2J\x7f"
		      "c\xc2\x9b"
		      "d\xe2\x80\xa8"
		      "e\xe2\x80\xae"
		      "f\xe2\x81\xa6"
		      "g\xc3\xa9\xe2\x82\xac";
	char cut[] = "x\xe2\x80";

	utf8_plain(text);
	CHECK_STR(text, "a b [2J c  d   e   f   g\xc3\xa9\xe2\x82\xac");
	utf8_plain(cut);
	CHECK_STR(cut, "x\xe2\x80");
}

TEST(utf8_valid_is_what_json_takes)
{
	static const char *const good[] = {"",
					   "plain",
					   "\xc3\xa9",
					   "\xe0\xa0\x80",
					   "\xed\x9f\xbf",
					   "\xee\x80\x80",
					   "\xf0\x90\x80\x80",
					   "\xf4\x8f\xbf\xbf",
					   "a\xe2\x82\xac"
					   "b"};
	static const char *const bad[] = {"\x80",
					  "\xc0\xaf",
					  "\xc1\xbf",
					  "\xc3",
					  "\xc3"
					  "a",
					  "\xe0\x9f\xbf",
					  "\xe2\x82",
					  "\xed\xa0\x80",
					  "\xf0\x8f\xbf\xbf",
					  "\xf4\x90\x80\x80",
					  "\xf5\x80\x80\x80",
					  "\xff",
					  "ok\xe9"};

	for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++)
		CHECK(utf8_valid(good[i]));
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK(!utf8_valid(bad[i]));
}

TEST(characters_are_written_in_their_shortest_form)
{
	static const struct {
		uint32_t c;
		const char *text;
	} rows[] = {{'a', "a"},
		    {0x7f, "\x7f"},
		    {0x80, "\xc2\x80"},
		    {0x7ff, "\xdf\xbf"},
		    {0x800, "\xe0\xa0\x80"},
		    {0xffff, "\xef\xbf\xbf"},
		    {0x10000, "\xf0\x90\x80\x80"},
		    {0x10ffff, "\xf4\x8f\xbf\xbf"},
		    {0xd800, "\xef\xbf\xbd"},
		    {0x110000, "\xef\xbf\xbd"}};
	char to[4];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t n = utf8_write(to, rows[i].c);

		CHECK_MEM(to, n, rows[i].text, strlen(rows[i].text));
	}
}

TEST(bytes_that_are_no_utf8_are_read_as_latin1)
{
	char to[8];

	utf8_copy_or_latin1(to, sizeof to, "caf\xc3\xa9", 5);
	CHECK_STR(to, "caf\xc3\xa9");
	utf8_copy_or_latin1(to, sizeof to, "caf\xe9", 4);
	CHECK_STR(to, "caf\xc3\xa9");
	utf8_copy_or_latin1(to, sizeof to, "a\0b", 3);
	CHECK_STR(to, "a");
	/* Never half a character. */
	utf8_copy_or_latin1(to, sizeof to, "\xe9\xe9\xe9\xe9\xe9", 5);
	CHECK_STR(to, "\xc3\xa9\xc3\xa9\xc3\xa9");
}
