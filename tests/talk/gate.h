/* When a microphone is let through: while somebody speaks into it, as every voice client does it, so that silence is not
 * sent and the others' clients know when a sentence is over.
 *
 * The background is measured by the quiet frames; speech is what stands clear of it for 40 ms, and is over after 400 ms
 * without. The last 300 ms before it opened are kept, so that no first sound is lost. Pure; frames of 20 ms. */
#ifndef TESTS_TALK_GATE_H
#define TESTS_TALK_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GATE_FRAMES_PER_S = 50,
	GATE_RATE_MIN = 8000,
	GATE_RATE_MAX = 48000,
	GATE_KEPT = 15, /* frames */
	GATE_FRAME_MAX = GATE_RATE_MAX / GATE_FRAMES_PER_S,
};

enum gate_says { GATE_SHUT, GATE_OPENS, GATE_OPEN, GATE_CLOSES };

struct gate {
	size_t frame;	      /* samples */
	double floor;	      /* power of the background */
	unsigned loud, quiet; /* frames without a break */
	bool open;
	unsigned n_kept, next;
	int16_t kept[GATE_KEPT][GATE_FRAME_MAX];
};

/* rate: GATE_RATE_MIN … GATE_RATE_MAX, else EINVAL. */
int gate_init(struct gate *g, uint32_t rate);
/* Shut, with nothing kept; what it knows of the background stays. */
void gate_shut(struct gate *g);
/* One frame of g->frame samples. OPENS: play the kept frames, the last of which is this one. */
enum gate_says gate_frame(struct gate *g, const int16_t *pcm);
/* The i-th kept frame, oldest first; NULL past the last. Borrowed until the next frame. */
const int16_t *gate_kept(const struct gate *g, unsigned i);

#endif
