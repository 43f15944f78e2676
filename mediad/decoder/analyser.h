/* Makes the analyses of a track, for the visualizer, as long as mediad watches its ring.
 *
 * The Fourier transforms are libav's. A band is the weighted sum of the squared magnitudes around
 * its middle; low bands use a long window, so that they are told apart, and high ones a short one,
 * so that they move with the sound. */
#ifndef MEDIAD_DECODER_ANALYSER_H
#define MEDIAD_DECODER_ANALYSER_H

#include <stdbool.h>

struct analyser;
struct track_ring;

/* ring: borrowed, of the process that writes it. ENOMEM. Caller owns *out. */
int analyser_alloc(struct analyser **out, struct track_ring *ring);
struct analyser *analyser_free(struct analyser *a);
/* Analyses what is in the ring, has not been read and was not analysed yet, as far as the sound
 * around it is there; ended: no more sound will come. */
void analyser_run(struct analyser *a, bool ended);

#endif
