/* Voice activity detection by level: begin and end of speech, in frames of up to 20 ms at 24 kHz.
 *
 * The noise floor follows quiet frames; speech is sound clearly above it for 60 ms. Pure. */
#ifndef OFFLINE_VAD_H
#define OFFLINE_VAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VAD_FRAME = 480, VAD_MS = 24 }; /* samples of a frame, of a millisecond */

enum vad_edge { VAD_NONE, VAD_BEGAN, VAD_ENDED };

struct vad {
	double threshold; /* 0 … 1 as the dialect has it; 0.5 is meant for a normal microphone */
	unsigned silence_ms;  /* silence that ends speech */
	double floor;	      /* power of the background */
	unsigned loud, quiet; /* samples without a break */
	bool speaking;
	bool sound; /* the last frame held more than background */
};

void vad_init(struct vad *v, double threshold, unsigned silence_ms);
/* One frame of 1 to VAD_FRAME samples. */
enum vad_edge vad_frame(struct vad *v, const int16_t *pcm, size_t n);

#endif
