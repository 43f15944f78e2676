/* The channels whose call was left because it lost its end-to-end encryption. A later call there
 * must be encrypted from its start, until an operator sets e2ee to prefer. A value without I/O,
 * kept in the state file; when it is full the oldest channel makes room. */
#ifndef CONTROL_VOICE_SESSION_REFUSED_H
#define CONTROL_VOICE_SESSION_REFUSED_H

#include <stdbool.h>
#include <stdint.h>

enum { REFUSED_MAX = 64 };

struct refused {
	uint64_t channels[REFUSED_MAX]; /* oldest first */
	unsigned n;
};

void refused_add(struct refused *r, uint64_t channel);
bool refused_has(const struct refused *r, uint64_t channel);
/* Returns whether it was there. */
bool refused_remove(struct refused *r, uint64_t channel);

#endif
