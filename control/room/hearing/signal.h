/* Signal measurements of a piece of audio: peak, root mean square, share of active samples. */
#ifndef CONTROL_ROOM_HEARING_SIGNAL_H
#define CONTROL_ROOM_HEARING_SIGNAL_H

#include <stdint.h>

#include "control/room/base/event.h"

struct room_signal {
	uint64_t samples, active, sum_sq;
	uint32_t peak; /* absolute s16 value */
};

/* Adds pcm (s16le mono; an odd last byte is ignored). Samples of at least `active` count as
 * active. */
void room_signal_add(struct room_signal *sig, struct slice pcm, uint32_t active);
void room_signal_merge(struct room_signal *sig, const struct room_signal *more);
uint32_t room_signal_rms(const struct room_signal *sig);
/* In thousandths; 0 without samples. */
uint32_t room_signal_active(const struct room_signal *sig);
static inline uint64_t room_signal_ms(const struct room_signal *sig)
{
	return sig->samples * 1000 / ROOM_RATE;
}

#endif
