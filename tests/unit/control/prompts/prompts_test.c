/* Prompts are reviewed text with a version. */
#include "control/prompts/prompts.def"

#include <stdint.h>
#include <string.h>

#include "tests/test.h"

static const char *const texts[] = {
#define X(NAME, text) text,
	PROMPTS(X)
#undef X
};

/* Who changes a text raises PROMPTS_VERSION and puts the new sum here. */
TEST(every_text_belongs_to_the_version)
{
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		for (const char *p = texts[i]; *p; p++)
			sum = (sum ^ (uint8_t)*p) * 16777619u;
	CHECK_INT(PROMPTS_VERSION, 38);
	CHECK_INT(sum, 1226120936);
}

TEST(the_contract_teaches_every_directive)
{
	static const char *const marks[] = {"[[TO: SPEAKER]]",	    "[[TO: ALL]]",
					    "[[TO: name]]",	    "[SKIP]",
					    "[[LEASE: ASSERTIVE]]", "[[LEASE: ATOMIC]]"};

	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		CHECK(strstr(PROMPT_CONTRACT, marks[i]));
	CHECK(strstr(PROMPT_SOUNDS, "[[SOUNDBOARD: name]]"));
	CHECK(!strstr(PROMPT_CONTRACT PROMPT_CONTRACT_END, "SOUNDBOARD"));
	CHECK(strstr(PROMPT_THOUGHT, "[SKIP]"));
}
