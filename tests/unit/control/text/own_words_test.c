/* The words of a message that are its author's own. */
#include "control/text/own_words.h"

#include <string.h>

#include "tests/test.h"

static const char *own(const char *content)
{
	static char words[256];

	own_words(words, sizeof words, content);
	return words;
}

/* text rules 42 */
TEST(what_merely_contains_a_name_is_no_word_of_the_author)
{
	CHECK_STR(own("hello <:parley:123> all"), "hello   all");
	CHECK_STR(own("<a:parley_wave:1> hello"), "  hello");
	CHECK_STR(own("</parley ask:1> does it"), "  does it");
	CHECK_STR(own("thanks <@777>, <@!778> and <@&5>"), "thanks  ,   and  ");
	CHECK_STR(own("in <#5> at <t:1700000000:R> or <id:home>"), "in   at   or  ");
	CHECK_STR(own("see https://parley.chat/docs now"), "see   now");
	CHECK_STR(own("<https://parley.chat> [the docs](http://parley.chat/a) x"),
		  "< > [the docs]( ) x");
	CHECK_STR(own("run `parley --check` and ``a`parley`` then"), "run   and   then");
	CHECK_STR(own("```\nparley --check\n``` is it"), "  is it");
	CHECK_STR(own("> parley, what time is it\nlol"), " \nlol");
	CHECK_STR(own("lol\n>>> parley,\nwhat time is it"), "lol\n ");
}

TEST(what_only_looks_like_a_mark_is_the_authors_own)
{
	CHECK_STR(own("Parley, 3 <4> 5 or a<b"), "Parley, 3 <4> 5 or a<b");
	CHECK_STR(own("parley `what"), "parley `what");
	CHECK_STR(own("``` parley ` x"), "``` parley ` x");
	CHECK_STR(own("\\`parley\\` \\<:parley:1>"), "\\`parley\\` \\<:parley:1>");
	CHECK_STR(own("a > parley"), "a > parley");
	CHECK_STR(own(">parley"), ">parley");
	CHECK_STR(own("<:parley\n:1> <"), "<:parley\n:1> <");
	CHECK_STR(own(""), "");
}

TEST(own_words_have_a_cap)
{
	char words[8];

	own_words(words, sizeof words, "abcdef\xc3\xa4xyz");
	CHECK_STR(words, "abcdef");
	own_words(words, sizeof words, "````````````x");
	CHECK_STR(words, "```````");
	own_words(words, sizeof words, "\\`\\`\\`\\`\\`");
	CHECK_STR(words, "\\`\\`\\`\\");
}
