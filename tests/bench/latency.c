/* The age of audio when control's room receives it, 10 speakers: heard_p99_us, heard_max_us, with
 * the share of each hop.
 *
 * control is its own link to mediad (control/media) in this process; the room's handler is the one
 * it calls with HEARD. The stamp is HEARD's own `at`: the packet came, and is decoded next. A
 * further run, with a journal, tells when mediad's loop thread took each frame from the audio
 * thread. */
#include "control/media/media.h"
#include "ipc/env.h"
#include "ipc/journal.h"
#include "proto/base/cursor.h"
#include "proto/media.h"
#include "tests/bench/bench.h"
#include "tests/bench/plane.h"
#include "tests/bench/relay.h"
#include "tests/bench/speakers.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SPEAKERS = 10,
	RATE = 24000,
	TURN_MS = 3000,
	TURNS = 5,
	HOPS_SECONDS = 4,
	SAMPLES = SPEAKERS * 50 * (TURNS * TURN_MS / 1000 + 1),
	USER = 900
};

static struct rig {
	struct plane *plane;
	struct media *media;
	struct media_call *call;
	bool up, secure, noting;
	double age[SAMPLES], control[SAMPLES]; /* µs; the part of it within control */
	uint64_t at[SAMPLES];
	size_t n;
	double bare[SAMPLES]; /* µs, of the relay */
	size_t n_bare;
} rig;

static void on_wants(struct media_call *call, void *arg)
{
	char token[64];

	(void)arg;
	far_end_token(token, sizeof token, 0);
	BENCH_OK(media_call_credentials(call, "session", token,
					far_end_endpoint(plane_far(rig.plane)), far_end_guild(0)));
}

/* Where the room would be. */
static void on_call(struct media_call *call, const struct media_msg *msg, void *arg)
{
	uint64_t now = bench_clock();

	(void)call, (void)arg;
	if (msg->type == MEDIA_CALL_STATE)
		rig.up = msg->call_state.phase == MEDIA_PHASE_UP;
	if (msg->type == MEDIA_CALL_SECURE)
		rig.secure = msg->call_secure.version == 1 && msg->call_secure.ready;
	if (msg->type != MEDIA_HEARD || !rig.noting || rig.n == SAMPLES)
		return;
	rig.at[rig.n] = msg->heard.at;
	rig.age[rig.n] = (double)(now - msg->heard.at) / 1000;
	rig.control[rig.n++] = (double)(now - env_now(plane_env(rig.plane))) / 1000;
}

static bool is_up(void *arg)
{
	(void)arg;
	return rig.up && rig.secure;
}

static void relay_start(struct relay **r, struct bare_receiver **receivers)
{
	uint8_t transport[FAR_END_KEY], dave[16];

	far_end_key(transport, 0, 0);
	for (unsigned i = 0; i < SPEAKERS; i++) {
		far_end_speaker_key(plane_far(rig.plane), 0, i, dave);
		bare_receiver_alloc(&receivers[i], transport, dave, RATE);
	}
	relay_alloc(r, receivers, SPEAKERS);
}

/* They speak for so long; what is heard after the first 200 ms is noted. */
static void turn(struct speakers *speakers, struct relay *r, unsigned ms)
{
	static double first[SAMPLES];

	speakers_start(speakers, r ? relay_send : NULL, r);
	plane_run(rig.plane, 200);
	rig.noting = !r;
	if (r)
		relay_ages(r, first, SAMPLES);
	plane_run(rig.plane, ms);
	rig.noting = false;
	if (r)
		rig.n_bare += relay_ages(r, rig.bare + rig.n_bare, SAMPLES - rig.n_bare);
	speakers_stop(speakers);
	plane_run(rig.plane, 100);
}

static void speak(unsigned ms, unsigned turns)
{
	struct speakers_conf cc = {
		.far_end = plane_far(rig.plane), .calls = 1, .speakers = SPEAKERS};
	struct bare_receiver *receivers[SPEAKERS] = {NULL};
	struct relay *relay = NULL;
	struct speakers *speakers;

	speakers_alloc(&speakers, &cc);
	if (turns > 1)
		relay_start(&relay, receivers);
	turn(speakers, NULL, 1000);
	rig.n = rig.n_bare = 0;
	for (unsigned t = 0; t < turns; t++) {
		turn(speakers, NULL, ms);
		if (relay)
			turn(speakers, relay, ms);
	}
	speakers_free(speakers);
	relay_free(relay);
	for (unsigned i = 0; i < SPEAKERS; i++)
		bare_receiver_free(receivers[i]);
}

/* A mediad, its call, ten people; several turns alternate with those of the relay. */
static void run(unsigned ms, unsigned turns, const char *journal)
{
	struct plane_conf conf = {
		.cpu = -1, .speakers = SPEAKERS, .apart = true, .journal = journal};
	const char *socks[] = {NULL, NULL};
	struct media_conf mc = {.socks = socks, .user = USER, .epoch = 1, .wantsh = on_wants};
	struct media_want want = {.guild = far_end_guild(0),
				  .channel = far_end_guild(0),
				  .bitrate = 64000,
				  .consent = true};

	plane_alloc(&rig.plane, &conf);
	socks[0] = plane_socket(rig.plane);
	rig.up = rig.secure = rig.noting = false;
	BENCH_OK(media_alloc(&rig.media, plane_env(rig.plane), &mc));
	BENCH_OK(media_call_open(&rig.call, rig.media, &want, on_call, NULL));
	plane_until(rig.plane, is_up, NULL, 10000, "the call is up");
	for (unsigned s = 0; s < SPEAKERS; s++) {
		BENCH_OK(media_call_listen(rig.call, far_end_user(0, s), RATE, 700));
		far_end_speaking(plane_far(rig.plane), 0, s, 0);
	}
	plane_run(rig.plane, 300);
	speak(ms, turns);
	media_call_free(rig.call);
	plane_run(rig.plane, 200);
	media_free(rig.media);
	plane_free(rig.plane);
}

/* ---- hops ---- */

struct input {
	uint64_t now;
	uint8_t thread;
};

static int by_time(const void *a, const void *b)
{
	const struct input *x = a, *y = b;

	return (x->now > y->now) - (x->now < y->now);
}

/* Every input of the journal, with its thread and time. */
static size_t read_inputs(const char *path, struct input **out)
{
	FILE *f = fopen(path, "rb");
	struct input *all = NULL;
	size_t n = 0, cap = 0;
	uint8_t head[4 + 8 + 8 + 1 + 1];
	int lines = 0, c;

	while (f && lines < 2 && (c = fgetc(f)) != EOF)
		lines += c == '\n';
	while (f && fread(head, sizeof head, 1, f) == 1) {
		struct rd r = rd_of(head, sizeof head);
		uint64_t len = rd_be(&r, 4), now;

		rd_be(&r, 8);
		now = rd_be(&r, 8);
		if (head[21] == JOURNAL_INPUT) {
			if (n == cap) {
				cap = cap ? 2 * cap : 4096;
				all = realloc(all, cap * sizeof *all);
				if (!all)
					bench_die("out of memory");
			}
			all[n++] = (struct input){.now = now, .thread = head[20]};
		}
		if (fseek(f, (long)(len + 4 - sizeof head), SEEK_CUR))
			break;
	}
	if (f)
		fclose(f);
	if (n)
		qsort(all, n, sizeof *all, by_time);
	*out = all;
	return n;
}

/* µs from a datagram to the next input of the loop thread, which is that frame: speakers are 2 ms
 * apart. */
static double ring_hop(const char *path)
{
	static double hop[SAMPLES];
	struct input *all;
	size_t n = read_inputs(path, &all), k = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		if (all[i].thread == 0)
			continue;
		/* Only delivered frames. */
		while (at < rig.n && rig.at[at] != all[i].now)
			at++;
		for (size_t j = i + 1; at < rig.n && k < SAMPLES && j < n; j++) {
			if (all[j].thread)
				continue;
			hop[k++] = (double)(all[j].now - all[i].now) / 1000;
			break;
		}
	}
	free(all);
	return bench_median(hop, k);
}

int main(void)
{
	char journal[] = "/tmp/parley-bench-journal.XXXXXX";
	double ring, whole, within, p50, p99, bare;
	int fd = mkstemp(journal);

	if (fd < 0 || sodium_init() < 0)
		bench_die("cannot start");
	close(fd);
	run(HOPS_SECONDS * 1000, 1, journal);
	ring = ring_hop(journal);
	unlink(journal);
	whole = bench_median(rig.age, rig.n);
	within = bench_median(rig.control, rig.n);
	run(TURN_MS, TURNS, NULL);
	bench_raw("heard_us", rig.age, rig.n);
	p50 = bench_quantile(rig.age, rig.n, 0.5);
	p99 = bench_quantile(rig.age, rig.n, 0.99);
	bare = bench_quantile(rig.bare, rig.n_bare, 0.99);
	bench_row_more("heard_p99_us", p99, "us",
		       "\"p50\": %.1f, \"frames\": %zu, \"bare_p99\": %.1f, \"bare_p50\": %.1f, "
		       "\"bare_frames\": %zu, \"hops_p50_with_journal\": "
		       "{\"decode_and_ring\": %.1f, \"pack_and_socket\": %.1f, "
		       "\"control\": %.1f}",
		       p50, rig.n, bare, bench_quantile(rig.bare, rig.n_bare, 0.5), rig.n_bare,
		       ring, whole - ring - within, within);
	bench_row_more("heard_max_us", bench_quantile(rig.age, rig.n, 1), "us", "\"p999\": %.1f",
		       bench_quantile(rig.age, rig.n, 0.999));
	return 0;
}
