/* A scenario: plays a script (script.h) on a stage (stage.h) and checks its expectations against
 * the notes. */
#ifndef TESTS_ROOM_SCENARIO_H
#define TESTS_ROOM_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tests/room/script.h"

enum { SCENARIO_TAIL_MS = 90000 }; /* played on after the last line */

struct scenario_result {
	bool passed;
	unsigned line;	 /* of the first expectation that failed, or of what is no scenario; 0 = of
			    none */
	char why[16384]; /* one line: what failed, then the decisions that led there */
	unsigned rules;	 /* statements it names */
	unsigned rule[SCRIPT_RULES];
};

/* trace: all that was noted is printed there, NULL for nowhere. */
void scenario_play(struct scenario_result *out, const char *text, size_t n, FILE *trace);
/* The same with a file. */
void scenario_play_file(struct scenario_result *out, const char *path, FILE *trace);

#endif
