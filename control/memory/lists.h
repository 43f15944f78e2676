/* Lists of words by which statements are compared. Pure. Each ends with NULL. */
#ifndef CONTROL_MEMORY_LISTS_H
#define CONTROL_MEMORY_LISTS_H

#include <stdbool.h>

extern const char *const lists_numbers[], *const lists_dates[], *const lists_colours[];

/* word: in lower case. */
bool lists_hold(const char *const *list, const char *word);

#endif
