/* The memory that the preloaded library (turns.c) shares with the bench: the file that $TURNS_PAGE
 * names. */
#ifndef TESTS_BENCH_PRELOAD_TURNS_H
#define TESTS_BENCH_PRELOAD_TURNS_H

#include <stdatomic.h>
#include <stdint.h>

enum { TURNS_MAX = 1 << 20 };

struct turns_page {
	atomic_uint on; /* turns are recorded */
	atomic_uint n;	/* turns recorded; those past TURNS_MAX are only counted */
	struct {
		uint32_t cpu_ns, wall_ns; /* from a return of epoll_wait to its next call */
	} turn[TURNS_MAX];
};

#endif
