/* The order of lines that may answer a question. Pure.
 *
 * A line is worth the words that it shares with the question (BM25, of the best line's), plus a
 * share of the best line beside it, because an answer rarely repeats the words of its question,
 * plus something if the question names its speaker. The weights are those that did best on recorded
 * conversations: 0.5 for the words, 0.3 for the lines beside it, 0.3 for the speaker. */
#ifndef CONTROL_MEMORY_RANK_H
#define CONTROL_MEMORY_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rank_line {
	uint64_t id, at_ms;
	double match;	/* higher is better; 0 or below: no word in common */
	bool named;	/* the question names its speaker */
	double score;	/* of rank_lines */
	unsigned index; /* the caller's */
};

/* Sorts them, the best first. Lines of one conversation; in its time order they are neighbours. */
void rank_lines(struct rank_line *lines, size_t n);
/* Whether the question names this person, as a word of its own. */
bool rank_names(const char *question, const char *name);

#endif
