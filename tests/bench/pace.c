/* How evenly mediad sends: pace_p999_us, calls_per_core. And the far end for another client under
 * the same load (--far). Beside both stands what this machine does at the time for a bare pacer,
 * which encodes and seals the same streams by library calls, alternating: pace_vs_bare,
 * calls_per_core_vs_bare. Only calls whose encoder runs at its full complexity count. Where neither
 * mediad nor the bare pacer can carry a hundred of them, pace_vs_bare is the ratio at the most that
 * both carry.
 *
 * The kernel's receive times of the datagrams of one call, one less the one before it, less 20 ms:
 * that is the interval error. What is said is sound all the time, so every call sends every 20 ms.
 *
 *   pace             the rows
 *   pace --far       prints {"endpoint", "ca"}; on a line `measure CALLS SECONDS NAME` notes the
 * errors of that time, and prints
 *                    {"intervals", "p999_us", …} */
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "mediad/audio/encoder.h"
#include "mediad/engine/engine.h"
#include "proto/base/time.h"
#include "tests/bench/bare_pacer.h"
#include "tests/bench/bench.h"
#include "tests/bench/plane.h"
#include "tests/bench/speakers.h"

#include <event2/event.h>
#include <math.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RATE = 24000,
	BARE_CALLS = 40, /* of the bare pacer beside calls_per_core_vs_bare */
	FIRST = 10,
	STEP = 10,
	MOST = 120,
	TRIES = 2, /* of a number of calls: a busy machine may spoil one */
	GRAIN = 5, /* of the number of calls that both carry */
	LIMIT_US = 1000,
	SECONDS = 4,
	CARRIED_PERCENT = 95, /* of the packets that were due */
	TURNS = 3,
	INTERVALS = 1 << 20,
	SETTLE_MS = 1500
};

static struct notes {
	pthread_mutex_t lock; /* the far end's thread writes */
	bool on;
	struct {
		bool any;
		uint16_t seq;
		uint64_t at;
	} last[FAR_END_CALLS];
	double error[INTERVALS]; /* µs, absolute */
	size_t n, lost;
} notes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void on_packet(unsigned call, uint64_t at, const uint8_t *p, size_t n, void *arg)
{
	uint16_t seq = (uint16_t)(p[2] << 8 | p[3]);

	(void)arg, (void)n;
	pthread_mutex_lock(&notes.lock);
	if (notes.on && notes.last[call].any && notes.n < INTERVALS) {
		if ((uint16_t)(seq - notes.last[call].seq) == 1)
			notes.error[notes.n++] = fabs((double)(int64_t)(at - notes.last[call].at) -
						      20.0 * NS_PER_MS) /
						 1000;
		else
			notes.lost++;
	}
	notes.last[call].any = notes.on;
	notes.last[call].seq = seq;
	notes.last[call].at = at;
	pthread_mutex_unlock(&notes.lock);
}

static void notes_start(void)
{
	pthread_mutex_lock(&notes.lock);
	notes.on = true;
	notes.n = notes.lost = 0;
	memset(notes.last, 0, sizeof notes.last);
	pthread_mutex_unlock(&notes.lock);
}

/* Audio threads: as mediad chooses, one per core less one; one when it is pinned to a core. */
static unsigned pace_threads(int cpu)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN) - 1;

	return cpu >= 0 || n < 1 ? 1 : n > ENGINE_THREADS ? ENGINE_THREADS : (unsigned)n;
}

struct figures {
	double p50, p99, p999, max;
	size_t n, lost;
	unsigned complexity; /* of the encoders, the lowest */
};

static void notes_stop(struct figures *out, const char *raw)
{
	pthread_mutex_lock(&notes.lock);
	notes.on = false;
	bench_raw(raw, notes.error, notes.n);
	*out = (struct figures){.p50 = bench_quantile(notes.error, notes.n, 0.5),
				.p99 = bench_quantile(notes.error, notes.n, 0.99),
				.p999 = bench_quantile(notes.error, notes.n, 0.999),
				.max = bench_quantile(notes.error, notes.n, 1),
				.n = notes.n,
				.lost = notes.lost};
	pthread_mutex_unlock(&notes.lock);
}

/* ---- ours ---- */

struct stage {
	struct plane *plane;
	struct speakers *speakers;
	unsigned calls;
};

enum { NO_REPORT = ENCODER_COMPLEXITY_MAX + 1 };
/* The lowest complexity that each call reported since it was reset. */
static unsigned reported[FAR_END_CALLS];

static void on_msg(const struct media_msg *msg, void *arg)
{
	const struct media_call_stats *s = &msg->call_stats;

	(void)arg;
	if (msg->type == MEDIA_CALL_STATS && s->call < FAR_END_CALLS &&
	    s->complexity < reported[s->call])
		reported[s->call] = s->complexity;
}

static void forget_reports(void)
{
	for (unsigned i = 0; i < FAR_END_CALLS; i++)
		reported[i] = NO_REPORT;
}

/* Returns the lowest complexity of all calls; 0 when one of them has sent no report. */
static unsigned lowest_complexity(unsigned calls)
{
	unsigned low = ENCODER_COMPLEXITY_MAX;

	for (unsigned i = 0; i < calls; i++) {
		if (reported[i] == NO_REPORT)
			return 0;
		low = reported[i] < low ? reported[i] : low;
	}
	return low;
}

static void stage_start(struct stage *s, int cpu)
{
	struct plane_conf conf = {
		.cpu = cpu, .threads = pace_threads(cpu), .packeth = on_packet, .msgh = on_msg};

	plane_alloc(&s->plane, &conf);
}

static void add_calls(struct stage *s, unsigned calls)
{
	plane_calls(s->plane, s->calls, calls - s->calls);
	for (unsigned i = s->calls; i < calls; i++) {
		/* Each call also receives a speaker. */
		plane_speaker(s->plane, i, 0, RATE);
		plane_say(s->plane, i, i + 1);
		/* They do not all want their next second of speech at the same time. */
		plane_run(s->plane, 7);
	}
	s->calls = calls;
}

static void stage_hush(struct stage *s, bool on)
{
	for (unsigned i = 0; i < s->calls; i++) {
		if (on)
			plane_stop(s->plane, i, i + 1);
		else
			plane_say(s->plane, i, i + 1);
		if (!on)
			plane_run(s->plane, 7);
	}
}

static void stage_measure(struct stage *s, struct figures *out, const char *raw)
{
	forget_reports();
	plane_run(s->plane, SETTLE_MS);
	notes_start();
	plane_run(s->plane, SECONDS * 1000);
	notes_stop(out, raw);
	out->complexity = lowest_complexity(s->calls);
}

/* ---- the bare pacer ---- */

/* mediad's calls are silent meanwhile. */
static void bare_measure(struct stage *s, struct figures *out, unsigned calls, int cpu)
{
	const struct bare_pacer_conf conf = {.port = far_end_port(plane_far(s->plane)),
					     .calls = calls,
					     .threads = pace_threads(cpu),
					     .cpu = cpu};

	stage_hush(s, true);
	plane_run(s->plane, SETTLE_MS / 2);
	bare_pacer_start(&conf);
	plane_run(s->plane, SETTLE_MS / 2);
	notes_start();
	plane_run(s->plane, SECONDS * 1000);
	notes_stop(out, "pace_bare");
	out->complexity = ENCODER_COMPLEXITY;
	bare_pacer_stop();
	stage_hush(s, false);
}

/* ---- rows ---- */

/* True if the packets that were due have left, at full complexity. */
static bool is_carried(const struct figures *f, unsigned calls)
{
	return f->complexity >= ENCODER_COMPLEXITY &&
	       (f->n + f->lost) * 100 >= (size_t)calls * SECONDS * 50 * CARRIED_PERCENT;
}

static void pace_row(void)
{
	struct stage s = {0};
	struct figures fifty, hundred[TURNS];
	double p999[TURNS], value;
	unsigned low;
	bool carried;

	stage_start(&s, -1);
	add_calls(&s, 50);
	stage_measure(&s, &fifty, "pace_50");
	low = fifty.complexity;
	carried = is_carried(&fifty, 50);
	add_calls(&s, 100);
	for (unsigned t = 0; t < TURNS; t++) {
		stage_measure(&s, &hundred[t], "pace_100");
		p999[t] = hundred[t].p999;
		low = hundred[t].complexity < low ? hundred[t].complexity : low;
		carried = carried && is_carried(&hundred[t], 100);
	}
	/* Packets of degraded encoders do not count, and those that never leave have no error. */
	value = !carried ? BENCH_FAILED : fmax(fifty.p999, bench_median(p999, TURNS));
	bench_row_more("pace_p999_us", value, "us",
		       "\"lowest_complexity\": %u, "
		       "\"at_50\": {\"p50\": %.0f, \"p99\": %.0f, \"p999\": %.0f, \"max\": %.0f, "
		       "\"intervals\": %zu, \"skipped\": %zu, \"complexity\": %u}, "
		       "\"at_100\": {\"p50\": %.0f, \"p99\": %.0f, \"p999\": %.0f, \"max\": %.0f, "
		       "\"intervals\": %zu, \"skipped\": %zu, \"complexity\": %u}",
		       low, fifty.p50, fifty.p99, fifty.p999, fifty.max, fifty.n, fifty.lost,
		       fifty.complexity, hundred[0].p50, hundred[0].p99, hundred[0].p999,
		       hundred[0].max, hundred[0].n, hundred[0].lost, hundred[0].complexity);
	plane_free(s.plane);
}

struct turns {
	double ratio[TURNS], ours[TURNS], bare[TURNS];
	unsigned n; /* those in which both carried all calls */
};

/* In a mediad of its own, because encoders that were degraded take seconds to recover. */
static void measure_turns(struct turns *out, unsigned calls, unsigned turns)
{
	struct stage s = {0};
	struct figures ours, floor;

	*out = (struct turns){0};
	stage_start(&s, -1);
	add_calls(&s, calls);
	for (unsigned t = 0; t < turns; t++) {
		stage_measure(&s, &ours, "pace");
		bare_measure(&s, &floor, calls, -1);
		fprintf(stderr,
			"bench: pace: %u calls: complexity %u, %zu packets in p99.9 %.0f us; "
			"bare %zu in %.0f us\n",
			calls, ours.complexity, ours.n, ours.p999, floor.n, floor.p999);
		if (!is_carried(&ours, calls) || !is_carried(&floor, calls))
			continue;
		out->ours[out->n] = ours.p999;
		out->bare[out->n] = floor.p999;
		out->ratio[out->n++] = ours.p999 / floor.p999;
	}
	plane_free(s.plane);
}

/* The most calls, in steps of GRAIN, that mediad and the bare pacer both carry; 0: none. */
static unsigned find_carried(void)
{
	unsigned low = 0, high = 100 / GRAIN + 1, k = 100 / GRAIN;
	struct turns turns;

	while (high - low > 1) {
		measure_turns(&turns, k * GRAIN, 1);
		if (turns.n)
			low = k;
		else
			high = k;
		k = (low + high) / 2;
	}
	return low * GRAIN;
}

static void vs_bare_row(void)
{
	unsigned calls = find_carried();
	struct turns turns = {0};

	for (; calls; calls -= GRAIN) {
		measure_turns(&turns, calls, TURNS);
		if (turns.n > TURNS / 2)
			break;
	}
	if (!calls) {
		fprintf(stderr, "bench: pace_vs_bare: %d calls are too many at complexity %d\n",
			GRAIN, ENCODER_COMPLEXITY);
		/* A row all the same, which replaces that of an earlier run. */
		bench_row_more("pace_vs_bare", BENCH_FAILED, "x", "\"calls\": 0");
		return;
	}
	bench_row_more("pace_vs_bare", bench_median(turns.ratio, turns.n), "x",
		       "\"calls\": %u, \"complexity\": %d, \"p999_us\": %.0f, "
		       "\"bare_p999_us\": %.0f, \"turns\": %u, \"threads\": %u",
		       calls, ENCODER_COMPLEXITY, bench_median(turns.ours, turns.n),
		       bench_median(turns.bare, turns.n), turns.n, pace_threads(-1));
}

struct core {
	unsigned best, best_vs_bare;
	bool over, over_vs_bare;
	double p999, bare_p999;
	unsigned complexity;
};

/* True if mediad sustains so many calls; one that it did not sustain before it does not. */
static void try_calls(struct stage *s, struct core *c, unsigned calls)
{
	bool over = true, over_vs_bare = true;
	struct figures f, floor;

	speakers_set(s->speakers, calls, 1, 1);
	for (unsigned t = 0; t < TRIES && (over || over_vs_bare); t++) {
		speakers_start(s->speakers, NULL, NULL);
		stage_measure(s, &f, "calls_per_core");
		speakers_stop(s->speakers);
		bare_measure(s, &floor, BARE_CALLS, 0);
		over = over && (!is_carried(&f, calls) || f.p999 > LIMIT_US);
		over_vs_bare =
			over_vs_bare && (!is_carried(&f, calls) || f.p999 > floor.p999 + LIMIT_US);
	}
	c->p999 = f.p999;
	c->bare_p999 = floor.p999;
	c->complexity = f.complexity;
	c->over = c->over || over;
	c->over_vs_bare = c->over_vs_bare || over_vs_bare;
	c->best = c->over ? c->best : calls;
	c->best_vs_bare = c->over_vs_bare ? c->best_vs_bare : calls;
}

/* On one core, everything of mediad's. */
static void core_row(void)
{
	struct stage s = {0};
	struct speakers_conf cc = {.calls = MOST, .speakers = 1};
	struct core c = {0};

	stage_start(&s, 0);
	cc.far_end = plane_far(s.plane);
	speakers_alloc(&s.speakers, &cc);
	for (unsigned calls = FIRST; calls <= MOST && (!c.over || !c.over_vs_bare); calls += STEP) {
		add_calls(&s, calls);
		try_calls(&s, &c, calls);
	}
	bench_row_more("calls_per_core", c.best, "calls",
		       "\"first_tried\": %d, \"step\": %d, \"p999_us_of_the_last\": %.0f, "
		       "\"complexity_of_the_last\": %u",
		       FIRST, STEP, c.p999, c.complexity);
	bench_row_more("calls_per_core_vs_bare", c.best_vs_bare, "calls",
		       "\"bare_p999_us_of_the_last\": %.0f, \"bare_calls\": %d, "
		       "\"p999_us_of_the_last\": %.0f, \"complexity_of_the_last\": %u",
		       c.bare_p999, BARE_CALLS, c.p999, c.complexity);
	speakers_free(s.speakers);
	plane_free(s.plane);
}

/* ---- another client ---- */

static struct env *far_end_env;

static void on_line(evutil_socket_t fd, short what, void *arg)
{
	static char name[64];
	static bool measuring;
	static unsigned calls;
	struct tmr *tmr = arg;
	char line[128];
	struct figures f;
	unsigned seconds;
	ssize_t n;

	if (what == 0) { /* the time is over */
		measuring = false;
		notes_stop(&f, name);
		printf("{\"intervals\": %zu, \"p50_us\": %.0f, \"p99_us\": %.0f, \"p999_us\": "
		       "%.0f, \"max_us\": %.0f, "
		       "\"skipped\": %zu, \"calls\": %u}\n",
		       f.n, f.p50, f.p99, f.p999, f.max, f.lost, calls);
		fflush(stdout);
		return;
	}
	n = read(fd, line, sizeof line - 1);
	if (n <= 0) {
		env_stop(far_end_env);
		return;
	}
	line[n] = '\0';
	if (measuring || sscanf(line, "measure %u %u %63s", &calls, &seconds, name) != 3)
		bench_die("not understood: %s", line);
	measuring = true;
	notes_start();
	tmr_start(tmr, seconds * 1000 * NS_PER_MS);
}

static void on_over(void *arg)
{
	on_line(-1, 0, arg);
}

static int far_end_main(void)
{
	struct env_conf ec = {.loop = true};
	struct tmr *tmr;
	struct event *in;
	struct far_end *f;

	BENCH_OK(env_alloc(&far_end_env, &ec));
	BENCH_OK(tmr_alloc(&tmr, far_end_env, on_over, NULL));
	far_end_alloc(&f, far_end_env, 1, on_packet, NULL);
	in = event_new(env_base(far_end_env), STDIN_FILENO, EV_READ | EV_PERSIST, on_line, tmr);
	if (!in || event_add(in, NULL))
		bench_die("out of memory");
	printf("{\"endpoint\": \"%s\", \"ca\": \"%s\"}\n", far_end_endpoint(f), far_end_ca(f));
	fflush(stdout);
	env_run(far_end_env);
	event_free(in);
	far_end_free(f);
	tmr_free(tmr);
	env_free(far_end_env);
	return 0;
}

int main(int argc, char **argv)
{
	if (sodium_init() < 0)
		bench_die("libsodium does not start");
	if (argc > 1 && !strcmp(argv[1], "--far"))
		return far_end_main();
	pace_row();
	vs_bare_row();
	core_row();
	return 0;
}
