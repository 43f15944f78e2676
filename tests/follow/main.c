/* dave-follow: plays a member of recorded DAVE groups and compares every step. */
#include <stdio.h>
#include <string.h>

#include "tests/follow/follow.h"

enum { SAME = 0, DIFFERENT = 1, USAGE = 2 };

static const char usage[] = "usage: dave-follow FILE.json...\n"
			    "\n"
			    "Plays the follower of recorded DAVE groups, whose private keys are in "
			    "the files, and compares at every step: epoch,\n"
			    "tree hash, confirmed transcript hash, exporter secret, membership "
			    "key, epoch authenticator, privacy code, every\n"
			    "sender's base secret and first two keys, fingerprints and "
			    "verification codes; and opens every frame. Prints one\n"
			    "line a step.\n"
			    "\n"
			    "  --help     this text\n"
			    "  --version  the version\n"
			    "\n"
			    "Exit status: 0 everything matches, 1 something differs, 2 wrong usage "
			    "or a file that cannot be played.\n";

int main(int argc, char **argv)
{
	struct follow_tally t = {0};
	int status = SAME;

	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return fputs(usage, stdout) < 0;
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts("dave-follow (Parley) " PARLEY_VERSION) < 0;
	if (argc < 2)
		return fputs(usage, stderr), USAGE;
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-')
			continue;
		fprintf(stderr, "dave-follow: unknown option %s\n%s", argv[i], usage);
		return USAGE;
	}
	for (int i = 1; i < argc; i++) {
		const char *wrong = follow_run(&t, argv[i], stdout);

		if (!wrong)
			continue;
		fprintf(stderr, "dave-follow: %s: %s\n", argv[i], wrong);
		status = USAGE;
	}
	if (status == SAME && t.failed)
		status = DIFFERENT;
	printf("%u passed, %u failed\n", t.steps - t.failed, t.failed);
	return status;
}
