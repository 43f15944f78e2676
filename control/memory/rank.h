/* The order of lines and facts that may answer a question. Pure.
 *
 * A line is worth the words that it shares with the question (BM25) and the likeness of its meaning
 * (cosine of the vectors), each as a z-score among the candidates, plus a share of the best line
 * beside it, because an answer rarely repeats the words of its question, plus something if the
 * question names its speaker. The sum of z-scores did better on recorded conversations than
 * reciprocal-rank fusion, which was worse than words alone. Without vectors, words are counted as
 * shares of the best line's. */
#ifndef CONTROL_MEMORY_RANK_H
#define CONTROL_MEMORY_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rank_line {
	uint64_t id, at_ms;
	double match;	 /* BM25, higher is better; 0 or below: no word in common */
	double likeness; /* cosine to the question; only with has_likeness */
	bool has_likeness;
	bool named;	/* the question names its speaker */
	bool timely;	/* it is of the time that the question may name */
	double base;	/* of rank_lines: by itself, without its neighbours */
	double score;	/* of rank_lines */
	unsigned index; /* the caller's */
};

/* Sorts them, the best first. Lines of one conversation; in its time order they are neighbours. */
void rank_lines(struct rank_line *lines, size_t n);
/* The same for facts, which have no neighbours: meaning weighs more. named: the question is about
 * its author, who asks. */
void rank_facts(struct rank_line *facts, size_t n);
/* Moves a line before one that is older by more than apart_ms and about the same, so that the
 * present value comes first. lines: ranked, n; h tells whether the older and the newer line, by
 * their indexes, are. Lines of one conversation are less than RANK_APART_MS apart. */
enum { RANK_APART_MS = 6 * 3600000 };
typedef bool(rank_alike_h)(unsigned older, unsigned newer, void *arg);
void rank_newer_first(struct rank_line *lines, size_t n, uint64_t apart_ms, rank_alike_h *h,
		      void *arg);
/* Moves lines by people whom the question names before the others among the first RANK_FIRST:
 * people are asked about what they said themselves. The order is kept otherwise. */
enum { RANK_FIRST = 5 };
void rank_named_first(struct rank_line *lines, size_t n);
/* True if the question names this person, as a word of its own that name_read takes for a name. */
bool rank_names(const char *question, const char *name);

#endif
