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

/* Discord shows no blanks before the first item, so the others may not keep theirs. */
TEST(an_inner_list_that_is_split_stays_one_list)
{
	char text[8192], *at = stpcpy(text, "1. outer\n");

	for (unsigned i = 0; i < 12; i++) {
		at = stpcpy(at, "  - ");
		repeat(at, "item ", 40);
		at = stpcpy(at + strlen(at), "\n    - below\n");
	}
	strcpy(at, "  ```\n  code\n  ```\n2. next\n  - of it\n");
	split_all(text);
	CHECK_INT(n_parts, 2);
	CHECK(strncmp(parts[0], "1. outer\n  - item", 17) == 0);
	CHECK(strncmp(parts[1], "- item", 6) == 0);
	CHECK(strstr(parts[1], "\n  - below\n- item") != NULL);
	CHECK(strstr(parts[1], "\n    - below") == NULL);
	CHECK(strstr(parts[1], "\n```\n  code\n  ```\n2. next\n  - of it") != NULL);
}

/* What stands further out than the first item is no part of it. */
TEST(an_item_further_out_does_not_come_below_the_first)
{
	char text[8192], *at = stpcpy(text, "- outer\n  - inner\n");

	repeat(at, "    - item of the third list\n", 100);
	strcat(text, "  - inner\n    - third\n- outer\n");
	split_all(text);
	CHECK_INT(n_parts, 2);
	CHECK(strncmp(parts[1], "- item of the third list\n- item", 31) == 0);
	CHECK(strstr(parts[1], "\n- inner\n  - third\n- outer") != NULL);
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

/* Marks of spoilers outside of code, as Discord pairs them. */
static unsigned count_spoilers(const char *text)
{
	unsigned n = 0;

	while (*text) {
		size_t run = strspn(text, "`");
		const char *end = NULL;

		if (run >= 3) {
			end = strstr(text + 3, "```");
			text = end ? end + 3 : text + run;
		} else if (run) {
			for (const char *p = text + run;
			     !end && *p && *p != '\n' && strncmp(p, "```", 3) != 0; p++)
				if (strspn(p, "`") == run && p[-1] != '`')
					end = p;
			text = end ? end + run : text + run;
		} else if (strncmp(text, "||", 2) == 0) {
			n++;
			text += 2;
		} else {
			text++;
		}
	}
	return n;
}

static void check_spoilers(void)
{
	for (size_t i = 0; i < n_parts; i++)
		CHECK_INT(count_spoilers(parts[i]) % 2, 0);
}

TEST(a_spoiler_that_is_split_hides_every_part)
{
	char text[8192], *at = stpcpy(text, "The end is ||");

	repeat(at, "secret words ", 300);
	strcat(text, "|| as you know.");
	split_all(text);
	CHECK_INT(n_parts, 2);
	check_spoilers();
	CHECK(strncmp(parts[1], "||secret", 8) == 0 || strncmp(parts[1], "||words", 7) == 0);
	CHECK(strstr(parts[1], "|| as you know.") != NULL);
	at = stpcpy(text, "||");
	for (unsigned i = 0; i < 5; i++) {
		repeat(at, "A paragraph. ", 70);
		at += strlen(at);
		at = stpcpy(at, "\n\n");
	}
	strcpy(at - 2, "||");
	split_all(text);
	CHECK_INT(n_parts, 3);
	check_spoilers();
	for (size_t i = 0; i < n_parts; i++) {
		CHECK(strncmp(parts[i], "||A par", 7) == 0);
		CHECK(strcmp(parts[i] + strlen(parts[i]) - 2, "||") == 0);
	}
}

/* As in Discord, what never ends hides nothing. */
TEST(bars_that_are_no_spoiler_are_left_alone)
{
	char text[8192], *at = stpcpy(text, "Write a || b or `c || d`. ");

	repeat(at, "More words. ", 300);
	split_all(text);
	CHECK_INT(n_parts, 2);
	CHECK(strstr(parts[0], "Write a || b or `c || d`.") == parts[0]);
	CHECK(!strchr(parts[1], '|'));
	CHECK(!strstr(parts[0] + 20, "||More") && parts[0][strlen(parts[0]) - 1] == '.');
}

static unsigned count_of(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

TEST(a_link_bold_text_and_what_stands_in_brackets_stay_whole)
{
	static const char *const whole[] = {
		"[the official documentation of it](https://example.org/a_page)",
		"**wichtig und fett gesetzt hier**", "<https://example.org/a/page/of/it>",
		"`a piece of code that is long`", "<t:1700000000:R>"};
	char text[8192];

	for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
		for (unsigned before = 0; before < 80; before++) {
			char *at = text;

			repeat(at, "word ", 382);
			at += strlen(at);
			memset(at, 'x', before);
			at += before;
			*at++ = ' ';
			for (unsigned k = 0; k < 4; k++)
				at = stpcpy(stpcpy(at, whole[i]), " and ");
			repeat(at, "then ", 40);
			split_all(text);
			CHECK_INT(n_parts, 2);
			CHECK_INT(count_of(parts[0], whole[i]) + count_of(parts[1], whole[i]), 4);
		}
}

TEST(bold_text_that_is_longer_than_a_message_is_bold_in_each)
{
	char text[8192], *at = stpcpy(text, "**");

	repeat(at, "wichtig ", 400);
	strcat(text, "**");
	split_all(text);
	CHECK_INT(n_parts, 2);
	CHECK(strncmp(parts[1], "**wichtig", 9) == 0);
	CHECK(strcmp(parts[0] + strlen(parts[0]) - 9, "wichtig**") == 0);
}

TEST(lines_of_bold_text_stay_together)
{
	char text[8192], *at = text;

	repeat(at, "A line of words.\n", 100);
	at += strlen(at);
	at = stpcpy(at, "**It is bold\n");
	repeat(at, "line after line\n", 30);
	strcat(text, "to its end.** And more.");
	split_all(text);
	CHECK_INT(n_parts, 2);
	CHECK(strncmp(parts[1], "**It is bold\nline", 17) == 0);
	CHECK(!strchr(parts[0], '*'));
}

/* An empty spoiler is shown as bars, and a bar alone opens none. */
TEST(bars_are_not_divided_nor_left_without_words)
{
	char text[8192];

	for (unsigned before = 1900; before < 2010; before++)
		for (unsigned gap = 0; gap < 3; gap++) {
			char *at = text;

			memset(at, 'x', before);
			at = stpcpy(at + before, gap == 1 ? " ||" : gap ? "\n||\n" : "||");
			repeat(at, gap ? "hidden " : "hidden", 20);
			at += strlen(at);
			at = stpcpy(at, gap == 2 ? "\n|| " : "||");
			memset(at, 'y', 200);
			at[200] = '\0';
			split_all(text);
			CHECK_INT(n_parts, 2);
			check_spoilers();
			CHECK(!strstr(parts[0], "||||") && !strstr(parts[1], "||||"));
		}
}

TEST(a_quote_goes_on_in_the_next_message)
{
	char text[8192], *at = stpcpy(text, "> ");

	repeat(at, "quoted ", 400);
	split_all(text);
	CHECK_INT(n_parts, 2);
	CHECK(strncmp(parts[1], "> quoted", 8) == 0);
	strcat(text, "\nNot of it.");
	split_all(text);
	CHECK(strstr(parts[1], "\nNot of it.") != NULL);
	at = stpcpy(text, ">>> ");
	for (unsigned i = 0; i < 4; i++) {
		repeat(at, "All of it. ", 80);
		at += strlen(at);
		at = stpcpy(at, "\n\n");
	}
	split_all(text);
	CHECK_INT(n_parts, 2);
	CHECK(strncmp(parts[1], ">>> All", 7) == 0);
}

TEST(a_sentence_ends_a_part_also_without_blanks)
{
	static char text[3 * 4096];
	size_t n;

	for (unsigned shift = 0; shift < 30; shift++) {
		memset(text, 'x', shift);
		repeat(text + shift, "これは長い文章です。とても「長い！」のです？", 120);
		split_all(text);
		CHECK(n_parts > 1);
		for (size_t i = 0; i + 1 < n_parts; i++) {
			n = strlen(parts[i]);
			CHECK(n > 6 &&
			      (!strcmp(parts[i] + n - 3, "。") || !strcmp(parts[i] + n - 3, "？") ||
			       !strcmp(parts[i] + n - 6, "！」")));
		}
	}
	repeat(text, "One two three four five six. ", 100);
	split_all(text);
	for (size_t i = 0; i < n_parts; i++)
		CHECK(parts[i][strlen(parts[i]) - 1] == '.' || i + 1 == n_parts);
}

TEST(parts_of_any_text_lay_no_spoiler_open)
{
	static const char *const tokens[] = {"WORD ",
					     "A",
					     "\n",
					     "\n\n",
					     "```\nX\n```\n",
					     "`X` ",
					     "||YES|| ",
					     "||",
					     "**",
					     "> ",
					     "- ",
					     "[A B](C) ",
					     "<A> ",
					     "LONGERWORD. ",
					     "あ。",
					     "`A || B` ",
					     "``A`B`` ",
					     "a*b ",
					     "WORD WORD WORD ",
					     "A B C D "};
	static char text[16384], whole[16384], joined[16384];
	uint64_t random = 9;

	for (unsigned run = 0; run < 3000; run++) {
		size_t n = 0, have = 0;

		while (n < 3000 + random_below(&random, 6000))
			n += (size_t)sprintf(text + n, "%s", tokens[random_below(&random, 20)]);
		if (count_spoilers(text) % 2)
			strcat(text, "||");
		split_all(text);
		for (size_t i = 0; i < n_parts; i++) {
			CHECK_INT(count_fences(parts[i]) % 2, 0);
			if (count_spoilers(parts[i]) % 2) {
				test_fail(__FILE__, __LINE__, "run %u part %zu of %zu:\n%s", run, i,
					  n_parts, parts[i]);
				return;
			}
			have += bare_words(joined + have, parts[i]);
		}
		bare_words(whole, text);
		CHECK_STR(joined, whole);
	}
}
