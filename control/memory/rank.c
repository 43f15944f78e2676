#include "control/memory/rank.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BESIDE = 2, BESIDE_MS = 120000 };
#define WEIGHT_MATCH   0.5
#define WEIGHT_BESIDE  0.3
#define WEIGHT_SPEAKER 0.3
/* Of a speaker, against a match: BM25 of a line with half of the words is about half of the best.
 */
#define SPEAKER_SHARE 0.5

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

		if (k != i && apart <= BESIDE_MS && lines[k].match > best)
			best = lines[k].match;
	}
	return best;
}

void rank_lines(struct rank_line *lines, size_t n)
{
	double top = 0;

	qsort(lines, n, sizeof lines[0], by_time);
	for (size_t i = 0; i < n; i++)
		top = lines[i].match > top ? lines[i].match : top;
	for (size_t i = 0; i < n; i++) {
		double match = top > 0 && lines[i].match > 0 ? lines[i].match / top : 0;
		double beside = top > 0 ? best_beside(lines, n, i) / top : 0;

		lines[i].score = WEIGHT_MATCH * match + WEIGHT_BESIDE * beside +
				 (lines[i].named ? WEIGHT_SPEAKER * SPEAKER_SHARE : 0);
	}
	qsort(lines, n, sizeof lines[0], by_score);
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
		    ends_word(p[n]))
			return true;
	return false;
}
