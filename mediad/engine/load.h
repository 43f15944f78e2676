/* How busy an audio thread is, and how much easier its encoders must take it.
 *
 * The thread's loop measures: a share of each LOAD_WINDOW_MS between two waits. What was measured
 * reaches the thread's steps as an input of its own, and only when it would change something, so a
 * replay eases as the recorded run did. Over LOAD_HIGH the encoders go one step of complexity down
 * each window, and below the lowest they do without redundancy; after LOAD_CALM windows in a row
 * under LOAD_LOW one step up again. A step up costs two and a half times at most, so LOAD_LOW does
 * not lead to LOAD_HIGH.
 *
 * Plain memory of its owner; all zero is new. */
#ifndef MEDIAD_ENGINE_LOAD_H
#define MEDIAD_ENGINE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LOAD_WINDOW_MS = 200,
	LOAD_HIGH = 500, /* permille of the time */
	LOAD_LOW = 200,
	LOAD_CALM = 10,	     /* windows */
	LOAD_EASED_MAX = 11, /* steps: all of complexity, and redundancy */
};

struct load {
	uint64_t since, busy; /* this window */
	unsigned calm;
};

/* The thread was busy from `from` to `to` (ns) and will wait now. eased: steps taken down already.
 * True when that should change: *eased is what it should be. */
bool load_busy(struct load *l, uint64_t from, uint64_t to, unsigned *eased);

#endif
