/* Converts s16le mono from one rate to another: a polyphase filter of 32 taps in integers, so that
 * the same input gives the same output on every machine. Pure.
 *
 * Its delay is 16 samples of the input; rate_change_reset begins anew. Rates are multiples of 50 Hz
 * from 8 to 48 kHz. Caller owns *out. */
#ifndef CONTROL_ENGINE_CORE_RATE_CHANGE_H
#define CONTROL_ENGINE_CORE_RATE_CHANGE_H

#include <stddef.h>
#include <stdint.h>

struct rate_change;

/* EINVAL, ENOMEM. */
int rate_change_alloc(struct rate_change **out, unsigned from, unsigned to);
struct rate_change *rate_change_free(struct rate_change *r);
void rate_change_reset(struct rate_change *r);
/* Bytes that n bytes of input give at most. */
size_t rate_change_most(const struct rate_change *r, size_t n);
/* n bytes of input (even) to out, which has room for rate_change_most; returns the bytes there. */
size_t rate_change_run(struct rate_change *r, const uint8_t *in, size_t n, uint8_t *out);

#endif
