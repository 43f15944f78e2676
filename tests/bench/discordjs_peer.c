/* The call that a client of discord.js and mediad hear in turns, for tests/interop/bench/hear.mjs;
 * and mediad with its control (listener.c).
 *
 * Prints {"endpoint", "ca", "channel"}. The client joins as call 0, with the token
 * "token-of-call-0"; mediad is in call 1. Commands, a line each, with one line of JSON as the
 * answer:
 *
 *   up                     call 0 is up: op 5 of its ten speakers; {"users"}
 *   hear CALL MS BURST     they speak for so long in that call, BURST at the same time; {"sent",
 * "heard", "our_ns"} opus MS BURST          the same frames for the bare decoder, at the same
 * pace; {"frames", "ns"}
 *   relay MS BURST         the same frames for the relay (relay.h); {"frames", "ns"}
 */
#include "ipc/env.h"
#include "tests/bench/bare.h"
#include "tests/bench/bench.h"
#include "tests/bench/listening.h"
#include "tests/bench/plane.h"
#include "tests/bench/relay.h"
#include "tests/bench/speakers.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { SPEAKERS = 10, RATE = 24000, SETTLE_MS = 250 };

static struct rig {
	struct plane *plane;
	struct listening *listening;
	struct speakers *speakers[2];
	struct bare_receiver *receivers[SPEAKERS];
	struct relay *relay;
	uint64_t spent, frames;
} rig;

static void decode(unsigned call, unsigned speaker, const uint8_t *p, size_t n, void *arg)
{
	(void)call, (void)arg;
	bare_receiver_run(rig.receivers[speaker], p, n);
	rig.spent += bare_receiver_opus(rig.receivers[speaker]);
	rig.frames++;
}

static void start(void)
{
	struct plane_conf conf = {.cpu = -1, .speakers = SPEAKERS, .apart = true};
	uint8_t transport[FAR_END_KEY], dave[16];

	plane_alloc(&rig.plane, &conf);
	listening_alloc(&rig.listening, rig.plane, 1, 1, SPEAKERS);
	far_end_key(transport, 1, 0);
	for (unsigned s = 0; s < SPEAKERS; s++) {
		far_end_speaker_key(plane_far(rig.plane), 1, s, dave);
		bare_receiver_alloc(&rig.receivers[s], transport, dave, RATE);
	}
	relay_alloc(&rig.relay, rig.receivers, SPEAKERS);
	for (unsigned c = 0; c < 2; c++)
		speakers_alloc(&rig.speakers[c],
			       &(struct speakers_conf){.far_end = plane_far(rig.plane),
						       .from = c,
						       .calls = 1,
						       .speakers = SPEAKERS});
	printf("{\"endpoint\": \"%s\", \"ca\": \"%s\", \"channel\": \"%" PRIu64 "\"}\n",
	       far_end_endpoint(plane_far(rig.plane)), far_end_ca(plane_far(rig.plane)),
	       far_end_guild(0));
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

/* CPU time of mediad and of the control that gets the sound. */
static uint64_t our_cpu(void)
{
	return plane_cpu(rig.plane) + listening_cpu(rig.listening);
}

static void hear(unsigned call, unsigned ms, unsigned burst, speakers_h *h)
{
	uint64_t heard = listening_heard(rig.listening), cpu = our_cpu(), sent;

	rig.spent = rig.frames = 0;
	speakers_set(rig.speakers[call], 1, SPEAKERS, burst);
	speakers_start(rig.speakers[call], h, NULL);
	plane_run(rig.plane, ms);
	sent = speakers_stop(rig.speakers[call]);
	plane_run(rig.plane, SETTLE_MS);
	cpu = our_cpu() - cpu;
	if (h)
		printf("{\"frames\": %" PRIu64 ", \"ns\": %" PRIu64 "}\n", rig.frames, rig.spent);
	else
		printf("{\"sent\": %" PRIu64 ", \"heard\": %" PRIu64 ", \"our_ns\": %" PRIu64 "}\n",
		       sent, listening_heard(rig.listening) - heard, cpu);
}

static uint64_t all_relay_cpu(void)
{
	return relay_cpu(rig.relay, 0) + relay_cpu(rig.relay, 1);
}

static void relay(unsigned ms, unsigned burst)
{
	uint64_t cpu = all_relay_cpu(), frames = relay_frames(rig.relay);

	speakers_set(rig.speakers[1], 1, SPEAKERS, burst);
	speakers_start(rig.speakers[1], relay_send, rig.relay);
	plane_run(rig.plane, ms);
	speakers_stop(rig.speakers[1]);
	plane_run(rig.plane, SETTLE_MS);
	printf("{\"frames\": %" PRIu64 ", \"ns\": %" PRIu64 "}\n", relay_frames(rig.relay) - frames,
	       all_relay_cpu() - cpu);
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
		else if (sscanf(line, "relay %u %u", &ms, &burst) == 2)
			relay(ms, burst);
		else
			bench_die("not understood: %s", line);
		fflush(stdout);
	}
	for (unsigned c = 0; c < 2; c++)
		speakers_free(rig.speakers[c]);
	for (unsigned i = 0; i < SPEAKERS; i++)
		bare_receiver_free(rig.receivers[i]);
	relay_free(rig.relay);
	listening_free(rig.listening);
	plane_free(rig.plane);
	return 0;
}
