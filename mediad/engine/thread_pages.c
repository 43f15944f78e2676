#include "mediad/engine/thread_pages.h"

#include <stdint.h>
#include <sys/mman.h>

#include "proto/base/not_cleared.h"
#include "proto/base/touch.h"

/* Encoding stereo takes 55 to 59 KiB in libopus, and the frames above it 21. */
enum { STACK_DEPTH = 96 << 10 };

void thread_pages_populate(void *memory, size_t n)
{
	uintptr_t from = (uintptr_t)memory / TOUCH_PAGE * TOUCH_PAGE;
	uintptr_t to = ((uintptr_t)memory + n + TOUCH_PAGE - 1) / TOUCH_PAGE * TOUCH_PAGE;

	/* NOLINTNEXTLINE(performance-no-int-to-ptr): of the page that holds the first byte */
	(void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
}

__attribute__((noinline)) void thread_pages_touch_stack(void)
{
	uint8_t stack[STACK_DEPTH] NOT_CLEARED;

	touch_pages(stack, sizeof stack);
}
