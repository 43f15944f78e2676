/* The cost of sending in a real mediad, from SAY at 24 kHz to datagram, paced, beside the bare
 * resample, encode and AEAD calls on the same speech at the same pace: say_ratio. And how soon it
 * is silent when it is told to be: stop_ms.
 *
 * Turns: for a while all calls speak; then as long they are silent, which is the idle process, and
 * a thread that wakes 20 ms after 20 ms for each of them makes the bare calls. */
#include "mediad/audio/upsampler.h"
#include "proto/rtp.h"
#include "tests/bench/bench.h"
#include "tests/bench/plane.h"
#include "tests/bench/speech.h"
#include "proto/base/time.h"

#include <opus/opus.h>
#include <pthread.h>
#include <samplerate.h>
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
	KEY = 32,
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
	/* the bare calls */
	struct {
		SRC_STATE *src;
		struct upsampler upsampler; /* mediad's own resampler for this ratio */
		OpusEncoder *enc;
	} bare[CALLS];
	crypto_aead_aes256gcm_state key;
	int16_t speech[SPEECH];
	atomic_bool over;
	uint64_t clock_cost, spent, own, frames; /* own: with mediad's resampler */
	uint32_t playback;
} rig;

static void on_packet(unsigned call, uint64_t at, const uint8_t *p, size_t n, void *arg)
{
	(void)p, (void)arg;
	/* Three bytes are silence: nothing else that we send is as short. */
	if (n <= RTP_HEADER + OPUS_SILENCE_SIZE + 16 + 4)
		return;
	atomic_fetch_add(&rig.packets, 1);
	atomic_store(&rig.calls[call].sound, at);
}

/* ---- the bare calls ---- */

static void bare_frame(unsigned call, unsigned frame)
{
	const int16_t *in = rig.speech + (frame * IN + call * 7u * IN) % SPEECH;
	uint8_t opus[1275], out[1400], header[RTP_HEADER] = {0x80}, nonce[12] = {0};
	float fin[IN], fout[2 * RTP_FRAME];
	int16_t pcm[2 * RTP_FRAME];
	SRC_DATA d = {.data_in = fin,
		      .data_out = fout,
		      .input_frames = IN,
		      .output_frames = 2 * RTP_FRAME,
		      .src_ratio = 2};
	static int16_t held[CALLS][3 * RTP_FRAME];
	static unsigned n_held[CALLS];
	unsigned long long n_out;
	opus_int32 n = 0;
	uint64_t from = bench_cpu(), rest;

	upsampler_run(&rig.bare[call].upsampler, in, IN, pcm);
	rig.own += bench_cpu() - from - rig.clock_cost;
	from = bench_cpu();
	src_short_to_float_array(in, fin, IN);
	if (src_process(rig.bare[call].src, &d))
		bench_die("libsamplerate");
	src_float_to_short_array(fout, pcm, (int)d.output_frames_gen);
	rig.spent += bench_cpu() - from - rig.clock_cost;
	from = bench_cpu();
	memcpy(held[call] + n_held[call], pcm, (size_t)d.output_frames_gen * 2);
	n_held[call] += (unsigned)d.output_frames_gen;
	/* The first call of all makes less. */
	if (n_held[call] >= RTP_FRAME) {
		n = opus_encode(rig.bare[call].enc, held[call], RTP_FRAME, opus, sizeof opus);
		n_held[call] -= RTP_FRAME;
		memmove(held[call], held[call] + RTP_FRAME, n_held[call] * 2);
		memcpy(nonce, &frame, sizeof frame);
		crypto_aead_aes256gcm_encrypt_afternm(out, &n_out, opus, (unsigned long long)n,
						      header, sizeof header, NULL, nonce, &rig.key);
	}
	rest = bench_cpu() - from - rig.clock_cost;
	rig.spent += rest;
	rig.own += rest;
	rig.frames += n > 0;
}

static void *bare_run(void *arg)
{
	uint64_t next = bench_clock() + 5 * NS_PER_MS;

	(void)arg;
	for (unsigned frame = 0; !atomic_load(&rig.over); frame++) {
		for (unsigned c = 0; c < CALLS; c++, next += 20 * NS_PER_MS / CALLS) {
			struct timespec ts = {(time_t)(next / NS_PER_S), (long)(next % NS_PER_S)};

			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
			bare_frame(c, frame);
		}
	}
	return NULL;
}

static void bare_start(void)
{
	static const uint8_t key[KEY] = "an ordinary key of 32 bytes 1234";
	uint64_t from;
	int err;

	crypto_aead_aes256gcm_beforenm(&rig.key, key);
	speech_make(rig.speech, SPEECH, RATE, 1);
	for (unsigned c = 0; c < CALLS; c++) {
		upsampler_init(&rig.bare[c].upsampler);
		rig.bare[c].src = src_new(SRC_SINC_MEDIUM_QUALITY, 1, &err);
		/* As the sender's own (mediad/audio/send.c). */
		rig.bare[c].enc = opus_encoder_create(RTP_CLOCK, 1, OPUS_APPLICATION_AUDIO, &err);
		if (!rig.bare[c].src || !rig.bare[c].enc)
			bench_die("out of memory");
		opus_encoder_ctl(rig.bare[c].enc, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
		opus_encoder_ctl(rig.bare[c].enc, OPUS_SET_INBAND_FEC(1));
		opus_encoder_ctl(rig.bare[c].enc, OPUS_SET_PACKET_LOSS_PERC(5));
		opus_encoder_ctl(rig.bare[c].enc, OPUS_SET_COMPLEXITY(5));
		opus_encoder_ctl(rig.bare[c].enc, OPUS_SET_BITRATE(64000));
	}
	from = bench_cpu();
	for (unsigned i = 0; i < 10000; i++)
		bench_cpu();
	rig.clock_cost = (bench_cpu() - from) / 10000;
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

	rig.spent = rig.own = rig.frames = 0;
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
	double a[TURNS], b[TURNS], r[TURNS], own[TURNS];
	uint64_t packets;

	bare_start();
	speak(1000, &packets);
	idle(500);
	for (unsigned t = 0; t < TURNS; t++) {
		uint64_t busy = speak(TURN_MS, &packets), rest = idle(TURN_MS);

		a[t] = (double)(busy - rest) / (double)packets / 1000;
		b[t] = (double)rig.spent / (double)rig.frames / 1000;
		r[t] = a[t] / b[t];
		own[t] = a[t] / ((double)rig.own / (double)rig.frames / 1000);
	}
	bench_raw("say_ratio", r, TURNS);
	bench_row_more("say_ratio", bench_median(r, TURNS), "x",
		       "\"ours_us\": %.1f, \"bare_us\": %.1f, "
		       "\"over_bare_calls_with_our_own_resampler\": %.3f, \"calls\": %d",
		       bench_median(a, TURNS), bench_median(b, TURNS), bench_median(own, TURNS),
		       CALLS);
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
	struct plane_conf conf = {.cpu = -1, .packeth = on_packet};

	if (sodium_init() < 0 || !crypto_aead_aes256gcm_is_available())
		bench_die("this processor has no AES instructions: the bare sum would be of "
			  "another maker");
	plane_alloc(&rig.plane, &conf);
	plane_calls(rig.plane, 0, CALLS);
	plane_run(rig.plane, 500);
	say_row();
	stop_row();
	plane_free(rig.plane);
	return 0;
}
