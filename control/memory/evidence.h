/* Checks whether quotes carry a statement that a model made of them. Pure.
 *
 * An exact quote proves that somebody said its words, and not that they said the statement: a model
 * that quotes "red" may have invented the rest. So the numbers and names of a statement have to be
 * in the quotes, and with them a third of its content words. Nor does it prove that they meant it:
 * "eat meat" is a part of "I never eat meat", so the sentence around a quote is read, too. */
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

/* What the sentence around a quote makes of it. */
enum evidence_sense {
	EVIDENCE_SAYS,
	EVIDENCE_DENIES,   /* its clause is negated */
	EVIDENCE_SUPPOSES, /* a question, a condition, a possibility or a wish, which the text does
			      not tell of */
	EVIDENCE_QUOTES_OTHER, /* "Bob said …", "my brother …", which the text does not tell of */
};
/* True if the text denies what it tells, in a language of the room that writes blanks or one of
 * fact_is_negated. */
bool evidence_is_negated(const char *text);
/* quote is a part of the line, of whose sentence the text was made. */
enum evidence_sense evidence_sense(const char *text, const char *line, const char *quote);

#endif
