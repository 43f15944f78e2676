/* Tells speakers apart: each person's voice is a tone of its own, and so is each track of the music
 * that a person plays. Pure. */
#ifndef TESTS_CHAOS_TONE_H
#define TESTS_CHAOS_TONE_H

#include "tests/chaos/script.h"

/* n samples of the person's tone, from sample `from` on. */
void tone_make(int16_t *out, size_t n, uint32_t rate, enum chaos_who who, uint64_t from);
/* Whose tone holds most of the sound; CHAOS_ALL: it is silent, or nobody's. *loud: there is sound.
 */
enum chaos_who tone_whose(const int16_t *pcm, size_t n, uint32_t rate, bool *loud);

enum { TONE_TRACKS = 3 };

/* The same of the person's tracks. */
void tone_make_track(int16_t *out, size_t n, uint32_t rate, enum chaos_who who, unsigned track);
/* The amplitude of this track's tone in the sound. */
double tone_of_track(const int16_t *pcm, size_t n, uint32_t rate, enum chaos_who who,
		     unsigned track);
/* The share of the sound's power, 0..1, that is neither this person's voice nor music; 0 of
 * silence. */
double tone_foreign(const int16_t *pcm, size_t n, uint32_t rate, enum chaos_who who);

#endif
