/* Tells speakers apart: each person's voice is a tone of its own. Each track of the music that a
 * person plays climbs through TONE_STEPS tones of its own, so that it tells where it is. Pure. */
#ifndef TESTS_CHAOS_TONE_H
#define TESTS_CHAOS_TONE_H

#include "tests/chaos/script.h"

/* n samples of the person's tone, from sample `from` on. */
void tone_make(int16_t *out, size_t n, uint32_t rate, enum chaos_who who, uint64_t from);
/* Whose tone holds most of the sound; CHAOS_ALL: it is silent, or nobody's. *loud: there is sound.
 */
enum chaos_who tone_whose(const int16_t *pcm, size_t n, uint32_t rate, bool *loud);

enum { TONE_TRACKS = 3, TONE_STEPS = 8, TONE_STEP_MS = 500 };

/* The same of the person's tracks; after the last step comes the first. */
void tone_make_track(int16_t *out, size_t n, uint32_t rate, enum chaos_who who, unsigned track,
		     uint64_t from);
/* The amplitude of this track's loudest tone in the sound; *step: which one that is. */
double tone_of_track(const int16_t *pcm, size_t n, uint32_t rate, enum chaos_who who,
		     unsigned track, unsigned *step);
/* The share of the sound's power, 0..1, that is neither anybody's voice nor this person's music; -1
 * of silence. */
double tone_foreign(const int16_t *pcm, size_t n, uint32_t rate, enum chaos_who who);

#endif
