/* Measures the loudness of a track whose tags do not give it.
 *
 * A file is measured ahead: first at a few places for some milliseconds, which gives an
 * estimate before the track starts, then as a whole, or at many places of a long one, while the
 * ring is full. A web source is measured as it plays. */
#ifndef MEDIAD_DECODER_MEASURE_H
#define MEDIAD_DECODER_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mediad/music/decoder_wire.h"

struct measure;

/* fd: the file, borrowed; -1 for a web source. NULL: no memory, or the file cannot be measured. */
struct measure *measure_alloc(int fd);
/* Gives the memory back to the system. */
struct measure *measure_free(struct measure *m);

/* Listens at places of the file: at one in any case, at others until this time of the monotonic
 * clock in ns. Returns false when there is nothing left to measure. */
bool measure_estimate(struct measure *m, uint64_t deadline);
/* Goes on with the file for some milliseconds. Returns false when there is nothing left. */
bool measure_work(struct measure *m);
/* Adds sound of a web source. Returns true when it is time to report the levels: after each second,
 * since a song may become loud at any time. */
bool measure_listen(struct measure *m, const int16_t *pcm, size_t frames);
/* The levels of all sound measured so far; DECODER_NO_LEVEL for silence. */
void measure_levels(const struct measure *m, struct decoder_levels *out);

#endif
