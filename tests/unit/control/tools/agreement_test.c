/* What counts as a spoken yes. */
#include "control/tools/agreement.h"

#include "tests/test.h"

TEST(a_yes_begins_the_words_and_nothing_refuses)
{
	static const char *const agree[] = {"yes",
					    "Yes.",
					    "Parley, yes",
					    "yeah do it",
					    "OK go ahead",
					    "ja bitte",
					    "oui",
					    "s\xc3\xad, claro",
					    "\xe3\x81\xaf\xe3\x81\x84",
					    "\xd0\x94\xd0\xb0"};
	static const char *const refuse[] = {"",
					     "no",
					     "yes no wait",
					     "yes, but do not send it",
					     "I said that the answer was yes",
					     "what does yes mean",
					     "ja nein",
					     "the yesterday one",
					     "okay so I was thinking that we might go out later"};

	for (size_t i = 0; i < sizeof agree / sizeof agree[0]; i++)
		CHECK(tool_agrees(agree[i]));
	for (size_t i = 0; i < sizeof refuse / sizeof refuse[0]; i++)
		CHECK(!tool_agrees(refuse[i]));
}
