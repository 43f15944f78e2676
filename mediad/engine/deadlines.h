/* The deadlines of the streams of an audio thread. A tick looks at all of them; here they lie side
 * by side, while the memory of each stream is large and cold. Times are in ns; UINT64_MAX: none. */
#ifndef MEDIAD_ENGINE_DEADLINES_H
#define MEDIAD_ENGINE_DEADLINES_H

#include <stdint.h>

enum { DEADLINES = 256 };

struct deadlines {
	uint64_t at[DEADLINES];
	unsigned end; /* one behind the highest index that was ever set */
};

void deadlines_init(struct deadlines *d);
/* i < DEADLINES. */
void deadlines_set(struct deadlines *d, unsigned i, uint64_t at);
uint64_t deadlines_earliest(const struct deadlines *d);

#endif
