/* System calls of mediad and its control for each frame, DAVE at version 1:
 * syscalls_per_heard_1, _10, _100 from datagram to control's handler, with so many calls of ten
 * members in each of which one speaks; syscalls_per_sent_100 with a hundred calls that speak.
 *
 * mediad has one audio thread: calls on one thread share wakes.
 *
 * The kernel counts them (the tracepoint raw_syscalls:sys_enter), so the figures are free of noise
 * and include all that the processes do in that time. */
#include "tests/bench/bench.h"
#include "tests/bench/listening.h"
#include "tests/bench/relay.h"
#include "tests/bench/speakers.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { MEMBERS = 10, MOST = 100, TURN_MS = 4000, RATE = 24000 };

static atomic_uint_fast64_t packets;

static void on_packet(unsigned call, uint64_t at, const uint8_t *p, size_t n, void *arg)
{
	(void)call, (void)at, (void)p, (void)n, (void)arg;
	atomic_fetch_add(&packets, 1);
}

struct counts {
	struct syscalls *mediad, *control;
	uint64_t in_mediad, in_control;
};

static void counts_open(struct counts *c, struct plane *p, struct listening *l)
{
	int err = syscalls_alloc(&c->mediad, plane_pid(p));

	if (!err)
		err = syscalls_alloc(&c->control, listening_pid(l));
	if (err)
		bench_die("system calls cannot be counted here: %s (as root: mount -t tracefs "
			  "nodev /sys/kernel/tracing)",
			  strerror(err));
}

/* Calls for each frame of a lone speaker in the relay, the floor of syscalls_per_heard_1. */
static double relay_calls(struct plane *p, struct speakers *speakers)
{
	uint8_t transport[FAR_END_KEY], dave[16];
	struct syscalls *of[2];
	struct bare_receiver *receiver;
	struct relay *r;
	uint64_t calls = 0, frames;

	far_end_key(transport, 0, 0);
	far_end_speaker_key(plane_far(p), 0, 0, dave);
	bare_receiver_alloc(&receiver, transport, dave, RATE);
	relay_alloc(&r, &receiver, 1);
	speakers_start(speakers, relay_send, r);
	plane_run(p, 500);
	for (unsigned i = 0; i < 2; i++)
		BENCH_OK(syscalls_alloc(&of[i], relay_pid(r, i)));
	frames = relay_frames(r);
	plane_run(p, TURN_MS);
	frames = relay_frames(r) - frames;
	for (unsigned i = 0; i < 2; i++) {
		calls += syscalls_count(of[i]);
		syscalls_free(of[i]);
	}
	speakers_stop(speakers);
	relay_free(r);
	bare_receiver_free(receiver);
	return frames ? (double)calls / (double)frames : 0;
}

static void counts_run(struct counts *c, struct plane *p)
{
	uint64_t mediad = syscalls_count(c->mediad), control = syscalls_count(c->control);

	plane_run(p, TURN_MS);
	c->in_mediad = syscalls_count(c->mediad) - mediad;
	c->in_control = syscalls_count(c->control) - control;
}

static void counts_close(struct counts *c)
{
	syscalls_free(c->mediad);
	syscalls_free(c->control);
}

/* bare: of the relay; 0 where that is no measure. */
static void row(const char *name, const struct counts *c, uint64_t frames, double bare)
{
	double f = (double)frames;

	bench_row_more(name, (double)(c->in_mediad + c->in_control) / f, "calls",
		       "\"mediad\": %.2f, \"control\": %.2f, \"frames\": %llu, \"bare\": %.2f",
		       (double)c->in_mediad / f, (double)c->in_control / f,
		       (unsigned long long)frames, bare);
}

static void heard_row(struct plane *p, unsigned calls)
{
	struct speakers_conf cc = {.far_end = plane_far(p), .calls = calls, .speakers = 1};
	struct listening *l;
	struct speakers *speakers;
	struct counts counts;
	uint64_t heard;
	double bare = 0;
	char name[64];

	listening_alloc(&l, p, 0, calls, MEMBERS);
	speakers_alloc(&speakers, &cc);
	speakers_start(speakers, NULL, NULL);
	plane_run(p, 1500);
	counts_open(&counts, p, l);
	heard = listening_heard(l);
	counts_run(&counts, p);
	heard = listening_heard(l) - heard;
	counts_close(&counts);
	speakers_stop(speakers);
	if (calls == 1)
		bare = relay_calls(p, speakers);
	speakers_free(speakers);
	snprintf(name, sizeof name, "syscalls_per_heard_%u", calls);
	row(name, &counts, heard, bare);
	listening_free(l);
}

static void sent_row(struct plane *p)
{
	struct listening *l;
	struct counts counts;
	uint64_t sent;

	listening_alloc(&l, p, 0, MOST, 1);
	listening_say(l, true);
	plane_run(p, 2000);
	counts_open(&counts, p, l);
	sent = atomic_load(&packets);
	counts_run(&counts, p);
	sent = atomic_load(&packets) - sent;
	counts_close(&counts);
	listening_say(l, false);
	row("syscalls_per_sent_100", &counts, sent, 0);
	listening_free(l);
}

int main(void)
{
	static const unsigned calls[] = {1, 10, MOST};
	struct plane_conf conf = {
		.cpu = -1, .threads = 1, .apart = true, .speakers = MEMBERS, .packeth = on_packet};
	struct plane *p;

	if (sodium_init() < 0)
		bench_die("libsodium does not start");
	for (unsigned i = 0; i < 3; i++) {
		plane_alloc(&p, &conf);
		heard_row(p, calls[i]);
		plane_free(p);
	}
	plane_alloc(&p, &conf);
	sent_row(p);
	plane_free(p);
	return 0;
}
