/* Integrated loudness of stereo int16 at 48 kHz by EBU R128 (ITU-R BS.1770-4): K-weighting, blocks
 * of 400 ms every 100 ms, an absolute gate at -70 LUFS and a relative one 10 LU below the rest.
 *
 * Blocks are counted in steps of 0.1 LU, so a meter has a constant size however long it listens.
 * Pure. */
#ifndef MEDIAD_MUSIC_LOUDNESS_H
#define MEDIAD_MUSIC_LOUDNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loudness;

/* ENOMEM. Caller owns *out. */
int loudness_alloc(struct loudness **out);
struct loudness *loudness_free(struct loudness *l);
void loudness_add(struct loudness *l, const int16_t *pcm, size_t frames);
/* The sound that follows is from another place: no block spans both. */
void loudness_break(struct loudness *l);
/* Frames added so far. */
uint64_t loudness_frames(const struct loudness *l);
/* Returns false when no block is above the absolute gate. */
bool loudness_integrated(const struct loudness *l, double *lufs);
/* The highest sample in dBFS; -INFINITY for silence. */
double loudness_peak(const struct loudness *l);

#endif
