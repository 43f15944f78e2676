/* The recogniser's front end: sound in, normalised cepstra out.
 *
 * Cepstral mean normalisation measures the mean on loud frames only. The first frames wait until
 * enough loud frames have arrived; afterwards the mean adapts slowly. The result therefore depends
 * on the sound alone, not on the chunking of the input or on earlier utterances. */
#ifndef OFFLINE_FRONT_H
#define OFFLINE_FRONT_H

#include <stddef.h>
#include <stdint.h>

struct front_end;

enum { FRONT_END_DIM = 13 };

/* frames: n rows of FRONT_END_DIM; borrowed, may be written to. Non-zero stops the feeding with
 * that error. */
typedef int(front_end_h)(float **frames, int n, void *arg);

/* ENOMEM. Caller owns *out. */
int front_end_alloc(struct front_end **out, front_end_h *h, void *arg);
struct front_end *front_end_free(struct front_end *f);
int front_end_start(struct front_end *f);
int front_end_feed(struct front_end *f, const int16_t *pcm, size_t n);
/* Sends the frames that still wait. */
int front_end_finish(struct front_end *f);

#endif
