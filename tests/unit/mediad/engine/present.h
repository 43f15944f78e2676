/* Counts pages that are present in memory, so that touching them takes no fault, by
 * /proc/self/pagemap (Linux, Documentation/admin-guide/mm/pagemap.rst). */
#ifndef TESTS_UNIT_MEDIAD_ENGINE_PRESENT_H
#define TESTS_UNIT_MEDIAD_ENGINE_PRESENT_H

#include <stddef.h>

enum { PRESENT_PAGE = 4096 };

/* Of the n bytes at p, the pages that lie wholly within; *all: how many these are, may be NULL.
 * Returns how many are present. */
unsigned present_pages(const void *p, size_t n, unsigned *all);

#endif
