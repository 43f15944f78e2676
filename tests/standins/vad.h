/* Finds speech in sound by its level. Pure. */
#ifndef STANDINS_VAD_H
#define STANDINS_VAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SI_VAD_FRAME_MS = 20 };
enum si_vad_edge { SI_VAD_NONE, SI_VAD_STARTED, SI_VAD_STOPPED };

struct si_vad {
	bool speaking;
	unsigned quiet_ms;
};

/* The next SI_VAD_FRAME_MS of sound. silence_ms: after which speech has stopped. */
enum si_vad_edge si_vad_frame(struct si_vad *v, const int16_t *pcm, size_t n, unsigned silence_ms);

#endif
