/* The cost of sending in a real mediad, from SAY at 24 kHz to datagram, paced, beside the bare
 * calls that are really made (upsampler, Opus, AEAD of DAVE and of the transport) on the same
 * speech at the same pace: say_true_ratio. It also measures the time from STOP to silence: stop_ms.
 *
 * Turns: for a while all calls speak; then as long they are silent, which is the idle process, and
 * a thread that wakes 20 ms after 20 ms for each of them makes the bare calls. */
#include "proto/rtp.h"
#include "tests/bench/bare.h"
#include "tests/bench/bench.h"
#include "tests/bench/plane.h"
#include "tests/bench/speech.h"
#include "proto/base/time.h"

#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	RATE = 24000,
	IN = RATE / 50,
	CALLS = 16,
	TURN_MS = 3000,
	TURNS = 5,
	SPEECH = 4 * RATE,
	COMPLEXITY = 5,
	STOPS = 200, /* BENCH_STOPS */
	STOPS_MAX = 100000
};

static struct rig {
	struct plane *plane;
	/* of the far end's thread */
	atomic_uint_fast64_t packets; /* of sound */
	struct {
		atomic_uint_fast64_t sound; /* when the last audio packet arrived, CLOCK_REALTIME */
	} calls[FAR_END_CALLS];
	struct bare_sender *bare[CALLS];
	unsigned complexity; /* the lowest that mediad reported */
	int16_t speech[SPEECH];
	atomic_bool over;
	uint64_t spent, frames;
	uint32_t playback;
} rig;

static void on_packet(unsigned call, uint64_t at, const uint8_t *p, size_t n, void *arg)
{
	(void)p, (void)arg;
	/* Three bytes are silence, which is not encrypted: nothing else that we send is as short.
	 */
	if (n <= RTP_HEADER + OPUS_SILENCE_SIZE + 16 + 4)
		return;
	atomic_fetch_add(&rig.packets, 1);
	atomic_store(&rig.calls[call].sound, at);
}

static void on_msg(const struct media_msg *msg, void *arg)
{
	(void)arg;
	if (msg->type == MEDIA_CALL_STATS && msg->call_stats.complexity < rig.complexity)
		rig.complexity = msg->call_stats.complexity;
}

/* ---- the bare calls ---- */

static void *bare_run(void *arg)
{
	uint64_t next = bench_clock() + 5 * NS_PER_MS;
	uint8_t out[UDP_MAX_PACKET];
	size_t n;

	(void)arg;
	for (unsigned frame = 0; !atomic_load(&rig.over); frame++) {
		for (unsigned c = 0; c < CALLS; c++, next += 20 * NS_PER_MS / CALLS) {
			struct timespec ts = {(time_t)(next / NS_PER_S), (long)(next % NS_PER_S)};
			const int16_t *in = rig.speech + (frame * IN + c * 7u * IN) % SPEECH;

			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
			rig.spent += bare_sender_encode(rig.bare[c], in);
			rig.spent += bare_sender_seal(rig.bare[c], out, &n);
			rig.frames++;
		}
	}
	return NULL;
}

static void bare_start(void)
{
	speech_make(rig.speech, SPEECH, RATE, 1);
	for (unsigned c = 0; c < CALLS; c++)
		bare_sender_alloc(&rig.bare[c], far_end_own_ssrc(c), COMPLEXITY);
}

/* ---- turns ---- */

/* CPU of mediad while all calls speak for so long; how many packets of sound left. */
static uint64_t speak(unsigned ms, uint64_t *packets)
{
	uint64_t from = plane_cpu(rig.plane);

	*packets = atomic_load(&rig.packets);
	for (unsigned c = 0; c < CALLS; c++)
		plane_say(rig.plane, c, ++rig.playback);
	plane_run(rig.plane, ms);
	for (unsigned c = 0; c < CALLS; c++)
		plane_stop(rig.plane, c, rig.playback - CALLS + c + 1);
	plane_run(rig.plane, 300);
	*packets = atomic_load(&rig.packets) - *packets;
	return plane_cpu(rig.plane) - from;
}

static uint64_t idle(unsigned ms)
{
	uint64_t from = plane_cpu(rig.plane);
	pthread_t t;

	rig.spent = rig.frames = 0;
	atomic_store(&rig.over, false);
	if (pthread_create(&t, NULL, bare_run, NULL))
		bench_die("no thread");
	plane_run(rig.plane, ms + 300);
	atomic_store(&rig.over, true);
	pthread_join(t, NULL);
	return plane_cpu(rig.plane) - from;
}

static void say_row(void)
{
	double a[TURNS], b[TURNS], r[TURNS];
	uint64_t packets;

	bare_start();
	speak(1000, &packets);
	idle(500);
	for (unsigned t = 0; t < TURNS; t++) {
		uint64_t busy = speak(TURN_MS, &packets), rest = idle(TURN_MS);

		a[t] = (double)(busy - rest) / (double)packets / 1000;
		b[t] = (double)rig.spent / (double)rig.frames / 1000;
		r[t] = a[t] / b[t];
	}
	bench_raw("say_true_ratio", r, TURNS);
	/* The bare calls encode at full complexity, so an encoder that was degraded is cheaper. */
	bench_row_more("say_true_ratio",
		       rig.complexity < COMPLEXITY ? BENCH_FAILED : bench_median(r, TURNS), "x",
		       "\"ours_us\": %.1f, \"bare_us\": %.1f, \"complexity\": %u, \"calls\": %d",
		       bench_median(a, TURNS), bench_median(b, TURNS), rig.complexity, CALLS);
	for (unsigned c = 0; c < CALLS; c++)
		bare_sender_free(rig.bare[c]);
}

/* ---- stopping ---- */

static uint64_t real_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ns_of_timespec(&ts);
}

static void stop_row(void)
{
	static double late[STOPS_MAX];
	const char *wish = getenv("BENCH_STOPS");
	unsigned stops = wish ? (unsigned)atoi(wish) : STOPS, n = 0;
	uint64_t told[CALLS], rounds = 0;

	if (stops > STOPS_MAX)
		stops = STOPS_MAX;
	while (n < stops) {
		for (unsigned c = 0; c < CALLS; c++)
			plane_say(rig.plane, c, ++rig.playback);
		plane_run(rig.plane, 300);
		/* One after the other, at any place of the 20 ms. */
		for (unsigned c = 0; c < CALLS; c++) {
			plane_run(rig.plane, 1 + (unsigned)(rounds * 5 + c * 3) % 7);
			told[c] = real_clock();
			plane_stop(rig.plane, c, rig.playback - CALLS + c + 1);
			plane_run(rig.plane, 1);
		}
		plane_run(rig.plane, 150);
		for (unsigned c = 0; c < CALLS && n < stops; c++) {
			int64_t ns = (int64_t)(atomic_load(&rig.calls[c].sound) - told[c]);

			late[n++] = ns > 0 ? (double)ns / 1e6 : 0;
		}
		rounds++;
	}
	bench_raw("stop_ms", late, n);
	bench_row_more("stop_ms", bench_quantile(late, n, 1), "ms",
		       "\"p50\": %.2f, \"p99\": %.2f, \"stops\": %u", bench_quantile(late, n, 0.5),
		       bench_quantile(late, n, 0.99), n);
}

int main(void)
{
	struct plane_conf conf = {.cpu = -1, .packeth = on_packet, .msgh = on_msg};

	if (sodium_init() < 0 || !crypto_aead_aes256gcm_is_available())
		bench_die("this processor has no AES instructions: the bare sum would be of "
			  "another maker");
	rig.complexity = COMPLEXITY;
	plane_alloc(&rig.plane, &conf);
	plane_calls(rig.plane, 0, CALLS);
	plane_run(rig.plane, 500);
	say_row();
	stop_row();
	plane_free(rig.plane);
	return 0;
}
