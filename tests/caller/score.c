#include "tests/caller/score.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DECIMATE = 8, MAX_WORDS = 200 };

/* Averages DECIMATE samples into one: a crude low-pass, good enough to find where to look. */
static int16_t *decimated(const int16_t *x, size_t n, size_t *out_n)
{
	size_t m = n / DECIMATE;
	int16_t *y = malloc((m ? m : 1) * sizeof *y);

	for (size_t i = 0; y && i < m; i++) {
		int sum = 0;

		for (int k = 0; k < DECIMATE; k++)
			sum += x[i * DECIMATE + (size_t)k];
		y[i] = (int16_t)(sum / DECIMATE);
	}
	*out_n = m;
	return y;
}

/* Normalised correlation of ref with got from `lag` on; parts outside of got count as silence. */
static double at_lag(const int16_t *ref, size_t nref, const int16_t *got, size_t ngot, long lag)
{
	double xy = 0, xx = 0, yy = 0;

	for (size_t i = 0; i < nref; i++) {
		long j = lag + (long)i;
		double r = ref[i], g = j >= 0 && j < (long)ngot ? got[j] : 0;

		xy += r * g;
		xx += r * r;
		yy += g * g;
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static double best_of(const int16_t *ref, size_t nref, const int16_t *got, size_t ngot, long from,
		      long to, long *lag)
{
	double best = 0;

	*lag = from;
	for (long l = from; l <= to; l++) {
		double c = at_lag(ref, nref, got, ngot, l);

		if (c > best) {
			best = c;
			*lag = l;
		}
	}
	return best;
}

double score_correlation(const int16_t *ref, size_t nref, const int16_t *got, size_t ngot,
			 long *lag)
{
	size_t nr, ng;
	int16_t *r = decimated(ref, nref, &nr), *g = decimated(got, ngot, &ng);
	double best = 0;

	*lag = 0;
	if (r && g && nr && ng) {
		best_of(r, nr, g, ng, -(long)nr / 2, (long)ng, lag);
		best = best_of(ref, nref, got, ngot, *lag * DECIMATE - 2 * DECIMATE,
			       *lag * DECIMATE + 2 * DECIMATE, lag);
	}
	free(r);
	free(g);
	return best;
}

/* Cuts text into lower-case words in place; apostrophes belong to words. */
static unsigned words_of(char *text, const char *words[MAX_WORDS])
{
	unsigned n = 0;
	bool in = false;

	for (char *p = text; *p; p++) {
		bool letter = isalnum((unsigned char)*p) || *p == '\'';

		*p = letter ? (char)tolower((unsigned char)*p) : '\0';
		if (letter && !in && n < MAX_WORDS)
			words[n++] = p;
		in = letter;
	}
	return n;
}

double score_words(const char *said, const char *heard)
{
	char *a = strdup(said), *b = strdup(heard);
	const char *wa[MAX_WORDS], *wb[MAX_WORDS];
	unsigned row[MAX_WORDS + 1] = {0}, na, nb;
	double share = 0;

	if (!a || !b)
		goto out;
	na = words_of(a, wa);
	nb = words_of(b, wb);
	for (unsigned i = 0; i < na; i++) {
		unsigned diag = 0;

		for (unsigned j = 0; j < nb; j++) {
			unsigned up = row[j + 1];

			if (strcmp(wa[i], wb[j]) == 0)
				row[j + 1] = diag + 1;
			else if (row[j] > up)
				row[j + 1] = row[j];
			diag = up;
		}
	}
	share = na ? (double)row[nb] / na : 1;
out:
	free(a);
	free(b);
	return share;
}
