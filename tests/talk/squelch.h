/* A squelch: passes the microphone only during speech, as every voice client does, so that silence
 * is not sent and receivers can detect the end of an utterance.
 *
 * Quiet frames set the noise floor. Speech begins when 40 ms exceed it clearly, and ends after 400
 * ms that do not. The squelch keeps the 300 ms before it opens, so that the begin of an utterance
 * is not lost. Pure; frames of 20 ms. */
#ifndef TESTS_TALK_SQUELCH_H
#define TESTS_TALK_SQUELCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SQUELCH_FRAMES_PER_S = 50,
	SQUELCH_RATE_MIN = 8000,
	SQUELCH_RATE_MAX = 48000,
	SQUELCH_KEPT = 15, /* frames */
	SQUELCH_FRAME_MAX = SQUELCH_RATE_MAX / SQUELCH_FRAMES_PER_S,
};

enum squelch_says { SQUELCH_SHUT, SQUELCH_OPENS, SQUELCH_OPEN, SQUELCH_CLOSES };

struct squelch {
	size_t frame;	      /* samples */
	double floor;	      /* power of the background */
	unsigned loud, quiet; /* frames without a break */
	bool open;
	unsigned n_kept, next;
	int16_t kept[SQUELCH_KEPT][SQUELCH_FRAME_MAX];
};

/* rate: SQUELCH_RATE_MIN … SQUELCH_RATE_MAX, else EINVAL. */
int squelch_init(struct squelch *g, uint32_t rate);
/* Closes the squelch and drops the kept frames; the noise floor stays. */
void squelch_shut(struct squelch *g);
/* One frame of g->frame samples. OPENS: play the kept frames, the last of which is this one. */
enum squelch_says squelch_frame(struct squelch *g, const int16_t *pcm);
/* The i-th kept frame, oldest first; NULL past the last. Borrowed until the next frame. */
const int16_t *squelch_kept(const struct squelch *g, unsigned i);

#endif
