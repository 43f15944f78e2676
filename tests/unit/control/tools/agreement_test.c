/* Words that count as a spoken yes. */
#include "control/tools/agreement.h"

#include <string.h>

#include "tests/test.h"

TEST(a_yes_is_words_of_consent_alone)
{
	static const char *const agree[] = {
		"yes",
		"Yes.",
		"Parley, yes",
		"yes please, Parley!",
		"yeah do it",
		"OK go ahead",
		"go ahead",
		"Absolutely.",
		"do it",
		"Yes, yes, of course, please do, go ahead, Parley, do it now!",
		"that\u2019s fine",
		"ja bitte",
		"oui",
		"D\u2019accord",
		"s\u00ed, claro",
		"S\u00cd",
		"\u0414\u0410",
		"\u0414\u0430",
		"\u306f\u3044",
		"\u306f\u3044\u3002",
		"\u306f\u3044\u3001\u304a\u9858\u3044\u3057\u307e\u3059",
		"\u597d\u7684\u3002",
		"\ub124, \uc88b\uc544\uc694",
	};

	for (size_t i = 0; i < sizeof agree / sizeof agree[0]; i++)
		if (!tool_agrees(agree[i], "Parley"))
			test_fail(__FILE__, __LINE__, "%s", agree[i]);
	CHECK(tool_agrees("ja, Frau Meyer", "Frau Meyer"));
	CHECK(tool_agrees("yes", ""));
}

TEST(any_other_word_makes_it_no_yes)
{
	static const char *const refuse[] = {
		"",
		"Parley",
		"please",
		"no",
		"yes no wait",
		"yes, but do not send it",
		"I said that the answer was yes",
		"what does yes mean",
		"ja nein",
		"the yesterday one",
		"yesterday",
		"okay so I was thinking that we might go out later",
		"ok forget it",
		"ok leave it",
		"ok don\u2019t do it",
		"ok abort",
		"sure but wrong one",
		"ok lass das",
		"oui annule",
		"okay thanks",
		"ok parley what time is it",
		"sure what's the weather",
		"\u3044\u3044\u3048",
		"\u662f\u4e0d\u662f",
		"\uc544\ub2c8",
	};
	char flood[2000];

	for (size_t i = 0; i < sizeof refuse / sizeof refuse[0]; i++)
		if (tool_agrees(refuse[i], "Parley"))
			test_fail(__FILE__, __LINE__, "%s", refuse[i]);
	for (size_t i = 0; i + 4 < sizeof flood; i += 4)
		memcpy(flood + i, "yes ", 5);
	CHECK(!tool_agrees(flood, "Parley"));
	CHECK(!tool_agrees("yes \xe3", "Parley"));
}
