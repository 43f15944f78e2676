/* Dot products of small integers, the inner loops of the embedder and of the vector search. Pure.
 *
 * On a processor with AVX2 they run five times as fast as the plain loops; the program looks for
 * AVX2 when it runs. Both forms return the same integers. */
#ifndef CONTROL_MEMORY_KERNEL_H
#define CONTROL_MEMORY_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Absolute value up to which kernel_dots_wide cannot overflow for 1536 products. */
enum { KERNEL_WIDE_MAX = 2047, KERNEL_STEP = 16 };

/* n: a multiple of KERNEL_STEP, at most 65,536. Borrowed. */
int32_t kernel_dot(const int8_t *a, const int8_t *b, size_t n);
/* The products of one row with `count` columns, which stand behind each other in b. n: numbers of
 * each, a multiple of KERNEL_STEP, at most 1536. Borrowed. */
void kernel_dots_wide(int32_t *out, const int8_t *a, const int16_t *b, size_t n, size_t count);
/* In how many bits each of `count` rows, which stand behind each other, differs from b; words: of
 * each, 64 at most. Borrowed. */
void kernel_distances(uint16_t *out, const uint64_t *rows, const uint64_t *b, size_t words,
		      size_t count);
/* Selects the plain loops, so that a test can compare the two forms. */
void kernel_use_plain(bool plain);

#endif
