/* room-explore: what a room does whatever comes.
 *
 *   room-explore [--steps N | --seconds N] [--seed S] [--depth N] [--jobs N] [--often N] [--out
 * FILE]
 *
 * First every order of --depth ops (2) and every interleaving of some scenes (both not with --depth
 * 0), then random runs until N of their steps changed something, or each process has used N seconds
 * of processor time, so that a run explores as much on a busy machine, but takes longer: with more
 * jobs than free processors, jobs divided by processors times as long, but no longer than PATIENCE
 * times N seconds: on a machine where it gets less, it says so. With --jobs processes share
 * the seeds: job k of n takes S + k, S + k + n, … What fails is made short
 * and written as a scenario to FILE (build/explore.room; .1, .2, … behind it for further jobs).
 *
 * Ends with what was seen how often. Exit status: 0 all held, and everything that can be seen was
 * seen --often times (0); 1 not; 2 usage. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/time.h"
#include "tests/room/explore.h"

enum { RUN_OPS = 600, JOBS = 64, PATIENCE = 5 };

struct options {
	uint64_t steps, seconds, seed, often;
	unsigned depth, jobs;
	const char *out;
};

/* What a job tells; in memory that all share. */
struct told {
	struct seen seen;
	uint64_t random, played; /* steps of random runs that changed something; interleavings */
	bool done, late;	 /* late: its time was over before its processor time */
	int failed;
};

static int usage(void)
{
	fprintf(stderr, "usage: room-explore [--steps N | --seconds N] [--seed S] [--depth N] "
			"[--jobs N] [--often N] [--out FILE]\n"
			"--seconds: processor time of each job\n");
	return 2;
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"steps", required_argument, NULL, 's'}, {"seconds", required_argument, NULL, 't'},
		{"seed", required_argument, NULL, 'S'},	 {"depth", required_argument, NULL, 'd'},
		{"jobs", required_argument, NULL, 'j'},	 {"often", required_argument, NULL, 'f'},
		{"out", required_argument, NULL, 'o'},	 {NULL, 0, NULL, 0},
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		uint64_t n = optarg ? strtoull(optarg, NULL, 10) : 0;

		if (opt == 's')
			o->steps = n;
		else if (opt == 't')
			o->seconds = n;
		else if (opt == 'S')
			o->seed = n;
		else if (opt == 'd')
			o->depth = (unsigned)n;
		else if (opt == 'j')
			o->jobs = (unsigned)n;
		else if (opt == 'f')
			o->often = n;
		else if (opt == 'o')
			o->out = optarg;
		else
			return usage();
	}
	return optind < argc || !o->jobs || o->jobs > JOBS ? usage() : 0;
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ms_of_timespec(&ts);
}

/* True if a job that has begun then has had its time. */
static bool is_over(const struct options *o, uint64_t from_cpu, uint64_t from, struct told *told)
{
	told->late = read_clock(CLOCK_MONOTONIC) - from >= o->seconds * 1000 * PATIENCE;
	return told->late || read_clock(CLOCK_PROCESS_CPUTIME_ID) - from_cpu >= o->seconds * 1000;
}

static void tell(struct explore *x, struct explore_run *run, const char *what, const char *name,
		 unsigned job, uint64_t seed)
{
	char out[512];
	FILE *f;

	printf("seed %" PRIu64 ": %s\n", seed, what);
	snprintf(out, sizeof out, job ? "%s.%u" : "%s", name, job);
	explore_shrink(x, run, what);
	f = fopen(out, "w");
	if (!f) {
		perror(out);
		return;
	}
	fprintf(f, "# Found by room-explore, seed %" PRIu64 ", made short to %u ops.\n", seed,
		run->n);
	explore_play(x, run, f);
	fprintf(f, "expect nothing within 0\n");
	fclose(f);
	printf("made short to %u ops: %s\n", run->n, out);
}

static int explore(const struct options *o, unsigned job, struct told *told)
{
	static struct explore_run run;
	struct seen *seen = &told->seen;
	uint64_t from_cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t seed = o->seed + job, from = read_clock(CLOCK_MONOTONIC), small;
	struct explore *x = NULL;
	const char *what = NULL;

	if (explore_alloc(&x, seen))
		return 1;
	/* What is small is small enough for one. */
	if (o->depth && job == 0)
		what = explore_orders(x, &run, o->depth);
	if (o->depth && job == o->jobs - 1 && !what)
		what = explore_interleavings(x, &run, &told->played);
	for (small = seen->changed; !what; seed += o->jobs) {
		told->random = seen->changed - small;
		if (o->seconds ? is_over(o, from_cpu, from, told)
			       : told->random >= o->steps / o->jobs)
			break;
		what = explore_random(x, &run, seed, RUN_OPS);
		if (what)
			break;
	}
	if (what) {
		struct seen until_then = *seen;

		tell(x, &run, what, o->out, job, seed);
		*seen = until_then; /* making it short does not count */
	}
	explore_free(x);
	told->failed = what != NULL;
	told->done = true;
	return 0;
}

/* All jobs, the first of them in this process. */
static void work(const struct options *o, struct told *told)
{
	for (unsigned i = 1; i < o->jobs; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			explore(o, i, &told[i]);
			fflush(stdout);
			_exit(0);
		}
	}
	explore(o, 0, &told[0]);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	struct options o = {
		.steps = 200000, .seed = 1, .depth = 2, .jobs = 1, .out = "build/explore.room"};
	static struct seen all;
	uint64_t random = 0, played = 0;
	unsigned failed = 0, late = 0, seldom;
	struct told *told;
	int rc = parse(&o, argc, argv);

	if (rc)
		return rc;
	told = mmap(NULL, o.jobs * sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		    -1, 0);
	if (told == MAP_FAILED)
		return 1;
	fflush(stdout);
	work(&o, told);
	for (unsigned i = 0; i < o.jobs; i++) {
		seen_add(&all, &told[i].seen);
		random += told[i].random;
		played += told[i].played;
		failed += told[i].failed || !told[i].done;
		late += told[i].late;
	}
	seldom = seen_print(&all, o.often);
	printf("%" PRIu64 " steps, of them %" PRIu64 " changed something, %" PRIu64 " in random "
	       "runs; %" PRIu64 " interleavings; %s%s\n",
	       all.steps, all.changed, random, played,
	       failed ? "something did not hold" : "all held",
	       seldom ? "; not all was seen often enough" : "");
	if (late)
		printf("%u of %u jobs got less processor time than --seconds: the machine is "
		       "busy\n",
		       late, o.jobs);
	return failed || seldom;
}
