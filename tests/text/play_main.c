/* Plays scenarios of text chat: text-play [-v] FILE… */
#include <stdio.h>
#include <string.h>

#include "tests/text/scenario.h"

int main(int argc, char **argv)
{
	bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	unsigned passed = 0, failed = 0;

	for (int i = verbose ? 2 : 1; i < argc; i++) {
		struct text_scenario_result r;

		text_scenario_play(&r, argv[i], verbose ? stdout : NULL);
		passed += r.passed;
		failed += !r.passed;
		if (!r.passed)
			printf("%s:%u: %s\n", argv[i], r.line, r.why);
	}
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed || !passed;
}
