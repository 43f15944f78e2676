/* Pairs of statements that a rule makes out of lists of words: the second says something else with
 * the words of the first.
 *
 *   places       each sentence of a list with two values of one kind, and with these two in each
 *                other's places
 *   tense        each sentence of a list with a verb, and with the same verb of another time
 *   comparison   each sentence of a list with a word of a comparison, and with its contrary
 *   less         a wish, an attempt, a doubt or a refusal, and the state of which it tells
 *   direction    each sentence of a list with a preposition or a sign, and with another one
 *
 * The lists and the rule were written down before they were first scored, by an author who knew the
 * mistakes that had been found (docs/memory-score.md), and had not read the comparison. Values and
 * words are taken in the order of the lists. */
#ifndef TESTS_BENCH_TURNED_H
#define TESTS_BENCH_TURNED_H

#include <jansson.h>

/* [{"a": text, "b": text}, …]. The caller owns it. */
json_t *turned_pairs(void);

#endif
