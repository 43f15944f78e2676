/* Suggests the intended name for a mistyped one. */
#ifndef CONTROL_SETTINGS_NEAREST_H
#define CONTROL_SETTINGS_NEAREST_H

#include <limits.h>
#include <stddef.h>

enum { NEAREST_LEN_MAX = 64 };

/* Number of letters to change, add, remove or swap with their neighbour to make b of a; UINT_MAX
 * if one of them is longer than NEAREST_LEN_MAX. */
unsigned nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len);

/* Looks at one candidate after the other. Set word, the rest 0. */
struct nearest {
	const char *word;
	size_t word_len;
	const char *best; /* borrowed from the candidates; NULL: none is like it */
	size_t best_len;
	unsigned distance;
};
/* A candidate counts when not more than a third of the longer one's letters, and at least one
 * letter, differ. */
void nearest_try(struct nearest *n, const char *candidate, size_t len);

#endif
