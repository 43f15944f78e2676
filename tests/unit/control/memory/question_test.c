#include "control/memory/question.h"

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
	CHECK(strcmp(strip("ana's bike, bob?"), "bike,") == 0);
	CHECK(strcmp(strip("Ana"), "Ana") == 0);
	CHECK(strcmp(strip(""), "") == 0);
}

TEST(a_long_question_is_cut)
{
	char question[2 * QUESTION_SIZE];

	memset(question, 'x', sizeof question);
	memcpy(question, "a b ", 4);
	question[sizeof question - 1] = '\0';
	CHECK(strcmp(strip(question), "a b") == 0);
}
