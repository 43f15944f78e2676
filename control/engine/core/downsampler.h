/* 24 kHz to 16 kHz, s16 mono: what the room hears, for providers that take nothing faster.
 *
 * A polyphase low-pass of 64 taps at 48 kHz: flat to 6 kHz, -18 dB at 8 kHz, below -65 dB from
 * 9 kHz on. Every three samples in give two out, whatever the sizes of the pieces. */
#ifndef CONTROL_ENGINE_CORE_DOWNSAMPLER_H
#define CONTROL_ENGINE_CORE_DOWNSAMPLER_H

#include <stddef.h>
#include <stdint.h>

enum { DOWNSAMPLER_TAPS = 32 };

/* All zero is the beginning of a signal. */
struct downsampler {
	int16_t past[DOWNSAMPLER_TAPS]; /* a ring of the last samples */
	unsigned at, phase;
};

/* Bytes that n bytes of s16le give at most. */
static inline size_t downsampler_bytes(size_t n)
{
	return (n / 2 * 2 / 3 + 1) * 2;
}

/* n bytes of s16le, of which an odd last one is left out; out has room for downsampler_bytes(n).
 * Returns the bytes written. */
size_t downsampler_run(struct downsampler *d, const uint8_t *in, size_t n, uint8_t *out);

#endif
