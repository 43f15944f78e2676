/* A real mediad that has too much to do: overload_eased, overload_back_s.
 *
 * One core, one audio thread, and more and more calls that speak with the encoder's highest
 * complexity, until its load makes it take that down; then all but a few leave, and it comes back.
 * Beside it how even the packets left meanwhile: the longest interval, and the most packets of one
 * call that came within 4 ms of each other. */
#include "tests/bench/bench.h"
#include "proto/base/time.h"
#include "tests/bench/plane.h"

#include <math.h>
#include <pthread.h>

enum { MOST = 200, STEP = 20, FEW = 4, HIGHEST = 10, STATS_MS = 5500, BACK_S = 60 };

static struct load {
	struct plane *plane;
	unsigned calls;
	unsigned complexity[MOST]; /* as each call reported last */
	pthread_mutex_t lock;	   /* of the rest: the far end's thread */
	struct {
		uint64_t at;
		unsigned together;
	} last[MOST];
	uint64_t longest;
	unsigned burst;
} load = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void on_msg(const struct media_msg *msg, void *arg)
{
	(void)arg;
	if (msg->type == MEDIA_CALL_STATS && msg->call_stats.call < MOST)
		load.complexity[msg->call_stats.call] = msg->call_stats.complexity;
}

static void on_packet(unsigned call, uint64_t at, const uint8_t *p, size_t n, void *arg)
{
	(void)p, (void)n, (void)arg;
	if (call >= MOST)
		return;
	pthread_mutex_lock(&load.lock);
	if (load.last[call].at) {
		uint64_t since = at - load.last[call].at;

		load.last[call].together = since < 4 * NS_PER_MS ? load.last[call].together + 1 : 1;
		load.longest = since > load.longest ? since : load.longest;
		if (load.last[call].together > load.burst)
			load.burst = load.last[call].together;
	}
	load.last[call].at = at;
	pthread_mutex_unlock(&load.lock);
}

static void add(unsigned calls)
{
	plane_calls(load.plane, load.calls, calls - load.calls);
	for (unsigned i = load.calls; i < calls; i++) {
		struct media_msg msg = {.type = MEDIA_CALL_SET};

		msg.call_set = (struct media_call_set){.call = i,
						       .gen = 1,
						       .channel = far_end_guild(i),
						       .bitrate = 64000,
						       .complexity = HIGHEST};
		plane_send(load.plane, &msg);
		plane_say(load.plane, i, i + 1);
		plane_run(load.plane, 7);
		load.complexity[i] = HIGHEST;
	}
	load.calls = calls;
}

static unsigned lowest(void)
{
	unsigned low = HIGHEST;

	for (unsigned i = 0; i < load.calls; i++)
		low = load.complexity[i] < low ? load.complexity[i] : low;
	return low;
}

int main(void)
{
	struct plane_conf conf = {.cpu = 0, .threads = 1, .packeth = on_packet, .msgh = on_msg};
	unsigned low, waited = 0, calls;

	plane_alloc(&load.plane, &conf);
	do {
		add(load.calls + STEP);
		plane_run(load.plane, STATS_MS);
	} while (lowest() == HIGHEST && load.calls < MOST);
	/* It settles: as far down as it must. */
	plane_run(load.plane, STATS_MS);
	low = lowest();
	calls = load.calls;
	bench_row_more("overload_eased", HIGHEST - low, "steps",
		       "\"calls\": %u, \"complexity\": %u, \"longest_interval_ms\": %.1f, "
		       "\"most_together\": %u",
		       calls, low, (double)load.longest / 1e6, load.burst);
	while (load.calls > FEW) {
		plane_stop(load.plane, load.calls - 1, load.calls);
		plane_close(load.plane, --load.calls);
	}
	while (lowest() < HIGHEST && waited++ < BACK_S)
		plane_run(load.plane, 1000);
	bench_row_more("overload_back_s", waited, "s", "\"complexity\": %u, \"calls\": %u",
		       lowest(), load.calls);
	plane_free(load.plane);
	return 0;
}
