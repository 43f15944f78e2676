/* How evenly mediad sends: pace_p999_us, calls_per_core. And the far end for another client under
 * the same load (--far). Beside the first stands what this machine does at the time for a thread
 * that only sleeps, seals and sends.
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
#include "mediad/transport/rtpsize.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/speakers.h"
#include "tests/bench/plane.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <math.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	RATE = 24000,
	BARE_CALLS = 100,
	LIMIT_US = 1000,
	SECONDS = 6,
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

struct figures {
	double p50, p99, p999, max;
	size_t n, lost;
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

static void stage_start(struct stage *s, int cpu)
{
	struct plane_conf conf = {.cpu = cpu, .threads = cpu >= 0, .packeth = on_packet};

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

static void stage_measure(struct stage *s, struct figures *out, const char *raw)
{
	plane_run(s->plane, SETTLE_MS);
	notes_start();
	plane_run(s->plane, SECONDS * 1000);
	notes_stop(out, raw);
}

/* A thread that does nothing else. */
static struct floor {
	atomic_bool over;
	uint16_t port;
} bare = {.over = false};

static void *bare_pacer(void *arg)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				 .sin_port = htons(bare.port)};
	static const uint8_t opus[160] = {0xfc}, key[FAR_END_KEY] = "any";
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	uint64_t next = bench_clock() + 5 * NS_PER_MS;
	struct rtpsize *x;

	(void)arg;
	BENCH_OK(rtpsize_alloc(&x, RTPSIZE_AES256_GCM, key));
	for (uint32_t frame = 0; !atomic_load(&bare.over); frame++) {
		for (unsigned c = 0; c < BARE_CALLS; c++, next += 20 * NS_PER_MS / BARE_CALLS) {
			struct rtp_header h = {.pt = RTP_PT_OPUS,
					       .seq = (uint16_t)frame,
					       .ts = frame * RTP_FRAME,
					       .ssrc = far_end_own_ssrc(c)};
			struct timespec ts = {(time_t)(next / 1000000000),
					      (long)(next % 1000000000)};
			uint8_t p[UDP_MAX_PACKET];
			size_t n;

			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
			BENCH_OK(rtpsize_seal(x, &h, opus, sizeof opus, p, sizeof p, &n));
			sendto(fd, p, n, 0, (struct sockaddr *)&to, sizeof to);
		}
	}
	rtpsize_free(x);
	close(fd);
	return NULL;
}

static void bare_measure(struct stage *s, struct figures *out)
{
	pthread_t t;

	for (unsigned i = 0; i < s->calls; i++)
		plane_stop(s->plane, i, i + 1);
	plane_run(s->plane, SETTLE_MS);
	bare.port = far_end_port(plane_far(s->plane));
	if (pthread_create(&t, NULL, bare_pacer, NULL))
		bench_die("no thread");
	notes_start();
	plane_run(s->plane, SECONDS * 1000);
	notes_stop(out, "pace_bare");
	atomic_store(&bare.over, true);
	pthread_join(t, NULL);
}

static void pace_row(void)
{
	struct stage s = {0};
	struct figures fifty, hundred, floor;
	uint64_t cpu;

	stage_start(&s, -1);
	add_calls(&s, 50);
	stage_measure(&s, &fifty, "pace_50");
	add_calls(&s, 100);
	cpu = plane_cpu(s.plane);
	stage_measure(&s, &hundred, "pace_100");
	cpu = plane_cpu(s.plane) - cpu;
	bare_measure(&s, &floor);
	bench_row_more("pace_p999_us", fmax(fifty.p999, hundred.p999), "us",
		       "\"at_50\": {\"p50\": %.0f, \"p99\": %.0f, \"p999\": %.0f, \"max\": %.0f, "
		       "\"intervals\": %zu, \"skipped\": %zu}, "
		       "\"at_100\": {\"p50\": %.0f, \"p99\": %.0f, \"p999\": %.0f, \"max\": %.0f, "
		       "\"intervals\": %zu, \"skipped\": %zu}, "
		       "\"bare_pacer_of_100\": {\"p50\": %.0f, \"p99\": %.0f, \"p999\": %.0f, "
		       "\"max\": %.0f}, \"cores_at_100\": %.2f",
		       fifty.p50, fifty.p99, fifty.p999, fifty.max, fifty.n, fifty.lost,
		       hundred.p50, hundred.p99, hundred.p999, hundred.max, hundred.n, hundred.lost,
		       floor.p50, floor.p99, floor.p999, floor.max,
		       (double)cpu / ((double)(SECONDS * 1000 + SETTLE_MS) * 1e6));
	plane_free(s.plane);
}

/* On one core, everything of mediad's. */
static void core_row(void)
{
	struct stage s = {0};
	struct speakers_conf cc = {.calls = 120, .speakers = 1};
	unsigned best = 0, most = 120;
	double errors[16] = {0};
	unsigned n = 0;

	stage_start(&s, 0);
	cc.far_end = plane_far(s.plane);
	speakers_alloc(&s.speakers, &cc);
	for (unsigned calls = 10; calls <= most; calls += 10) {
		struct figures f;

		add_calls(&s, calls);
		if (calls < 30)
			continue;
		speakers_set(s.speakers, calls, 1, 1);
		speakers_start(s.speakers, NULL, NULL);
		stage_measure(&s, &f, "calls_per_core");
		speakers_stop(s.speakers);
		errors[n++] = f.p999;
		if (f.p999 > LIMIT_US)
			break;
		best = calls;
	}
	bench_row_more(
		"calls_per_core", best, "calls",
		"\"first_tried\": 30, \"step\": 10, \"p999_us_of_the_last_two\": [%.0f, %.0f]",
		n > 1 ? errors[n - 2] : 0, n ? errors[n - 1] : 0);
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
	far_end_alloc(&f, far_end_env, on_packet, NULL);
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
	core_row();
	return 0;
}
