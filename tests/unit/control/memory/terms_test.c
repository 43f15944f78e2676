#include "control/memory/terms.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static const char *indexed(const char *text)
{
	static char out[512];
	char *terms = terms_index(text, strlen(text));

	snprintf(out, sizeof out, "%s", terms ? terms : "(none)");
	free(terms);
	return out;
}

static const char *asked(const char *question)
{
	static char query[TERMS_QUERY_MAX];

	terms_query(query, question);
	return query;
}

TEST(runs_without_blanks_are_indexed_in_pairs)
{
	CHECK_STR(indexed("the release"), "the release");
	CHECK_STR(indexed("東京都 is big"), " 東京 京都  is big");
	CHECK_STR(indexed("字"), " 字");
	CHECK_STR(indexed("a字b"), "a 字 b");
	CHECK_STR(indexed("会議は四時"), " 会議 議は は四 四時");
	CHECK_STR(indexed(""), "");
	CHECK_STR(indexed("caf\xc3\xa9 \xff x"), "caf\xc3\xa9 \xff x");
}

TEST_OOM(texts_are_indexed_or_not_at_all)
{
	free(terms_index("会議", 6));
}

TEST(a_question_asks_for_its_content_words)
{
	CHECK_STR(asked("What did Ana say about the release?"), "\"ana\" OR \"release\"");
	CHECK_STR(asked("what was that"), "");
	CHECK_STR(asked("\"quoted\" OR (x* NEAR w)"), "\"quoted\" OR \"x\" OR \"near\" OR \"w\"");
	CHECK_STR(asked("会議はいつですか"), "\"会議\" OR \"議は\"");
	CHECK_STR(asked("字"), "\"字\"*");
	CHECK_STR(asked("회의가 언제"), "\"회의\" OR \"의가\" OR \"언제\"");
}

TEST(a_question_of_any_length_fits)
{
	char question[8000], query[TERMS_QUERY_MAX];

	for (size_t i = 0; i < sizeof question - 1; i++)
		question[i] = i % 7 == 6 ? ' ' : (char)('a' + (i / 7 + i) % 26);
	question[sizeof question - 1] = '\0';
	CHECK_INT(terms_query(query, question), TERMS_MAX);
	memset(question, 'a', sizeof question - 1);
	CHECK_INT(terms_query(query, question), 0);
}
