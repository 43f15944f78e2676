/* room-play: plays scenarios of the room, one line each: the file, pass, or the first expectation
 * that failed with the decisions that led there.
 *
 *   room-play [-v] [--rules] FILE…     -v: print what happened; --rules: print the statements each
 * file names, play nothing
 *
 * Exit status: 0 all passed, 1 one did not, 2 usage. */
#include <stdio.h>
#include <string.h>

#include "tests/room/scenario.h"

int main(int argc, char **argv)
{
	static struct scenario_result r;
	bool verbose = false, rules = false;
	int first = 1, failed = 0;

	for (; first < argc && argv[first][0] == '-'; first++) {
		verbose = verbose || strcmp(argv[first], "-v") == 0;
		rules = rules || strcmp(argv[first], "--rules") == 0;
		if (!verbose && !rules)
			break;
	}
	if (first >= argc || argv[first][0] == '-') {
		fprintf(stderr, "usage: room-play [-v] [--rules] FILE…\n");
		return 2;
	}
	for (int i = first; i < argc; i++) {
		scenario_play_file(&r, argv[i], verbose ? stdout : NULL);
		failed += !r.passed;
		if (rules) {
			for (unsigned k = 0; k < r.rules; k++)
				printf("%u %s\n", r.rule[k], argv[i]);
			continue;
		}
		if (r.passed)
			printf("%s: pass\n", argv[i]);
		else if (r.line)
			printf("%s:%u: %s\n", argv[i], r.line, r.why);
		else
			printf("%s: %s\n", argv[i], r.why);
	}
	if (!rules)
		printf("%d passed, %d failed, 0 skipped\n", argc - first - failed, failed);
	return failed ? 1 : 0;
}
