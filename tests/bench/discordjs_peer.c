/* The call that a client of discord.js and mediad hear in turns, for tests/interop/bench/hear.mjs;
 * and mediad.
 *
 * Prints {"endpoint", "ca"}. The client joins as call 0, with the token "token-of-call-0"; mediad
 * is in call 1. Commands, a line each, with one line of JSON as the answer:
 *
 *   up                     call 0 is up: op 5 of its ten speakers; {"users"}
 *   hear CALL MS BURST     they speak for so long in that call, BURST at the same time; {"sent",
 * "heard", "mediad_ns"} opus MS BURST          the same frames for the bare decoder, at the same
 * pace; {"frames", "ns"}
 */
#include "ipc/env.h"
#include "mediad/transport/rtpsize.h"
#include "tests/bench/bench.h"
#include "tests/bench/speakers.h"
#include "tests/bench/plane.h"

#include <inttypes.h>
#include <opus/opus.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { SPEAKERS = 10, RATE = 24000 };

static struct rig {
	struct plane *plane;
	struct speakers *speakers[2];
	struct rtpsize *open;
	OpusDecoder *dec[SPEAKERS];
	uint64_t heard, spent, frames, clock_cost;
} rig;

static void on_msg(const struct media_msg *msg, void *arg)
{
	(void)arg;
	rig.heard += msg->type == MEDIA_HEARD && !(msg->heard.flags & MEDIA_HEARD_CONCEALED);
}

static void decode(unsigned call, unsigned speaker, const uint8_t *p, size_t n, void *arg)
{
	uint8_t plain[UDP_MAX_PACKET], copy[UDP_MAX_PACKET];
	int16_t pcm[RTP_FRAME];
	struct rtpsize_rtp r;
	uint64_t from;

	(void)call, (void)arg;
	memcpy(copy, p, n);
	BENCH_OK(rtpsize_open(rig.open, copy, n, plain, sizeof plain, &r));
	from = bench_cpu();
	if (opus_decode(rig.dec[speaker], r.payload.p, (opus_int32)r.payload.n, pcm, RTP_FRAME,
			0) <= 0)
		bench_die("the bare frame does not decode");
	rig.spent += bench_cpu() - from - rig.clock_cost;
	rig.frames++;
}

static void start(void)
{
	struct plane_conf conf = {.cpu = -1, .msgh = on_msg};
	uint8_t key[FAR_END_KEY];
	uint64_t from;
	int err;

	plane_alloc(&rig.plane, &conf);
	plane_calls(rig.plane, 1, 1);
	for (unsigned s = 0; s < SPEAKERS; s++) {
		plane_speaker(rig.plane, 1, s, RATE);
		rig.dec[s] = opus_decoder_create(RATE, 1, &err);
		if (!rig.dec[s])
			bench_die("opus: %d", err);
	}
	for (unsigned c = 0; c < 2; c++)
		speakers_alloc(&rig.speakers[c],
			       &(struct speakers_conf){.far_end = plane_far(rig.plane),
						       .from = c,
						       .calls = 1,
						       .speakers = SPEAKERS});
	far_end_key(key, 1, 0);
	BENCH_OK(rtpsize_alloc(&rig.open, RTPSIZE_AES256_GCM, key));
	from = bench_cpu();
	for (unsigned i = 0; i < 10000; i++)
		bench_cpu();
	rig.clock_cost = (bench_cpu() - from) / 10000;
	printf("{\"endpoint\": \"%s\", \"ca\": \"%s\"}\n", far_end_endpoint(plane_far(rig.plane)),
	       far_end_ca(plane_far(rig.plane)));
	fflush(stdout);
}

static bool joined(void *arg)
{
	(void)arg;
	return far_end_ready(plane_far(rig.plane), 0);
}

static void up(void)
{
	plane_until(rig.plane, joined, NULL, 10000, "the client is in the call");
	printf("{\"users\": [");
	for (unsigned s = 0; s < SPEAKERS; s++) {
		far_end_speaking(plane_far(rig.plane), 0, s, 0);
		printf("%s\"%" PRIu64 "\"", s ? ", " : "", far_end_user(0, s));
	}
	plane_run(rig.plane, 100);
	printf("]}\n");
}

static void hear(unsigned call, unsigned ms, unsigned burst, speakers_h *h)
{
	uint64_t cpu = plane_cpu(rig.plane), heard = rig.heard, sent;

	rig.spent = rig.frames = 0;
	speakers_set(rig.speakers[call], 1, SPEAKERS, burst);
	speakers_start(rig.speakers[call], h, NULL);
	plane_run(rig.plane, ms);
	sent = speakers_stop(rig.speakers[call]);
	plane_run(rig.plane, 50);
	if (h)
		printf("{\"frames\": %" PRIu64 ", \"ns\": %" PRIu64 "}\n", rig.frames, rig.spent);
	else
		printf("{\"sent\": %" PRIu64 ", \"heard\": %" PRIu64 ", \"mediad_ns\": %" PRIu64
		       "}\n",
		       sent, rig.heard - heard, plane_cpu(rig.plane) - cpu);
}

int main(void)
{
	char line[128];
	unsigned call, ms, burst;

	if (sodium_init() < 0)
		bench_die("libsodium does not start");
	start();
	while (fgets(line, sizeof line, stdin)) {
		if (!strcmp(line, "up\n"))
			up();
		else if (sscanf(line, "hear %u %u %u", &call, &ms, &burst) == 3 && call < 2)
			hear(call, ms, burst, NULL);
		else if (sscanf(line, "opus %u %u", &ms, &burst) == 2)
			hear(1, ms, burst, decode);
		else
			bench_die("not understood: %s", line);
		fflush(stdout);
	}
	for (unsigned c = 0; c < 2; c++)
		speakers_free(rig.speakers[c]);
	rtpsize_free(rig.open);
	plane_free(rig.plane);
	return 0;
}
