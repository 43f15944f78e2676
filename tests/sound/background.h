/* Sounds of a place, from a seed: a fan, and music. */
#ifndef TESTS_SOUND_BACKGROUND_H
#define TESTS_SOUND_BACKGROUND_H

#include <stddef.h>
#include <stdint.h>

enum background { BACKGROUND_NONE, BACKGROUND_FAN, BACKGROUND_MUSIC, BACKGROUND_HISS };

/* n samples at 24 kHz with this level; they can be repeated. Caller frees; NULL without memory. */
int16_t *background_make(enum background kind, size_t n, double dbfs, uint64_t seed);

#endif
