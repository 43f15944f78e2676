#include "control/settings/nearest.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Optimal string alignment: three rows of the usual matrix, the last two for swaps. */
unsigned nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned rows[3][NEAREST_LEN_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2], *spare;

	if (a_len > NEAREST_LEN_MAX || b_len > NEAREST_LEN_MAX)
		return UINT_MAX;
	for (size_t j = 0; j <= b_len; j++)
		before[j] = last[j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			unsigned d = last[j - 1] + (a[i - 1] != b[j - 1]);

			d = least(d, least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d = least(d, before[j - 2] + 1);
			row[j] = d;
		}
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[b_len];
}

void nearest_try(struct nearest *n, const char *candidate, size_t len)
{
	size_t longer = len > n->word_len ? len : n->word_len;
	size_t most = longer / 3 ? longer / 3 : 1;
	unsigned d;

	/* At least so many letters were added: what is cheap to see comes first. */
	if (2 * longer - len - n->word_len > most)
		return;
	d = nearest_distance(n->word, n->word_len, candidate, len);
	if (d > most || (n->best && d >= n->distance))
		return;
	n->best = candidate;
	n->best_len = len;
	n->distance = d;
}
