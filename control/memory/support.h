/* Checks whether the lines that a search has found may answer the question at all. Pure.
 *
 * A search always finds something, and its scores alone cannot tell an answer from lines nearby
 * (AUC 0.65). The speaker whom the question names must be the speaker of a line, a number of the
 * question must occur, a line must have a number, time or colour if the question asks for one, and
 * the best such line must stand out from the others by its likeness. */
#ifndef CONTROL_MEMORY_SUPPORT_H
#define CONTROL_MEMORY_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "control/memory/rank.h"

/* text is borrowed. named: the question names its speaker. */
struct support_line {
	const char *text;
	bool named;
	double likeness; /* cosine to the question; 0: not known */
};

enum { SUPPORT_FIRST = 5, SUPPORT_LINES = 20 };

/* lines: the best first; the first SUPPORT_FIRST may answer, the others tell how alike lines are.
 * words: the question without speakers' names; names_speaker: the question surely asks about one.
 */
bool support_check(const char *words, bool names_speaker, const struct support_line *lines,
		   size_t n);
/* False: the fact has no word in common with the question and another subject, so it answers
 * nothing. Few facts of a small server lie near a question, and none is better than a wrong one. */
bool support_check_fact(const struct rank_line *fact);
/* False: a fact that was found by its meaning alone may still be about something else. */
bool support_is_sure(const struct rank_line *fact);

#endif
