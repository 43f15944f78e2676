/* Chaos: seeded runs in which everything goes wrong that can, and after which all must be well. See
 * --help. */
#include "tests/chaos/cluster.h"
#include "proto/base/time.h"
#include "tests/chaos/play.h"
#include "tests/chaos/progress.h"
#include "tests/chaos/shrink.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS_MAX = 256, RUN_MAX_MS = 150000, SHRINK_RUNS = 16, TEXT_MAX = 4096, EXIT_USAGE = 2 };

struct report {
	struct chaos_verdict v;
	struct chaos_script script; /* the short one, when it failed */
	unsigned runs;		    /* that making it short took; 0: it did not fail again */
	uint64_t seed;
};

struct job {
	pid_t pid;
	int fd;
	uint64_t seed, until;
};

static struct {
	unsigned seeds, jobs, plant;
	uint64_t first;
	const char *script, *bin, *out, *progress;
	bool keep, rows, self_test, no_shrink, print;
} opt = {.first = 1};

static volatile sig_atomic_t stopping;

static void on_signal(int sig)
{
	stopping = sig;
}

static void usage(FILE *f)
{
	fprintf(f, "Usage: chaos [options]\n\n"
		   "Plays seeded scripts of faults with real programs (guildd, three mediads, "
		   "their controls) and looks\n"
		   "whether all is well afterwards. A script that fails is made short and kept in "
		   "OUT/SEED.txt.\n\n"
		   "  --seeds N         so many seeds (default 8)\n"
		   "  --first N         from this one on (default 1)\n"
		   "  --jobs N          so many runs at a time (default: three a core)\n"
		   "  --progress FILE   note played seeds there; an interrupted run of the same\n"
		   "                    programs continues, a complete one removes the file\n"
		   "  --script FILE     play this script, once\n"
		   "  --print           print the scripts, play nothing\n"
		   "  --bin FOLDER      the programs (default: where this one is)\n"
		   "  --out FOLDER      where failing scripts go (default: FOLDER/chaos-failed)\n"
		   "  --keep            keep the logs of every run\n"
		   "  --no-shrink       do not make failing scripts short\n"
		   "  --rows            end with rows for the bench table\n"
		   "  --self-test       plant mistakes; each must be found\n"
		   "  --help\n\n"
		   "A script is a line a fault: MILLISECOND FAULT [bot|alice|bob] [NUMBERS]\n\n");
	for (unsigned v = 0; v < CHAOS_VERBS_N; v++)
		fprintf(f, "  %-15s %s\n", chaos_verb_name((enum chaos_verb)v),
			chaos_verb_what((enum chaos_verb)v));
	fprintf(f, "\nWhat must hold:\n\n");
	for (unsigned i = CHAOS_NONE_ + 1; i < CHAOS_INVARIANTS_N; i++)
		fprintf(f, "  %-15s %s\n", chaos_invariant_name((enum chaos_invariant)i),
			chaos_invariant_what((enum chaos_invariant)i));
}

/* ---- a run in a process of its own ---- */

static bool read_all(int fd, void *buf, size_t n)
{
	size_t got = 0;
	ssize_t k;

	while (got < n &&
	       ((k = read(fd, (char *)buf + got, n - got)) > 0 || (k < 0 && errno == EINTR)))
		got += k > 0 ? (size_t)k : 0;
	return got == n;
}

static void write_all(int fd, const void *buf, size_t n)
{
	const char *p = buf;
	ssize_t k;

	while (n && ((k = write(fd, p, n)) > 0 || (k < 0 && errno == EINTR))) {
		p += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
}

static void play(struct chaos_verdict *v, const struct chaos_script *s, bool keep)
{
	struct chaos_play_conf conf = {.bin = opt.bin, .plant = opt.plant, .keep = keep};

	chaos_play(v, s, &conf);
}

struct again {
	enum chaos_invariant broken;
	struct chaos_verdict last;
};

static bool fails_alike(const struct chaos_script *s, void *arg)
{
	struct again *a = arg;
	struct chaos_verdict v;

	play(&v, s, false);
	if (v.folder[0] && v.broken != a->broken)
		cluster_remove_folder(v.folder);
	if (v.broken != a->broken)
		return false;
	if (a->last.folder[0])
		cluster_remove_folder(a->last.folder);
	a->last = v;
	return true;
}

/* Plays it; what fails is made short at once, here, so that seeds go on beside it. */
static void examine(struct report *r, const struct chaos_script *s)
{
	struct again a = {0};

	*r = (struct report){.script = *s, .seed = s->seed};
	play(&r->v, s, opt.keep);
	if (!r->v.broken || opt.no_shrink || opt.script)
		return;
	a.broken = r->v.broken;
	if (!fails_alike(s, &a))
		return;
	r->runs = 1 + chaos_shrink(&r->script, SHRINK_RUNS, fails_alike, &a);
	cluster_remove_folder(r->v.folder);
	r->v = a.last;
}

static bool job_start(struct job *j, const struct chaos_script *s)
{
	struct report r;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return false;
	fflush(NULL);
	j->pid = fork();
	if (j->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		setpgid(0, 0);
		examine(&r, s);
		write_all(fd[1], &r, sizeof r);
		_exit(0);
	}
	close(fd[1]);
	if (j->pid < 0) {
		close(fd[0]);
		return false;
	}
	setpgid(j->pid, j->pid);
	j->fd = fd[0];
	j->seed = s->seed;
	j->until = chaos_now() + RUN_MAX_MS * (opt.no_shrink ? 1 : SHRINK_RUNS) * NS_PER_MS;
	return true;
}

/* Its whole group, which we began. */
static void job_end(struct job *j, struct report *r)
{
	if (!read_all(j->fd, r, sizeof *r)) {
		*r = (struct report){.seed = j->seed, .v = {.broken = CHAOS_DRIVER_}};
		snprintf(r->v.text, sizeof r->v.text, "the run did not come to its end");
		chaos_generate(&r->script, j->seed);
	}
	close(j->fd);
	kill(-j->pid, SIGKILL);
	waitpid(j->pid, NULL, 0);
	j->pid = 0;
}

/* ---- telling ---- */

static void keep_script(const struct report *r, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	mkdir(opt.out, 0755);
	snprintf(path, sizeof path, "%s/%llu.txt", opt.out, (unsigned long long)r->seed);
	f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "# %s: %.*s\n%s", chaos_invariant_name(r->v.broken),
		(int)strcspn(r->v.text, "\n"), r->v.text, text);
	fclose(f);
	printf("  kept in %s; again: chaos --script %s\n", path, path);
}

static void tell_failure(const struct report *r)
{
	char text[TEXT_MAX];

	chaos_print(&r->script, text, sizeof text);
	printf("seed %llu FAILED: %s: %s\n", (unsigned long long)r->seed,
	       chaos_invariant_name(r->v.broken), r->v.text);
	if (r->runs)
		printf("  in short (%u runs):\n", r->runs);
	else
		printf("  %s:\n",
		       opt.no_shrink || opt.script ? "the script" : "not once more; the script");
	for (char *line = text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		printf("    %.*s\n", (int)(end - line), line);
	}
	if (r->v.folder[0])
		printf("  logs: %s\n", r->v.folder);
	if (!opt.script)
		keep_script(r, text);
}

static int by_size(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

/* What the seeds of a run came to. */
struct tally {
	unsigned done, failed, named, settled, decoders;
	unsigned *settle; /* milliseconds of those that did not fail */
};

static void count(struct tally *t, const struct progress_seed *s)
{
	t->done++;
	if (s->broken != CHAOS_NONE_)
		t->failed++;
	else
		t->settle[t->settled++] = s->settle_ms;
}

static void tell_end(struct tally *t, double seconds)
{
	const unsigned *settle = t->settle;
	unsigned n = t->settled;

	if (n) {
		qsort(t->settle, n, sizeof *settle, by_size);
		printf("all well again after: half within %u ms, 90 %% within %u, 99 %% within %u, "
		       "the longest %u; %u calls failed with a "
		       "named reason and were made anew; %u processes of decoderd were killed\n",
		       settle[n / 2], settle[n * 9 / 10], settle[n * 99 / 100], settle[n - 1],
		       t->named, t->decoders);
	}
	printf("%u seeds, %u failures (%.0f s)\n", t->done, t->failed, seconds);
	if (opt.rows) {
		printf("{\"name\": \"chaos_seeds\", \"value\": %u, \"unit\": \"seeds\"}\n",
		       t->done);
		printf("{\"name\": \"chaos_failures\", \"value\": %u, \"unit\": \"seeds\"}\n",
		       t->failed);
	}
	printf("%u passed, %u failed, 0 skipped\n", t->done - t->failed, t->failed);
}

/* ---- many seeds ---- */

/* The next seed that was not played before a run was interrupted; false: there is none. */
static bool next_seed(struct chaos_script *s, unsigned *taken, struct tally *t,
		      const struct progress *progress)
{
	while (*taken < opt.seeds && !stopping) {
		uint64_t seed = opt.first + (*taken)++;
		const struct progress_seed *before = progress_find(progress, seed);

		if (!before) {
			chaos_generate(s, seed);
			return true;
		}
		count(t, before);
	}
	return false;
}

static void take_report(struct tally *t, const struct report *r, struct progress *progress)
{
	struct progress_seed s = {r->seed, r->v.broken, r->v.settle_ms};

	count(t, &s);
	t->named += r->v.failed;
	t->decoders += r->v.decoders;
	if (r->v.broken)
		tell_failure(r);
	progress_add(progress, &s);
	if (t->done % 50 == 0)
		printf("%u of %u seeds, %u failures\n", t->done, opt.seeds, t->failed);
	fflush(stdout);
}

/* Waits up to a second for runs that end, and takes their reports. Returns how many ended. */
static unsigned end_jobs(struct job *jobs, struct tally *t, struct progress *progress)
{
	struct pollfd fds[JOBS_MAX];
	struct report r;
	unsigned ended = 0;

	for (unsigned i = 0; i < opt.jobs; i++)
		fds[i] = (struct pollfd){.fd = jobs[i].pid ? jobs[i].fd : -1, .events = POLLIN};
	poll(fds, opt.jobs, 1000);
	for (unsigned i = 0; i < opt.jobs; i++) {
		struct job *j = &jobs[i];

		if (j->pid && (stopping || chaos_now() > j->until))
			kill(-j->pid, SIGKILL);
		else if (!j->pid || !fds[i].revents)
			continue;
		job_end(j, &r);
		ended++;
		if (!stopping)
			take_report(t, &r, progress);
	}
	return ended;
}

static void play_seeds(struct tally *t, struct progress *progress)
{
	struct job jobs[JOBS_MAX] = {0};
	unsigned taken = 0, running = 0;
	struct chaos_script s;

	do {
		for (unsigned i = 0; i < opt.jobs; i++)
			if (!jobs[i].pid && next_seed(&s, &taken, t, progress))
				running += job_start(&jobs[i], &s);
		running -= end_jobs(jobs, t, progress);
	} while (running);
}

static int run_seeds(void)
{
	struct tally t = {.settle = calloc(opt.seeds, sizeof *t.settle)};
	struct progress *progress = NULL;
	uint64_t t0 = chaos_now();
	int err = t.settle ? 0 : ENOMEM;

	if (!err && opt.progress)
		err = progress_alloc(&progress, opt.progress, opt.bin);
	if (err) {
		fprintf(stderr, "chaos: %s: %s\n", opt.progress ? opt.progress : "", strerror(err));
		goto out;
	}
	play_seeds(&t, progress);
	tell_end(&t, (double)(chaos_now() - t0) / 1e9);
	if (t.done == opt.seeds)
		progress_complete(progress);
out:
	progress_free(progress);
	free(t.settle);
	return err || t.failed || stopping || t.done < opt.seeds ? 1 : 0;
}

static int print_scripts(void)
{
	struct chaos_script s;
	char text[TEXT_MAX];

	for (unsigned i = 0; i < opt.seeds; i++) {
		chaos_generate(&s, opt.first + i);
		chaos_print(&s, text, sizeof text);
		printf("%s# settles within %u ms\n\n", text, chaos_settle_ms(&s));
	}
	return 0;
}

/* ---- one script ---- */

static bool load(struct chaos_script *s, const char *path)
{
	char text[16384];
	unsigned line = 0;
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	int err = f ? 0 : errno;

	text[n] = '\0';
	if (f)
		fclose(f);
	if (!err)
		err = chaos_parse(s, text, &line);
	if (err)
		fprintf(stderr, "chaos: %s: line %u: %s\n", path, line, strerror(err));
	return !err;
}

static int run_script(void)
{
	struct chaos_script s;
	struct job j = {0};
	struct report r;

	if (!load(&s, opt.script))
		return EXIT_USAGE;
	if (!job_start(&j, &s))
		return 1;
	job_end(&j, &r);
	if (r.v.broken)
		tell_failure(&r);
	else
		printf("all well after %u ms\n", r.v.settle_ms);
	if (!r.v.broken && r.v.folder[0])
		printf("logs: %s\n", r.v.folder);
	return r.v.broken ? 1 : 0;
}

/* ---- planted mistakes ---- */

static int self_test(void)
{
	static const struct {
		unsigned plant;
		const char *what, *script;
		enum chaos_invariant found;
	} tests[] = {
		{PLANT_NONE, "nothing", "0 drop bot\n", CHAOS_NONE_},
		{PLANT_NO_CREDENTIALS, "credentials are kept back", "0 close bot 4006\n",
		 CHAOS_WELL_},
		{PLANT_NO_END, "playbacks are never ended", "0 drop bot\n", CHAOS_WELL_},
		{PLANT_SILENT, "one does not speak", "0 drop bot\n", CHAOS_WELL_},
		{PLANT_RESTLESS, "one joins again and again", "3000 calm\n", CHAOS_WELL_},
		{PLANT_OTHER_VOICE, "one speaks in another's voice", "1500 calm\n", CHAOS_WELL_},
		{PLANT_NOISE, "there is noise under the speech of one", "1500 calm\n",
		 CHAOS_MUSIC_},
		{PLANT_NO_MUSIC, "one plays no music", "music on\n0 kill-mediad bot\n",
		 CHAOS_WELL_},
		{PLANT_MUSIC_AGAIN, "music begins anew after a fault",
		 "music on\n1500 kill-mediad bot\n6000 calm\n", CHAOS_MUSIC_},
		{PLANT_MUSIC_AHEAD, "music leaves a second out after a fault",
		 "music on\n500 kill-mediad bot\n6000 calm\n", CHAOS_MUSIC_},
		{PLANT_MUSIC_SKIPS, "tracks lack half a second", "music on\n8000 calm\n",
		 CHAOS_MUSIC_},
		{PLANT_MUSIC_REPEATS, "tracks repeat a second", "music on\n8000 calm\n",
		 CHAOS_MUSIC_},
		{PLANT_TRACK_LOST, "a fault loses a track", "music on\n0 kill-mediad bot\n",
		 CHAOS_MUSIC_},
		{PLANT_OTHER_MUSIC, "one plays another's music", "music on\n0 kill-mediad bot\n",
		 CHAOS_MUSIC_},
		{PLANT_TWO_TRACKS, "tracks sound at once", "music on\n8000 calm\n", CHAOS_MUSIC_},
		{PLANT_QUEUE_FORGOTTEN, "control forgets the queue",
		 "music on\n2500 kill-control bot\n8000 kill-control bot\n", CHAOS_MUSIC_},
		{CHAOS_PLANT_NO_RESTART, "a killed mediad stays dead", "0 kill-mediad bot\n",
		 CHAOS_WELL_},
		{CHAOS_PLANT_CRASH, "mediad crashes", "100 calm\n", CHAOS_ALIVE_},
		{CHAOS_PLANT_GUEST, "mediad is left with an open descriptor", "0 calm\n",
		 CHAOS_FILES_},
		{CHAOS_PLANT_STUCK, "mediad does not end", "0 calm\n", CHAOS_END_},
		{CHAOS_PLANT_OFTEN, "op 5 comes more often than is allowed",
		 "0 drop bot\n1500 drop bot\n", CHAOS_RATE_},
	};
	struct job jobs[sizeof tests / sizeof tests[0]] = {0};
	unsigned passed = 0, n = sizeof tests / sizeof tests[0], line;
	struct chaos_script s;
	struct report r;

	opt.no_shrink = true;
	for (unsigned i = 0; i < n; i++) {
		opt.plant = tests[i].plant;
		if (chaos_parse(&s, tests[i].script, &line) || !job_start(&jobs[i], &s))
			jobs[i].pid = 0;
	}
	for (unsigned i = 0; i < n; i++) {
		if (!jobs[i].pid)
			continue;
		job_end(&jobs[i], &r);
		passed += r.v.broken == tests[i].found;
		printf("%s %s: %s\n", r.v.broken == tests[i].found ? "ok     " : "FAILED ",
		       tests[i].what,
		       r.v.broken ? chaos_invariant_name(r.v.broken) : "all is well");
		if (r.v.broken != tests[i].found)
			printf("        wanted %s; %s\n", chaos_invariant_name(tests[i].found),
			       r.v.text);
		if (r.v.folder[0])
			cluster_remove_folder(r.v.folder);
		fflush(stdout);
	}
	printf("%u passed, %u failed, 0 skipped\n", passed, n - passed);
	return passed == n ? 0 : 1;
}

/* ---- options ---- */

static bool number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return !errno && !*end && end != text && *text != '-' && *out >= min && *out <= max;
}

static bool parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"seeds", 1, NULL, 'n'},     {"first", 1, NULL, 'f'},
		{"jobs", 1, NULL, 'j'},	     {"progress", 1, NULL, 'P'},
		{"script", 1, NULL, 's'},    {"bin", 1, NULL, 'b'},
		{"out", 1, NULL, 'o'},	     {"keep", 0, NULL, 'k'},
		{"rows", 0, NULL, 'r'},	     {"print", 0, NULL, 'p'},
		{"self-test", 0, NULL, 't'}, {"no-shrink", 0, NULL, 'S'},
		{"help", 0, NULL, 'h'},	     {0},
	};
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t seeds = 8, jobs = cores > 0 ? 3 * (uint64_t)cores : 3;
	bool ok = true;
	int k;

	while ((k = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (k) {
		case 'n':
			ok = ok && number(optarg, 1, 1000000, &seeds);
			break;
		case 'f':
			ok = ok && number(optarg, 0, UINT64_MAX - 1000000, &opt.first);
			break;
		case 'j':
			ok = ok && number(optarg, 1, JOBS_MAX, &jobs);
			break;
		case 'P':
			opt.progress = optarg;
			break;
		case 's':
			opt.script = optarg;
			break;
		case 'b':
			opt.bin = optarg;
			break;
		case 'o':
			opt.out = optarg;
			break;
		case 'k':
			opt.keep = true;
			break;
		case 'r':
			opt.rows = true;
			break;
		case 'p':
			opt.print = true;
			break;
		case 't':
			opt.self_test = true;
			break;
		case 'S':
			opt.no_shrink = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			ok = false;
		}
	}
	opt.seeds = (unsigned)seeds;
	opt.jobs = jobs < JOBS_MAX ? (unsigned)jobs : JOBS_MAX;
	return ok && optind == argc;
}

int main(int argc, char **argv)
{
	static char self[PATH_MAX], out[PATH_MAX + 16];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (!parse(argc, argv)) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!opt.bin)
		opt.bin = n > 0 ? dirname(self) : "build";
	if (!opt.out) {
		snprintf(out, sizeof out, "%s/chaos-failed", opt.bin);
		opt.out = out;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	if (opt.print)
		return print_scripts();
	if (opt.self_test)
		return self_test();
	return opt.script ? run_script() : run_seeds();
}
