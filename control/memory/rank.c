#include "control/memory/rank.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/memory/name.h"

enum { BESIDE = 2, BESIDE_MS = 120000 };
/* Lines without vectors: the weights that did best on recorded conversations. */
#define WEIGHT_MATCH   0.5
#define WEIGHT_BESIDE  0.6 /* of a neighbour's base */
#define WEIGHT_SPEAKER 0.15
#define WEIGHT_TIME    0.15
/* With vectors, of z-scores. */
#define Z_MATCH		0.3
#define Z_LIKENESS	0.7
#define Z_BESIDE	0.15
#define Z_SPEAKER	1.0
#define Z_TIME		1.0
#define Z_FACT_MATCH	0.3
#define Z_FACT_LIKENESS 0.7

static int by_time(const void *a, const void *b)
{
	const struct rank_line *x = a, *y = b;

	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int by_score(const void *a, const void *b)
{
	const struct rank_line *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return by_time(b, a); /* the newest first */
}

static double best_beside(const struct rank_line *lines, size_t n, size_t i)
{
	double best = 0;

	for (size_t k = i > BESIDE ? i - BESIDE : 0; k < n && k <= i + BESIDE; k++) {
		uint64_t apart = lines[k].at_ms > lines[i].at_ms ? lines[k].at_ms - lines[i].at_ms
								 : lines[i].at_ms - lines[k].at_ms;

		if (k != i && apart <= BESIDE_MS && lines[k].base > best)
			best = lines[k].base;
	}
	return best;
}

/* ---- scores of a line by itself ---- */

struct spread {
	double mean, by; /* by: 1 over the standard deviation; 0: all are the same */
};

static struct spread measure(double sum, double squares, size_t n)
{
	double mean = n ? sum / (double)n : 0;
	double variance = n ? squares / (double)n - mean * mean : 0;

	return (struct spread){mean, variance > 1e-12 ? 1 / sqrt(variance) : 0};
}

static double match_of(const struct rank_line *l)
{
	return l->match > 0 ? l->match : 0;
}

static struct spread measure_match(const struct rank_line *lines, size_t n)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		sum += match_of(&lines[i]);
		squares += match_of(&lines[i]) * match_of(&lines[i]);
	}
	return measure(sum, squares, n);
}

static struct spread measure_likeness(const struct rank_line *lines, size_t n, size_t *known)
{
	double sum = 0, squares = 0;

	*known = 0;
	for (size_t i = 0; i < n; i++) {
		if (!lines[i].has_likeness)
			continue;
		sum += lines[i].likeness;
		squares += lines[i].likeness * lines[i].likeness;
		++*known;
	}
	return measure(sum, squares, *known);
}

static void score_words(struct rank_line *lines, size_t n)
{
	double top = 0;

	for (size_t i = 0; i < n; i++)
		top = lines[i].match > top ? lines[i].match : top;
	for (size_t i = 0; i < n; i++)
		lines[i].base = top > 0 ? WEIGHT_MATCH * match_of(&lines[i]) / top : 0;
}

/* A line without a vector counts as an average one. */
static void score_both(struct rank_line *lines, size_t n, double match, double likeness)
{
	size_t known;
	struct spread m = measure_match(lines, n), l = measure_likeness(lines, n, &known);

	for (size_t i = 0; i < n; i++) {
		lines[i].base = match * (match_of(&lines[i]) - m.mean) * m.by;
		if (lines[i].has_likeness)
			lines[i].base += likeness * (lines[i].likeness - l.mean) * l.by;
	}
}

static bool has_vectors(const struct rank_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (lines[i].has_likeness)
			return true;
	return false;
}

void rank_lines(struct rank_line *lines, size_t n)
{
	bool both = has_vectors(lines, n);

	qsort(lines, n, sizeof lines[0], by_time);
	if (both)
		score_both(lines, n, Z_MATCH, Z_LIKENESS);
	else
		score_words(lines, n);
	for (size_t i = 0; i < n; i++) {
		lines[i].score = lines[i].base +
				 (both ? Z_BESIDE : WEIGHT_BESIDE) * best_beside(lines, n, i);
		if (lines[i].named)
			lines[i].score += both ? Z_SPEAKER : WEIGHT_SPEAKER;
		if (lines[i].timely)
			lines[i].score += both ? Z_TIME : WEIGHT_TIME;
	}
	qsort(lines, n, sizeof lines[0], by_score);
}

void rank_facts(struct rank_line *facts, size_t n)
{
	bool both = has_vectors(facts, n);

	if (both)
		score_both(facts, n, Z_FACT_MATCH, Z_FACT_LIKENESS);
	else
		score_words(facts, n);
	for (size_t i = 0; i < n; i++)
		facts[i].score = facts[i].base + (!facts[i].named ? 0
						  : both	  ? Z_SPEAKER
								  : WEIGHT_SPEAKER);
	qsort(facts, n, sizeof facts[0], by_score);
}

void rank_newer_first(struct rank_line *lines, size_t n, uint64_t apart_ms, rank_alike_h *h,
		      void *arg)
{
	for (size_t i = 0; i < n; i++) {
		size_t newest = i;
		struct rank_line moved;

		for (size_t k = i + 1; k < n; k++)
			if (lines[k].at_ms > lines[newest].at_ms + apart_ms &&
			    h(lines[i].index, lines[k].index, arg))
				newest = k;
		moved = lines[newest];
		memmove(&lines[i + 1], &lines[i], (newest - i) * sizeof lines[0]);
		lines[i] = moved;
	}
}

void rank_named_first(struct rank_line *lines, size_t n)
{
	size_t to = 0;

	for (size_t i = 0; i < n && i < RANK_FIRST; i++) {
		struct rank_line moved = lines[i];

		if (!moved.named)
			continue;
		memmove(&lines[to + 1], &lines[to], (i - to) * sizeof lines[0]);
		lines[to++] = moved;
	}
}

static bool ends_word(char c)
{
	return !isalnum((unsigned char)c) && !((unsigned char)c & 0x80);
}

bool rank_names(const char *question, const char *name)
{
	size_t n = strlen(name);

	if (!n)
		return false;
	for (const char *p = question; *p; p++)
		if ((p == question || ends_word(p[-1])) && strncasecmp(p, name, n) == 0 &&
		    ends_word(p[n]) && name_read(question, p, n) != NAME_NONE)
			return true;
	return false;
}
