/* Checks whether quotes carry a statement that a model made of them. Pure.
 *
 * An exact quote proves that somebody said its words, and not that they said the statement: a model
 * that quotes "red" may have invented the rest. So the numbers and names of a statement have to be
 * in the quotes, and with them a third of its content words. */
#ifndef CONTROL_MEMORY_EVIDENCE_H
#define CONTROL_MEMORY_EVIDENCE_H

#include <stdbool.h>

#include <jansson.h>

/* quotes: [{"quote": "…"}, …]. Each number of the text is in one of them, also if one of both
 * writes it in English words. */
bool evidence_has_numbers(const char *text, const json_t *quotes);
/* True if the quotes hold the words and names of the text; author: whose statement it is, which
 * their own words do not name. */
bool evidence_has_words(const char *text, const char *author, const json_t *quotes);

#endif
