/* room-explore: what a room does whatever comes.
 *
 *   room-explore [--steps N | --seconds N] [--seed S] [--depth N] [--out FILE] [--rows]
 *
 * First every order of --depth ops (2) after each of some beginnings, then random runs until N
 * steps changed something or N seconds of its processor time went by. What fails is made short and
 * written as a scenario to FILE (build/explore.room). --rows prints rows for the benches.
 *
 * Ends with what was seen how often. Exit status: 0 all held and everything that can be seen was
 * seen, 1 not, 2 usage. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/room/explore.h"

enum { RUN_OPS = 600, OFTEN = 100 };

struct options {
	uint64_t steps, seconds, seed;
	unsigned depth;
	const char *out;
	bool rows;
};

static int usage(void)
{
	fprintf(stderr, "usage: room-explore [--steps N | --seconds N] [--seed S] [--depth N] "
			"[--out FILE] [--rows]\n");
	return 2;
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"steps", required_argument, NULL, 's'},
		{"seconds", required_argument, NULL, 't'},
		{"seed", required_argument, NULL, 'S'},
		{"depth", required_argument, NULL, 'd'},
		{"out", required_argument, NULL, 'o'},
		{"rows", no_argument, NULL, 'r'},
		{NULL, 0, NULL, 0},
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
		else if (opt == 'o')
			o->out = optarg;
		else if (opt == 'r')
			o->rows = true;
		else
			return usage();
	}
	return optind < argc ? usage() : 0;
}

static uint64_t cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* ---- what was seen ---- */

struct kind {
	const char *title, *const *name;
	const uint64_t *count;
	unsigned n, from;
};

static const char *const events[] = {
#define X(NAME, name, text) #name,
	ROOM_EVENTS(X)
#undef X
};
static const char *const effects[] = {
#define X(NAME, name, text) #name,
	ROOM_DOINGS(X)
#undef X
};
static const char *const reasons[] = {
#define X(NAME, name, text) #name,
	ROOM_REASONS(X)
#undef X
};
static const char *const rules[] = {
#define X(NAME, name, unit, text) #name,
	ROOM_RULES(X)
#undef X
};

static unsigned print_kind(const struct kind *k, bool quiet)
{
	unsigned seldom = 0, often = 0;

	for (unsigned i = k->from; i < k->n; i++)
		often += k->count[i] >= OFTEN;
	if (!quiet)
		printf("%s: %u of %u seen %d times or more", k->title, often, k->n - k->from,
		       OFTEN);
	for (unsigned i = k->from; i < k->n; i++)
		if (k->count[i] < OFTEN) {
			if (!quiet)
				printf("%s %s (%llu)", seldom ? "," : "; seldom:", k->name[i],
				       (unsigned long long)k->count[i]);
			seldom++;
		}
	if (!quiet)
		printf("\n");
	return seldom;
}

static void print_seen(const struct watch_seen *s, bool quiet)
{
	unsigned moves = 0, pairs = 0, rare = 0;
	const struct kind kinds[] = {
		{"events", events, s->events, ROOM_EVENT_COUNT, 0},
		{"effects", effects, s->effects, ROOM_DO_COUNT, 0},
		{"reasons", reasons, s->reasons, ROOM_REASON_COUNT, 1},
		{"rules", rules, s->rules, ROOM_RULE_COUNT, 0},
	};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		print_kind(&kinds[i], quiet);
	for (unsigned i = 0; i <= ROOM_PHASE_ENDED; i++)
		for (unsigned k = 0; k <= ROOM_PHASE_ENDED; k++) {
			moves += s->moves[i][k] > 0;
			rare += s->moves[i][k] > 0 && s->moves[i][k] < OFTEN;
		}
	for (unsigned i = 0; i <= ROOM_PHASE_ENDED; i++)
		for (unsigned k = 0; k < 3; k++) {
			pairs += s->pairs[i][k] > 0;
			rare += s->pairs[i][k] > 0 && s->pairs[i][k] < OFTEN;
		}
	if (!quiet)
		printf("moves of turns: %u; pairs of the floor's turn and a capture: %u; of both "
		       "%u seen less than %d times\n",
		       moves, pairs, rare, OFTEN);
}

/* ---- exploring ---- */

static int told(struct explore *x, struct explore_run *run, const char *what,
		const struct options *o, uint64_t seed)
{
	uint64_t spare = 0;
	FILE *f;

	printf("seed %llu: %s\n", (unsigned long long)seed, what);
	explore_shrink(x, run, &spare);
	f = fopen(o->out, "w");
	if (!f) {
		perror(o->out);
		return 1;
	}
	fprintf(f, "# Found by room-explore, seed %llu, made short to %u ops.\n",
		(unsigned long long)seed, run->n);
	explore_play(x, run, &spare, f);
	fprintf(f, "expect nothing within 0\n");
	fclose(f);
	printf("made short to %u ops: %s\n", run->n, o->out);
	return 1;
}

static int explore(struct explore *x, const struct options *o, struct watch_seen *seen,
		   uint64_t *steps)
{
	struct explore_run *run = calloc(1, sizeof *run);
	const char *what = o->depth ? explore_all(x, run, o->depth, steps) : NULL;
	uint64_t seed = o->seed, from = cpu_ms();
	int rc = 0;

	if (!run)
		return 1;
	while (!what &&
	       (o->seconds ? cpu_ms() - from < o->seconds * 1000 : seen->changed < o->steps))
		what = explore_random(x, run, seed++, RUN_OPS, steps);
	if (what) {
		struct watch_seen until_then = *seen;

		rc = told(x, run, what, o, seed - 1);
		*seen = until_then; /* making it short does not count */
	}
	free(run);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = {.steps = 200000, .seed = 1, .depth = 2, .out = "build/explore.room"};
	static struct watch_seen seen;
	struct explore *x = NULL;
	uint64_t steps = 0;
	int rc = parse(&o, argc, argv);

	if (rc)
		return rc;
	if (explore_alloc(&x, &seen))
		return 1;
	rc = explore(x, &o, &seen, &steps);
	explore_free(x);
	if (o.rows)
		printf("{\"name\": \"explore_steps\", \"value\": %llu, \"unit\": \"\"}\n"
		       "{\"name\": \"explore_violations\", \"value\": %d, \"unit\": \"\"}\n",
		       (unsigned long long)seen.changed, rc);
	if (!o.rows)
		print_seen(&seen, false);
	if (!o.rows)
		printf("%llu steps, of them %llu changed something; %s\n",
		       (unsigned long long)steps, (unsigned long long)seen.changed,
		       rc ? "something did not hold" : "all held");
	return rc;
}
