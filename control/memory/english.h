/* Tells English from other languages, because the embedded encoder knows only English. Pure.
 *
 * Function words decide: a question nearly always has one. A text of another script is not English.
 */
#ifndef CONTROL_MEMORY_ENGLISH_H
#define CONTROL_MEMORY_ENGLISH_H

#include <stdbool.h>
#include <stddef.h>

bool english_is(const char *text, size_t n);
/* Number of words separated by blanks, counted up to `most`. */
size_t english_count_words(const char *text, size_t n, size_t most);

#endif
