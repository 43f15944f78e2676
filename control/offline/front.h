/* The ear's front end: sound in, normalised cepstra out.
 *
 * The mean that is taken off every frame (cepstral mean normalisation) is measured on the loud
 * frames only. The first frames wait until enough of those have been seen, then all go on; the mean
 * follows slowly. So the outcome depends on the sound alone, not on how it was cut into pieces or
 * on what was heard before. */
#ifndef OFFLINE_FRONT_H
#define OFFLINE_FRONT_H

#include <stddef.h>
#include <stdint.h>

struct front;

enum { FRONT_DIM = 13 };

/* frames: n rows of FRONT_DIM; borrowed, may be written to. Non-zero stops the feeding with that
 * error. */
typedef int(front_h)(float **frames, int n, void *arg);

/* ENOMEM. Caller owns *out. */
int front_alloc(struct front **out, front_h *h, void *arg);
struct front *front_free(struct front *f);
int front_start(struct front *f);
int front_feed(struct front *f, const int16_t *pcm, size_t n);
/* Sends what still waits. */
int front_finish(struct front *f);

#endif
