/* Memory that an audio thread uses, made present so that no frame takes a page fault. */
#ifndef MEDIAD_ENGINE_THREAD_PAGES_H
#define MEDIAD_ENGINE_THREAD_PAGES_H

#include <stddef.h>

/* The pages of memory in use; their contents stay. A fork makes all pages of the process be copied
 * when they are next written, so this comes after it. Kernels before Linux 5.14 cannot. */
void thread_pages_populate(void *memory, size_t n);
/* The calling thread's stack, below the caller's frame, as deep as decoding, concealing and
 * encoding go. */
void thread_pages_touch_stack(void);

#endif
