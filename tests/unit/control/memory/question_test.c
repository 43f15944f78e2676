#include "control/memory/question.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tests/test.h"

static bool is_speaker(const char *word, void *arg)
{
	(void)arg;
	return strcasecmp(word, "ana") == 0 || strcasecmp(word, "bob") == 0;
}

static const char *strip(const char *question)
{
	static char out[QUESTION_SIZE];

	question_strip(out, question, is_speaker, NULL);
	return out;
}

TEST(names_of_speakers_are_left_out)
{
	CHECK(strcmp(strip("what did Ana say  about Anatolia?"), "what did say about Anatolia?") ==
	      0);
	CHECK(strcmp(strip("what did ana say of Bob's bike"), "what did say of bike") == 0);
	CHECK(strcmp(strip("Ana"), "Ana") == 0);
	CHECK(strcmp(strip(""), "") == 0);
}

static bool is_anybody(const char *word, void *arg)
{
	(void)arg;
	return strcasecmp(word, "release") == 0 || strcmp(word, "when") == 0;
}

TEST(an_everyday_word_that_is_a_display_name_stays_in_the_question)
{
	char out[QUESTION_SIZE];

	CHECK_INT(question_strip(out, "when does the release go out", is_anybody, NULL), 0);
	CHECK_STR(out, "when does the release go out");
	CHECK_INT(question_strip(out, "when did Release say it", is_anybody, NULL), 1);
	CHECK_STR(out, "when did say it");
}

TEST(a_long_question_is_cut)
{
	char question[2 * QUESTION_SIZE];

	memset(question, 'x', sizeof question);
	memcpy(question, "a b ", 4);
	question[sizeof question - 1] = '\0';
	CHECK(strcmp(strip(question), "a b") == 0);
}

struct spans {
	char text[512];
	unsigned most;
};

static bool note_span(const char *name, size_t n, void *arg)
{
	struct spans *spans = arg;
	size_t at = strlen(spans->text);

	snprintf(spans->text + at, sizeof spans->text - at, "%.*s|", (int)n, name);
	return --spans->most > 0;
}

static const char *list_names(const char *question, unsigned most)
{
	static struct spans spans;

	spans = (struct spans){.most = most};
	question_each_name(question, note_span, &spans);
	return spans.text;
}

TEST(places_of_names_are_told)
{
	CHECK_STR(list_names("what did Mary Ann say", 99),
		  "what did Mary Ann|did Mary Ann|Mary|Mary Ann|Mary Ann say|Ann|Ann say|");
	CHECK_STR(list_names("what did Mary Ann say", 1), "what did Mary Ann|");
	CHECK_STR(list_names("the cake is ready", 99), "");
	CHECK_STR(list_names("", 99), "");
	/* Longer than any name. */
	CHECK_STR(
		list_names(
			"is it "
			"Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			99),
		"");
}
