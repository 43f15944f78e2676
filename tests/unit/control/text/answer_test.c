/* What a model wrote: words, or one of the ways to say nothing. */
#include <stdio.h>

#include "control/settings/settings.h"
#include "control/text/text_chat.h"
#include "tests/test.h"

static struct settings *s;

static enum text_words reads(const char *said, bool required, const char **words)
{
	static char cut[128];
	size_t n;
	enum text_words read;

	*words = said;
	read = text_answer_read(s, "Parley", required, words, &n);
	if (required && read == TEXT_WORDS_SAID) {
		snprintf(cut, sizeof cut, "%.*s", (int)n, *words);
		*words = cut;
	}
	return read;
}

TEST(each_way_to_write_that_nothing_is_said_is_one)
{
	static const char *const skips[] = {"[SKIP]",
					    "[skip]",
					    "SKIP",
					    "Skip.",
					    "**SKIP**",
					    "(SKIP)",
					    "( skip )",
					    "[ SKIP ]",
					    "[*SKIP*]",
					    "[SKIP: nothing to add]",
					    "[SKIP - no]",
					    "[NO REPLY]",
					    "[no_reply]",
					    "NO REPLY",
					    "(no reply)",
					    "`[SKIP]`",
					    "[Parley]: [SKIP]",
					    "Parley: SKIP",
					    "Fine.\nSKIP",
					    "Nothing. [SKIP]",
					    "Nothing.\n\n[SKIP: really].",
					    "[SKIP] not for me"};
	const char *words;

	CHECK_INT(settings_alloc(&s), 0);
	for (size_t i = 0; i < sizeof skips / sizeof skips[0]; i++)
		if (reads(skips[i], false, &words) != TEXT_WORDS_SKIP)
			test_fail(__FILE__, __LINE__, "\"%s\" is taken for an answer", skips[i]);
	settings_free(s);
}

TEST(words_that_only_look_like_it_are_an_answer)
{
	static const char *const answers[] = {"Skip the soup.",
					      "[SKIPPER]",
					      "Skipper",
					      "[the skip] is good",
					      "(skip this step) Go.",
					      "[SKIP",
					      "No reply came so far.",
					      "No",
					      "[NO]",
					      "See [1].",
					      "Skip it.\nOr not.",
					      "Say skip",
					      "[]",
					      "()"};
	const char *words;

	CHECK_INT(settings_alloc(&s), 0);
	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
		if (reads(answers[i], false, &words) != TEXT_WORDS_SAID || words != answers[i])
			test_fail(__FILE__, __LINE__, "\"%s\" is left out", answers[i]);
	settings_free(s);
}

/* Who must be answered gets the words, and may be told to skip. */
TEST(a_required_answer_is_what_stands_beside_the_mark)
{
	const char *words;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(reads("[SKIP: no] It is four.", true, &words), TEXT_WORDS_SAID);
	CHECK_STR(words, "It is four.");
	CHECK_INT(reads("Skip.", true, &words), TEXT_WORDS_SAID);
	CHECK_STR(words, "Skip.");
	CHECK_INT(reads("SKIP", true, &words), TEXT_WORDS_SKIP);
	CHECK_INT(reads("[SKIP: no]", true, &words), TEXT_WORDS_SKIP);
	CHECK_INT(reads("It is four. [SKIP]", true, &words), TEXT_WORDS_SAID);
	CHECK_STR(words, "It is four.");
	CHECK_INT(reads("**It is four** **[skip: done]**.\n", true, &words), TEXT_WORDS_SAID);
	CHECK_STR(words, "**It is four**");
	CHECK_INT(reads("[SKIP] It is **four**[SKIP]", true, &words), TEXT_WORDS_SAID);
	CHECK_STR(words, "It is **four**");
	CHECK_INT(reads("It is four [1].", true, &words), TEXT_WORDS_SAID);
	CHECK_STR(words, "It is four [1].");
	CHECK_INT(reads("It is four. [SKIP - done]", true, &words), TEXT_WORDS_SAID);
	CHECK_STR(words, "It is four.");
	CHECK_INT(reads("[SKIP] [SKIP]", true, &words), TEXT_WORDS_SKIP);
	CHECK_INT(reads(" \n", true, &words), TEXT_WORDS_NONE);
	settings_free(s);
}

/* What a required answer ends with may be the name of a button. */
TEST(an_answer_that_ends_with_a_button_keeps_it)
{
	static const char *const answers[] = {"Click [Skip Intro].", "Click [SKIP AD].",
					      "It says [No reply needed].", "Choose [Skip].",
					      "Press [skip]"};
	const char *words;

	CHECK_INT(settings_alloc(&s), 0);
	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
		CHECK_INT(reads(answers[i], true, &words), TEXT_WORDS_SAID);
		CHECK_STR(words, answers[i]);
	}
	settings_free(s);
}

TEST(a_label_with_the_bots_name_is_no_part_of_an_answer)
{
	static const struct {
		const char *said, *words;
	} rows[] = {{"Parley: four", "four"},
		    {"[Parley]: four", "four"},
		    {"[parley] four", "four"},
		    {"**Parley:** four", "four"},
		    {"**Parley**: four", "four"},
		    {"*Parley*:\nfour", "four"},
		    {"Robin the Bot: four", "four"},
		    {"Parley is four", "Parley is four"},
		    {"Parleys: four", "Parleys: four"},
		    {"[Alice]: four", "[Alice]: four"},
		    {"**Parley: four**", "**Parley: four**"},
		    {"[Parley four", "[Parley four"},
		    {"**Parley** says: four", "**Parley** says: four"}};
	const char *words;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(settings_set(s, "bot_name", "Robin the Bot"), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		reads(rows[i].said, false, &words);
		CHECK_STR(words, rows[i].words);
	}
	settings_free(s);
}
