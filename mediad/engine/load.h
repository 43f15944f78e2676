/* Measures the load of an audio thread and decides how far its encoders are degraded.
 *
 * The thread's loop measures the busy share of each LOAD_WINDOW_MS. The result reaches the thread's
 * steps as an input of its own, and only when it changes something, so a replay degrades exactly as
 * the recorded run did. Above LOAD_HIGH the encoders lose one step of complexity per window, and
 * after the lowest complexity FEC is switched off. After LOAD_CALM windows in a row below LOAD_LOW
 * one step is given back. A step up costs at most 2.5 times the CPU, so LOAD_LOW cannot lead
 * straight to LOAD_HIGH.
 *
 * Plain memory of its owner; all zero is new. Times in ns. */
#ifndef MEDIAD_ENGINE_LOAD_H
#define MEDIAD_ENGINE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LOAD_WINDOW_MS = 200,
	LOAD_HIGH = 500, /* permille of the window */
	LOAD_LOW = 200,
	LOAD_CALM = 10,		/* windows */
	LOAD_DEGRADED_MAX = 11, /* steps: every complexity, then FEC */
};

struct load {
	uint64_t since, busy; /* this window */
	unsigned calm;
};

/* The thread was busy from `from` to `to` and is about to wait. degraded: the present steps.
 * Returns true when they should change, with the new value in *degraded. */
bool load_measure(struct load *l, uint64_t from, uint64_t to, unsigned *degraded);

#endif
