/* Scores how much of a recording or text arrived. Pure. */
#ifndef TESTS_CALLER_SCORE_H
#define TESTS_CALLER_SCORE_H

#include <stddef.h>
#include <stdint.h>

/* Best normalised cross-correlation (0..1) of `ref` anywhere within `got`, both at 24 kHz; *lag
 * gets where in got it begins. Looks at a decimated copy first, then around the best places at full
 * rate. 0 when either is empty or silent, or without memory. */
double score_correlation(const int16_t *ref, size_t nref, const int16_t *got, size_t ngot,
			 long *lag);

/* Which share (0..1) of the words of `said` stands in `heard`, in order (longest common
 * subsequence). Case and punctuation do not count. 1 when said has no words. */
double score_words(const char *said, const char *heard);

#endif
