/* Makes the pages of fresh memory present, so that the thread that first uses them takes no page
 * fault. */
#ifndef PROTO_BASE_TOUCH_H
#define PROTO_BASE_TOUCH_H

#include <stddef.h>
#include <stdint.h>

enum { TOUCH_PAGE = 4096 };

/* Writes a zero to each page; the memory must not hold anything yet. */
static inline void touch_pages(void *memory, size_t n)
{
	volatile uint8_t *p = memory;

	for (size_t i = 0; i < n; i += TOUCH_PAGE)
		p[i] = 0;
	if (n)
		p[n - 1] = 0;
}

#endif
