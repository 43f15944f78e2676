/* Compares two English statements whose meanings an encoder can compare: does the later one say the
 * same, or the same with another number or date? Pure.
 *
 * The cosine alone cannot tell: "at four" and "at five" are closer than most paraphrases. Numbers,
 * dates, names and negation must agree, and the later one must not tell of a change; then the words
 * that only one of the two has are compared by themselves. */
#ifndef CONTROL_MEMORY_PARAPHRASE_H
#define CONTROL_MEMORY_PARAPHRASE_H

#include "control/memory/compare.h"

/* FACT_SAME, FACT_UPDATE (nothing but numbers and dates differs), or FACT_NEW when in doubt. */
enum fact_change paraphrase_compare(const char *older, const char *newer,
				    const struct fact_meaning *meaning);

#endif
