/* A bare pacer: streams on threads that do nothing else. Each wakes when a stream is due, seals and
 * sends its frame, then encodes the next one, all by library calls. The scheduling is the same as
 * that of mediad's audio threads. */
#ifndef TESTS_BENCH_BARE_PACER_H
#define TESTS_BENCH_BARE_PACER_H

#include <stdbool.h>
#include <stdint.h>

struct bare_pacer_conf {
	uint16_t port;		 /* on loopback, where its datagrams go */
	unsigned calls, threads; /* streams, with the SSRCs of the far end's calls */
	int cpu;		 /* all threads run on it; -1: on any */
	bool music;		 /* stereo music in place of speech */
};

enum { BARE_PACER_THREADS = 64 };

/* One at a time. */
void bare_pacer_start(const struct bare_pacer_conf *conf);
void bare_pacer_stop(void);

#endif
