/* Long answers in parts: within Discord's limit, with nothing lost, code blocks whole. */
#include "control/text/split.h"

#include "proto/base/utf8.h"
#include "tests/random.h"
#include "tests/test.h"

static char parts[64][SPLIT_BYTES];
static size_t n_parts;

static size_t units(const char *text)
{
	size_t n = 0;

	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		n += *p >= 0xf0 ? 2 : (*p & 0xc0) != 0x80;
	return n;
}

static void split_all(const char *text)
{
	struct split s;

	n_parts = 0;
	split_begin(&s, text);
	while (n_parts < 64 && split_next(&s, parts[n_parts])) {
		CHECK(units(parts[n_parts]) <= SPLIT_UNITS);
		CHECK(utf8_valid(parts[n_parts]));
		CHECK(parts[n_parts][0] != '\0');
		n_parts++;
	}
}

static void repeat(char *to, const char *text, unsigned times)
{
	*to = '\0';
	for (unsigned i = 0; i < times; i++)
		to = stpcpy(to, text);
}

/* Marks that open or close a block: Discord sees them anywhere in a line. */
static unsigned count_fences(const char *text)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, "```")); p += 3)
		n++;
	return n;
}

TEST(a_short_answer_is_one_message)
{
	split_all("It is ten past four.\n\n- one\n- two");
	CHECK_INT(n_parts, 1);
	CHECK_STR(parts[0], "It is ten past four.\n\n- one\n- two");
	split_all("\n \n");
	CHECK_INT(n_parts, 0);
	CHECK_INT(split_count(""), 0);
}

TEST(a_long_answer_is_split_between_paragraphs)
{
	char text[8192], *at = text;

	for (unsigned i = 0; i < 4; i++) {
		repeat(at, "Some words here. ", 50);
		at += strlen(at);
		at = stpcpy(at, "\n\n");
	}
	split_all(text);
	CHECK_INT(n_parts, 2);
	CHECK_INT(strlen(parts[0]), 2 * 850 + 2 - 1);
	CHECK(strncmp(parts[1], "Some", 4) == 0);
}

TEST(an_item_of_a_list_stays_whole)
{
	char text[8192], *at = text;

	for (unsigned i = 0; i < 8; i++) {
		at = stpcpy(at, "- ");
		repeat(at, "item ", 60);
		at += strlen(at);
		at = stpcpy(at, "\n  and how it goes on\n");
	}
	split_all(text);
	CHECK_INT(n_parts, 2);
	CHECK(strncmp(parts[1], "- item", 6) == 0);
}

TEST(a_code_block_that_is_split_is_closed_and_opened_again)
{
	static char text[16384];
	char *at = stpcpy(text, "Look:\n```c\n");

	repeat(at, "\tint x = 1;\n", 300);
	strcat(text, "```\nThat is all.");
	split_all(text);
	CHECK(n_parts >= 2);
	for (size_t i = 0; i < n_parts; i++) {
		CHECK_INT(count_fences(parts[i]) % 2, 0);
		if (i)
			CHECK(strncmp(parts[i], "```c\n\tint", 9) == 0);
	}
	CHECK(strstr(parts[n_parts - 1], "\n```\nThat is all.") != NULL);
}

TEST(a_code_block_that_fits_is_not_split)
{
	static char text[16384];
	char *at = text;

	repeat(at, "Words before it.\n", 90);
	at += strlen(at);
	at = stpcpy(at, "```\n");
	repeat(at, "code\n", 100);
	strcat(text, "```");
	split_all(text);
	CHECK_INT(n_parts, 2);
	CHECK_INT(count_fences(parts[0]), 0);
	CHECK(strncmp(parts[1], "```\ncode", 8) == 0);
}

TEST(a_text_without_blanks_is_split_after_whole_characters)
{
	static char text[3 * 4096 + 1];

	repeat(text, "\xe6\xbc\xa2", 4096);
	split_all(text);
	CHECK_INT(n_parts, 3);
	repeat(text, "\xf0\x9f\x9b\x91", 3000);
	split_all(text);
	CHECK_INT(n_parts, 4);
}

/* Whatever the text, what is not blank comes through, in its order. */
TEST(no_word_is_lost)
{
	static const char *const pieces[] = {"word ",	 "\n", "\n\n",	  "- item\n",
					     "  more\n", "x",  "\xc3\xa4"};
	static char text[12000], all[64 * SPLIT_BYTES];
	uint64_t r = 7;

	for (unsigned round = 0; round < 300; round++) {
		char *at = text, *from = text, *to = all;

		while (at < text + sizeof text - 16)
			at = stpcpy(at, pieces[random_below(&r, 7)]);
		split_all(text);
		for (size_t i = 0; i < n_parts; i++)
			to = stpcpy(to, parts[i]);
		for (to = all; *from || *to; from++, to++) {
			from += strspn(from, " \n");
			to += strspn(to, " \n");
			if (*from != *to) {
				test_fail(__FILE__, __LINE__, "round %u: \"%.20s\"", round, from);
				return;
			}
			if (!*from)
				break;
		}
	}
}

/* Whether it stands in a list or behind words, a block that is divided is closed and opened again.
 */
TEST(a_block_in_the_middle_of_a_line_stays_whole)
{
	static const char *const before[] = {"1. so:\n   ```python\n", "Here: ```js\n", "- ```\n"};
	char text[8192];

	for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
		char *end = stpcpy(text, before[i]);

		repeat(end, "   print(1)\n", 300);
		strcat(text, "   ```\nThat was all.");
		split_all(text);
		CHECK_INT(n_parts, 2);
		CHECK_INT(count_fences(parts[0]), 2);
		CHECK_INT(count_fences(parts[1]), 2);
		CHECK(strncmp(parts[1],
			      i == 0   ? "```python\n"
			      : i == 1 ? "```js\n"
				       : "```\n",
			      i == 0   ? 10
			      : i == 1 ? 6
				       : 4) == 0);
	}
}

/* What is left of a text without marks and blanks. */
static size_t bare_words(char *to, const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		if (*text >= 'A' && *text <= 'Z')
			to[n++] = *text;
	to[n] = '\0';
	return n;
}

TEST(parts_of_any_text_close_the_blocks_that_they_open)
{
	static const char *const tokens[] = {"WORD ",	   "A",	      "\n",   "\n\n", "```",
					     "```js\n",	   "\n```\n", "- ",   "`",    "    ",
					     "LONGERWORD", "```X```", "x y\n"};
	static char text[16384], whole[16384], joined[16384];
	uint64_t random = 7;

	for (unsigned run = 0; run < 2000; run++) {
		size_t n = 0, have = 0;

		while (n < 3000 + random_below(&random, 6000))
			n += (size_t)sprintf(text + n, "%s", tokens[random_below(&random, 13)]);
		split_all(text);
		for (size_t i = 0; i < n_parts; i++) {
			if (n_parts > 1)
				CHECK_INT(count_fences(parts[i]) % 2, 0);
			have += bare_words(joined + have, parts[i]);
		}
		bare_words(whole, text);
		CHECK_STR(joined, whole);
	}
}
