/* The counters of the preloaded library: a page of memory shared with the bench, in the file that
 * $TRAPS_PAGE names. */
#ifndef TESTS_BENCH_PRELOAD_TRAPS_H
#define TESTS_BENCH_PRELOAD_TRAPS_H

#include <stdatomic.h>
#include <stdint.h>

/* T(NAME, name) */
#define TRAPS(T)                                                                                   \
	T(ALLOCATION, allocations)                                                                 \
	T(FREE, frees)                                                                             \
	T(LOCK, locks)                                                                             \
	T(CONDITION, conditions)                                                                   \
	T(SYSTEM_CALL, system_calls)

enum trap {
#define X(NAME, name) TRAP_##NAME,
	TRAPS(X)
#undef X
		TRAP_COUNT
};

enum { TRAPS_WHO = 32 };

struct traps_page {
	atomic_uint on;	     /* calls of audio threads are counted */
	atomic_uint plant;   /* set: one of each is done on an audio thread, and this is cleared */
	atomic_uint threads; /* audio threads seen */
	atomic_uint filters; /* that have a filter */
	atomic_ullong count[TRAP_COUNT];
	/* The first ones. */
	atomic_uint n_who;
	struct {
		uint32_t trap, call; /* number of the system call */
		uint64_t from;	     /* return address, less where its object is loaded */
		char object[48];
	} who[TRAPS_WHO];
};

#endif
