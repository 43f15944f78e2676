/* mls-vectors: runs the IETF's test vectors of MLS against mediad/mls. */
#include <stdio.h>
#include <string.h>

#include "tests/vectors/runner.h"

enum { FINE = 0, BAD = 1, USAGE = 2 };

static const char usage[] = "usage: mls-vectors FILE.json...\n"
			    "\n"
			    "Runs test vectors of MLS (RFC 9420) as the IETF publishes them. The "
			    "kind is known by the file's name up to its\n"
			    "first dot, e.g. treekem.suite2.json. Prints one line per file, and "
			    "below it why something was skipped.\n"
			    "\n"
			    "  --help     this text\n"
			    "  --version  the version\n"
			    "\n"
			    "Exit status: 0 nothing failed and nothing was skipped that must pass, "
			    "1 otherwise, 2 wrong usage or a file that\n"
			    "cannot be read.\n";

static int run(const char *path)
{
	struct vec_tally t;
	const char *wrong = vec_run(&t, path);

	if (wrong) {
		fprintf(stderr, "mls-vectors: %s: %s\n", path, wrong);
		return USAGE;
	}
	vec_print(&t, path);
	return t.failed || t.missing ? BAD : FINE;
}

int main(int argc, char **argv)
{
	int status = FINE;

	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return fputs(usage, stdout) < 0;
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts("mls-vectors (Parley) " PARLEY_VERSION) < 0;
	if (argc < 2)
		return fputs(usage, stderr), USAGE;
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-')
			continue;
		fprintf(stderr, "mls-vectors: unknown option %s\n%s", argv[i], usage);
		return USAGE;
	}
	for (int i = 1; i < argc; i++) {
		int s = run(argv[i]);

		status = s > status ? s : status;
	}
	return status;
}
