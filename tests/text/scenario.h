/* Scenarios of text chat: text files (tests/scenarios/text/NAME.text) that play people, the model
 * and Discord against the core, and say what must happen. docs/text.md has the lines. */
#ifndef TESTS_TEXT_SCENARIO_H
#define TESTS_TEXT_SCENARIO_H

#include <stdbool.h>
#include <stdio.h>

struct text_scenario_result {
	bool passed;
	unsigned line; /* of the expectation that failed, or of what is no scenario */
	char why[2048];
};

/* trace: all that happened is printed there, NULL for nowhere. */
void text_scenario_play(struct text_scenario_result *out, const char *path, FILE *trace);

#endif
