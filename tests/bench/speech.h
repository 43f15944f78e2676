/* Something like speech for the benches: voiced and unvoiced sounds in syllables, the same on every
 * machine. */
#ifndef TESTS_BENCH_SPEECH_H
#define TESTS_BENCH_SPEECH_H

#include <stddef.h>
#include <stdint.h>

enum { SPEECH_OPUS = 400 };

struct speech_frame {
	uint16_t n;
	uint8_t p[SPEECH_OPUS];
};

/* n samples at this rate. */
void speech_make(int16_t *pcm, size_t n, uint32_t rate, unsigned voice);
/* n frames of 20 ms as Discord's clients send them: mono, 64 kbit/s, with redundancy. */
void speech_encode(struct speech_frame *out, unsigned n, unsigned voice);

#endif
